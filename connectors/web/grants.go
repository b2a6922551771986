package web

import (
	"errors"
	"net/http"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

// grant is a standing "Always allow" with its own form.
type grant struct {
	contract.ListedGrant
	Here bool
	CSRF string
}

// grants are those that a visitor may see and revoke: an owner all, others those of their own
// conversation.
func (p *page) grants(r *http.Request) ([]grant, error) {
	v := visitorOf(r)
	thread := v.thread()
	only := &thread
	if v.owner {
		only = nil
	}
	listed, err := p.Engine.Grants(r.Context(), only)
	if err != nil {
		return nil, err
	}
	grants := make([]grant, 0, len(listed))
	for _, g := range listed {
		grants = append(grants, grant{ListedGrant: g, Here: g.Thread == thread, CSRF: p.cookies.token(v.session)})
	}
	return grants, nil
}

func (p *page) showGrants(w http.ResponseWriter, r *http.Request) {
	grants, err := p.grants(r)
	if err != nil {
		p.trouble(w, r, http.StatusServiceUnavailable, chat.Text(linePageGrantsUnreadable), p.explain(r, err))
		return
	}
	shown := p.base(visitorOf(r), p.say(r, chat.Text(linePageGrants)))
	shown.Grants, shown.Flash = grants, p.cookies.takeFlash(w, r)
	p.render(w, r, http.StatusOK, "grants", shown)
}

// postRevoke ends a grant. Whether the visitor may is looked up again, not read from the form.
func (p *page) postRevoke(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if p.cookies.forged(v.session, r.PostFormValue("csrf")) {
		p.stale(w, r)
		return
	}
	id := r.PostFormValue("grant")
	grants, err := p.grants(r)
	var found *grant
	for n, g := range grants {
		if g.ID == id {
			found = &grants[n]
		}
	}
	if err == nil && found == nil {
		err = gateway.ErrNotFound
	}
	if err == nil {
		err = p.Engine.Revoke(r.Context(), id, v.person.Key())
	}
	switch {
	case errors.Is(err, gateway.ErrNotFound):
		p.cookies.setFlash(w, p.flash(r, "note", chat.Text(linePageGrantEnded)))
	case err != nil:
		p.cookies.setFlash(w, p.flash(r, "bad", p.explain(r, err)))
	default:
		p.cookies.setFlash(w, p.flash(r, "good", chat.Text(linePageRevoked, "operation", found.Tool+"."+found.Operation)))
	}
	http.Redirect(w, r, "/grants", http.StatusSeeOther)
}
