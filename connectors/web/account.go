package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/web/openid"
	"github.com/countersignhq/countersign/gateway"
)

const accountPath = "/signin/oidc"

// CallbackPath is where the OpenID provider sends browsers back to: below public_url, it is the
// redirect URI to register there.
const CallbackPath = accountPath + "/callback"

// foreign tells a link on another site. The browser keeps the session's cookie back there
// (SameSite=Strict), so who follows it is not known yet.
func foreign(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// goOn lets the browser come again from a page of our own, with its cookies; path may be anybody's.
func (p *page) goOn(w http.ResponseWriter, r *http.Request, path string) {
	p.comeAgain(w, r, ownAddress(path))
}

// comeAgain is goOn for the path that was asked for.
func (p *page) comeAgain(w http.ResponseWriter, r *http.Request, path string) {
	moment := p.say(r, chat.Text(linePageOneMoment))
	p.render(w, r, http.StatusOK, "go on", view{Title: moment, Head: moment, Next: path})
}

// ownAddress is an address of our own that somebody wants to see, "/" where it is not: what stands in an
// address may come from anybody.
func ownAddress(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") || strings.HasPrefix(path, "/signin") {
		return "/"
	}
	return path
}

// beginSignIn sends the browser to the provider. Anybody may start this in anybody's browser: it
// ends with whoever has the account there, in that browser.
func (p *page) beginSignIn(w http.ResponseWriter, r *http.Request) {
	if !p.mayTry(r) {
		p.refuse(w, r, http.StatusTooManyRequests, chat.Text(linePageTooManyTries))
		return
	}
	address, attempt, err := p.Provider.Begin(r.Context())
	if err == nil {
		err = p.cookies.setAttempt(w, begun{Attempt: attempt, To: ownAddress(r.URL.Query().Get("to"))})
	}
	if err != nil {
		p.notSignedIn(w, r, err)
		return
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// finishSignIn is where the provider sends the browser back to. It never touches a session that
// is there unless somebody is signed in by it: another site can lead a browser here too.
func (p *page) finishSignIn(w http.ResponseWriter, r *http.Request) {
	attempt := p.cookies.takeAttempt(w, r)
	if !p.mayTry(r) {
		p.refuse(w, r, http.StatusTooManyRequests, chat.Text(linePageTooManyTries))
		return
	}
	found, err := p.Provider.Finish(r.Context(), attempt.Attempt, r.URL.Query())
	if err != nil {
		p.notSignedIn(w, r, err)
		return
	}
	proven := account{Issuer: p.Provider.Issuer, Subject: found.Subject, Until: p.Now().Add(accountAge).Unix()}
	if found.Verified {
		proven.Mail = found.Mail
	}
	_, role, known := p.Accounts.Account(proven.Subject, proven.Mail)
	switch {
	case known && (role == gateway.RoleOwner || role == gateway.RoleApprover):
	case known:
		p.refuse(w, r, http.StatusForbidden, chat.Text(linePageAccountAgent))
		return
	default:
		p.unknown(w, r, found)
		return
	}
	if err := p.cookies.setSession(w, session{ID: p.NewUUID(), Account: &proven}); err != nil {
		p.trouble(w, r, http.StatusInternalServerError, chat.Text(linePageWrong), p.explain(r, err))
		return
	}
	p.goOn(w, r, attempt.To)
}

// unknown tells somebody whom the provider knows and we do not what would have to be written down.
func (p *page) unknown(w http.ResponseWriter, r *http.Request, found openid.Account) {
	p.Logger.InfoContext(r.Context(), "an account that is nobody's tried to sign in", "issuer", p.Provider.Issuer, "subject", found.Subject)
	head := p.say(r, chat.Text(linePageNotSignedIn))
	p.render(w, r, http.StatusForbidden, "refused", view{
		Title: head, Head: head, Account: &found, Text: p.say(r, chat.Text(linePageAccountNobody, "provider", p.Provider.Host())),
	})
}

// refuse says why nobody is signed in, and leaves whatever session there is.
func (p *page) refuse(w http.ResponseWriter, r *http.Request, status int, why chat.Line) {
	head := p.say(r, chat.Text(linePageNotSignedIn))
	p.render(w, r, status, "refused", view{Title: head, Head: head, Text: p.say(r, why)})
}

func (p *page) notSignedIn(w http.ResponseWriter, r *http.Request, err error) {
	var why chat.Line
	status, provider := http.StatusForbidden, p.Provider.Host()
	switch {
	case errors.Is(err, openid.ErrStale):
		why = chat.Text(linePageSignInStale)
	case errors.Is(err, openid.ErrDeclined):
		why = chat.Text(linePageSignInDeclined, "provider", provider)
	case errors.Is(err, openid.ErrUnproven):
		why = chat.Text(linePageSignInUnproven, "provider", provider)
	case errors.Is(err, openid.ErrAway):
		status, why = http.StatusBadGateway, chat.Text(linePageSignInAway, "provider", provider)
	default:
		status, why = http.StatusInternalServerError, p.explain(r, err)
	}
	p.Logger.WarnContext(r.Context(), "somebody could not sign in", "issuer", p.Provider.Issuer, "error", err)
	p.refuse(w, r, status, why)
}
