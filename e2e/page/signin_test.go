package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/web/oidctest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// linked is an installation whose people sign in at an OpenID provider, which is on another site.
func linked(t *testing.T, env map[string]string) (*harness.World, *oidctest.Provider) {
	t.Helper()
	port := harness.Port(t)
	provider := oidctest.Start(t, harness.URL(port)+"/signin/oidc/callback",
		oidctest.User{ID: "sub-of-ada", Email: "ada@example.test", Verified: true},
		oidctest.User{ID: "sub-of-bob"},
		oidctest.User{ID: "sub-of-eve", Email: "eve@example.test", Verified: true},
	)
	provider.Away(true) // the worker must start all the same
	all := map[string]string{
		"COUNTERSIGN_PUBLIC_URL":  harness.URL(port),
		"COUNTERSIGN_OIDC_ISSUER": provider.Issuer, "COUNTERSIGN_OIDC_CLIENT_ID": oidctest.ClientID, "COUNTERSIGN_OIDC_CLIENT_SECRET": oidctest.ClientSecret,
		"COUNTERSIGN_PEOPLE": "[{name: ada, owner: true, email: [ada@example.test]}, {name: bob, oidc: [sub-of-bob]}]",
	}
	for name, value := range env {
		all[name] = value
	}
	return harness.New(t, harness.Setup{Port: port, Env: all}), provider
}

// through signs in with the provider's own form.
func (b *tab) through(user string) {
	b.t.Helper()
	b.visit("/")
	b.leads("a.button.primary")
	b.write("#username", user)
	b.write("#password", oidctest.Password)
	_, err := eval[bool](b, `document.querySelector("form").requestSubmit() ?? true`)
	require.NoError(b.t, err)
}

// leads follows a link by a script, for the reason that signIn has.
func (b *tab) leads(selector string) {
	b.t.Helper()
	b.await(selector, b.find(selector))
	_, err := eval[bool](b, b.find(selector)+".click() ?? true")
	require.NoError(b.t, err)
}

func TestSignInAtAnOpenIDProvider(t *testing.T) {
	t.Parallel()
	w, provider := linked(t, nil)
	b := open(t, w)
	b.visit("/")
	b.leads("a.button.primary")
	b.shows(".flash.bad", "cannot be asked now")
	b.leads("main p a")
	b.shows("h1", "Sign in")
	provider.Away(false)
	b.through("sub-of-ada")
	b.await("the conversation", `document.querySelector("main[data-live]")`)
	require.Equal(t, w.URL()+"/", b.address())
	b.say("/help")
	b.shows(".reply", "file_manager")

	// A link on another site leads to the page, although the session's cookie stays behind at first.
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, "<!doctype html><a href=%q>history</a>", w.URL()+"/history?from=mail")
	}))
	t.Cleanup(other.Close)
	b.do(chromedp.Navigate(strings.Replace(other.URL, "127.0.0.1", "localhost", 1)))
	b.leads("a")
	b.shows("h1", "History")
	require.Equal(t, w.URL()+"/history?from=mail", b.address())
	b.click("nav form button")
	b.shows("h1", "Sign in")

	bob := open(t, w)
	bob.through("sub-of-bob")
	bob.await("the conversation", `document.querySelector("main[data-live]")`)
	eve := open(t, w)
	eve.through("sub-of-eve")
	eve.shows(".flash.bad", "here you are nobody yet")
	eve.shows(".sheet", "sub-of-eve")
	eve.visit("/")
	eve.shows("h1", "Sign in")
	b.clean()
}

func (b *tab) address() string {
	b.t.Helper()
	address, err := eval[string](b, "location.href")
	require.NoError(b.t, err)
	return address
}
