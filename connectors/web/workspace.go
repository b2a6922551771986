package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// WorkspaceState is the example workspace as its page shows it.
type WorkspaceState struct {
	Name string
	// Revision is of what is shown; it comes back with what a person publishes.
	Revision  string
	Published bool
	// Last publication; LastAt is zero where there is none.
	LastName, LastBy string
	LastAt           time.Time
}

// Why Workspace.Publish refuses.
var (
	ErrWorkspaceCode    = errors.New("the verification code is not right")
	ErrWorkspaceChanged = errors.New("the workspace has changed since the page was opened")
)

// Workspace is the example's business state. Publish is for persons only: no tool calls it.
type Workspace interface {
	State(ctx context.Context) (WorkspaceState, error)
	// Publish returns ErrWorkspaceCode or ErrWorkspaceChanged where it refuses.
	Publish(ctx context.Context, code, revision, by string) error
}

func (p *page) showWorkspace(w http.ResponseWriter, r *http.Request) {
	p.respondWorkspace(w, r, http.StatusOK, p.cookies.takeFlash(w, r))
}

func (p *page) respondWorkspace(w http.ResponseWriter, r *http.Request, status int, said *flash) {
	state, err := p.Workspace.State(r.Context())
	if err != nil {
		p.trouble(w, r, http.StatusInternalServerError, chat.Text(linePageWorkspaceUnreadable), p.explain(r, err))
		return
	}
	shown := p.base(visitorOf(r), p.say(r, chat.Text(linePageWorkspace)))
	shown.Workspace, shown.Flash = &state, said
	p.render(w, r, status, "workspace", shown)
}

// postPublish is the step that the agent hands over: a person's code and button.
func (p *page) postPublish(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if p.cookies.forged(v.session, r.PostFormValue("csrf")) {
		p.stale(w, r)
		return
	}
	refuse := func(status int, why chat.Line) {
		said := p.flash(r, "bad", why)
		p.respondWorkspace(w, r, status, &said)
	}
	err := p.Workspace.Publish(r.Context(), r.PostFormValue("code"), r.PostFormValue("revision"), v.person.Key())
	switch {
	case errors.Is(err, ErrWorkspaceCode):
		refuse(http.StatusUnprocessableEntity, chat.Text(linePageWrongCode))
	case errors.Is(err, ErrWorkspaceChanged):
		refuse(http.StatusConflict, chat.Text(linePageWorkspaceChanged))
	case err != nil:
		refuse(http.StatusInternalServerError, p.explain(r, err))
	default:
		p.cookies.setFlash(w, p.flash(r, "good", chat.Text(linePageChangesPublished)))
		http.Redirect(w, r, "/workspace", http.StatusSeeOther)
	}
}
