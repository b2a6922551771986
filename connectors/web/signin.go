package web

import (
	"net"
	"net/http"
	"strings"

	"github.com/countersignhq/countersign/gateway"
)

const maxForm = 256 << 10

// showSignIn starts a nameless session, whose CSRF token the form carries.
func (p *page) showSignIn(w http.ResponseWriter, r *http.Request) {
	if _, ok := p.visitor(r); ok {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	p.renderSignIn(w, r, http.StatusOK, "")
}

func (p *page) renderSignIn(w http.ResponseWriter, r *http.Request, status int, problem string) {
	s, ok := p.cookies.readSession(r)
	if !ok || s.Hash != "" {
		s = session{ID: p.NewUUID()}
		if err := p.cookies.setSession(w, s); err != nil {
			p.trouble(w, http.StatusInternalServerError, "Something went wrong", p.explain(r, err))
			return
		}
	}
	p.render(w, status, "signin", view{Title: "Sign in", CSRF: p.cookies.token(s), Problem: problem})
}

// signIn takes a token from the form, never from the address. The session gets a new id,
// so that nobody can hand a prepared one to a victim.
func (p *page) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s, ok := p.cookies.readSession(r)
	if !ok || p.cookies.forged(s, r.PostFormValue("csrf")) {
		p.renderSignIn(w, r, http.StatusForbidden, "The form was too old. Try once more; cookies must be on.")
		return
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if !p.signIns.Allow(host) {
		p.renderSignIn(w, r, http.StatusTooManyRequests, "Too many tries. Wait a minute.")
		return
	}
	hash := gateway.TokenHash(strings.TrimSpace(r.PostFormValue("token")))
	_, role, known := p.Identity.Token(hash)
	switch {
	case !known:
		p.renderSignIn(w, r, http.StatusForbidden, "Nobody here has this token.")
		return
	case role != gateway.RoleOwner && role != gateway.RoleApprover:
		p.renderSignIn(w, r, http.StatusForbidden, "An agent's token cannot sign in: it may never decide. Use a person's.")
		return
	}
	if err := p.cookies.setSession(w, session{ID: p.NewUUID(), Hash: hash}); err != nil {
		p.trouble(w, http.StatusInternalServerError, "Something went wrong", p.explain(r, err))
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (p *page) signOut(w http.ResponseWriter, r *http.Request) {
	if p.cookies.forged(visitorOf(r).session, r.PostFormValue("csrf")) {
		p.stale(w)
		return
	}
	p.cookies.set(w, sessionCookie, "", -1)
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
}

func (p *page) stale(w http.ResponseWriter) {
	p.trouble(w, http.StatusForbidden, "The form was not from this page", "Nothing was done. Go back to the page, load it again and try once more.")
}
