package web

import (
	"context"
	"errors"
	"net/http"
	"time"
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
		p.trouble(w, http.StatusInternalServerError, "The workspace cannot be read", p.explain(r, err))
		return
	}
	shown := p.base(visitorOf(r), "Workspace")
	shown.Workspace, shown.Flash = &state, said
	p.render(w, status, "workspace", shown)
}

// postPublish is the step that the agent hands over: a person's code and button.
func (p *page) postPublish(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if p.cookies.forged(v.session, r.PostFormValue("csrf")) {
		p.stale(w)
		return
	}
	err := p.Workspace.Publish(r.Context(), r.PostFormValue("code"), r.PostFormValue("revision"), v.person.Key())
	switch {
	case errors.Is(err, ErrWorkspaceCode):
		p.respondWorkspace(w, r, http.StatusUnprocessableEntity, &flash{"bad", "That is not the verification code. Nothing was published."})
	case errors.Is(err, ErrWorkspaceChanged):
		p.respondWorkspace(w, r, http.StatusConflict, &flash{"bad", "Changed: the workspace is not what you saw any more. Nothing was published; look again."})
	case err != nil:
		p.respondWorkspace(w, r, http.StatusInternalServerError, &flash{"bad", p.explain(r, err)})
	default:
		p.cookies.setFlash(w, "good", "The changes are published.")
		http.Redirect(w, r, "/workspace", http.StatusSeeOther)
	}
}
