package web

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/gateway"
)

const maxForm = 256 << 10

// showSignIn starts a nameless session, whose CSRF token the form carries.
func (p *page) showSignIn(w http.ResponseWriter, r *http.Request) {
	if _, ok := p.visitor(r); ok {
		land(w, r, r.URL.Query().Get("to"))
		return
	}
	if foreign(r) { // the session is there perhaps, and must not be lost
		p.comeAgain(w, r, r.URL.RequestURI())
		return
	}
	p.renderSignIn(w, r, http.StatusOK, chat.Line{})
}

func (p *page) renderSignIn(w http.ResponseWriter, r *http.Request, status int, problem chat.Line) {
	s, ok := p.cookies.readSession(r)
	if !ok || s.named() {
		s = session{ID: p.NewUUID()}
		if err := p.cookies.setSession(w, s); err != nil {
			p.trouble(w, r, http.StatusInternalServerError, chat.Text(linePageWrong), p.explain(r, err))
			return
		}
	}
	shown := view{To: ownAddress(r.FormValue("to")), Title: p.say(r, chat.Text(linePageSignIn)), CSRF: p.cookies.token(s), Problem: p.say(r, problem)}
	if p.Provider != nil {
		shown.Provider = p.Provider.Host()
	}
	p.render(w, r, status, "signin", shown)
}

// signIn takes a token from the form, never from the address. The session gets a new id,
// so that nobody can hand a prepared one to a victim.
func (p *page) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s, ok := p.cookies.readSession(r)
	if !ok || p.cookies.forged(s, r.PostFormValue("csrf")) {
		p.renderSignIn(w, r, http.StatusForbidden, chat.Text(linePageFormOld))
		return
	}
	if !p.mayTry(r) {
		p.renderSignIn(w, r, http.StatusTooManyRequests, chat.Text(linePageTooManyTries))
		return
	}
	hash := gateway.TokenHash(strings.TrimSpace(r.PostFormValue("token")))
	_, role, known := p.Identity.Token(hash)
	switch {
	case !known:
		p.renderSignIn(w, r, http.StatusForbidden, chat.Text(linePageTokenNobody))
		return
	case role != gateway.RoleOwner && role != gateway.RoleApprover:
		p.renderSignIn(w, r, http.StatusForbidden, chat.Text(linePageTokenAgent))
		return
	}
	if err := p.cookies.setSession(w, session{ID: p.NewUUID(), Hash: hash}); err != nil {
		p.trouble(w, r, http.StatusInternalServerError, chat.Text(linePageWrong), p.explain(r, err))
		return
	}
	land(w, r, r.PostFormValue("to"))
}

// land leads somebody who is signed in to what they asked for.
func land(w http.ResponseWriter, r *http.Request, to string) {
	http.Redirect(w, r, ownAddress(to), http.StatusSeeOther) //nolint:gosec // ownAddress lets only our own addresses through
}

// signInFor is the address of the sign-in that then shows what was asked for.
func signInFor(r *http.Request) string {
	to := ownAddress(r.URL.RequestURI())
	if to == "/" {
		return "/signin"
	}
	return "/signin?" + url.Values{"to": {to}}.Encode()
}

// mayTry bounds the tries of one address.
func (p *page) mayTry(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return p.signIns.Allow(host)
}

func (p *page) signOut(w http.ResponseWriter, r *http.Request) {
	if p.cookies.forged(visitorOf(r).session, r.PostFormValue("csrf")) {
		p.stale(w, r)
		return
	}
	p.cookies.set(w, sessionCookie, "", -1)
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
}

func (p *page) stale(w http.ResponseWriter, r *http.Request) {
	p.trouble(w, r, http.StatusForbidden, chat.Text(linePageStale), chat.Text(linePageStaleHow))
}
