package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/web/oidctest"
	"github.com/countersignhq/countersign/connectors/web/openid"
	"github.com/countersignhq/countersign/gateway"
)

// fakeAccounts is "sub" or the address to the role, whose name the person has.
type fakeAccounts map[string]string

func (f fakeAccounts) Account(subject, mail string) (chat.Person, string, bool) {
	for _, key := range []string{subject, mail} {
		if role, ok := f[key]; ok && key != "" {
			return chat.Person{Name: role}, role, true
		}
	}
	return chat.Person{}, "", false
}

// linked is a page with an OpenID provider.
type linked struct {
	*bench
	provider *oidctest.Provider
	accounts fakeAccounts
	log      *connectortest.Log
	// later is added to the provider's time of day as the page sees it.
	later time.Duration
}

const redirect = "https://countersign.example.test" + CallbackPath

func newLinked(t *testing.T, change ...func(*openid.Params)) *linked {
	t.Helper()
	l := &linked{log: &connectortest.Log{}, accounts: fakeAccounts{
		"ada@example.test": gateway.RoleOwner, "sub-of-bob": gateway.RoleApprover, "robot@example.test": gateway.RoleAgent,
	}}
	l.provider = oidctest.Start(t, redirect,
		oidctest.User{ID: "sub-of-ada", Email: "ada@example.test", Verified: true},
		oidctest.User{ID: "sub-of-bob", Email: "bob@example.test"},
		oidctest.User{ID: "sub-of-eve", Email: "eve@example.test", Verified: true},
		oidctest.User{ID: "sub-of-mallory", Email: "ada@example.test"}, // an address that nobody has checked
		oidctest.User{ID: "sub-of-robot", Email: "robot@example.test", Verified: true},
	)
	params := openid.Params{
		Issuer: l.provider.Issuer, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, RedirectURL: redirect,
		Scopes: []string{"openid", "email"},
		Now:    func() time.Time { return time.Now().Add(l.later) },
	}
	for _, c := range change {
		c(&params)
	}
	l.bench = newBench(t, func(p *Params) {
		p.Provider, p.Accounts, p.PublicURL = openid.New(params), l.accounts, ""
		p.Logger = slog.New(slog.NewTextHandler(l.log, nil))
	})
	return l
}

// leave presses the link on the sign-in page and returns where it leads to.
func (b *browser) leave() string {
	b.t.Helper()
	b.get("/signin")
	require.Contains(b.t, b.body, `href="/signin/oidc"`)
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	b.get("/signin/oidc")
	b.client.CheckRedirect = nil
	return b.header.Get("Location")
}

// back is the path with which the provider sends user back.
func (l *linked) back(t *testing.T, address, user string) string {
	t.Helper()
	back := l.provider.Consent(t, address, user)
	require.True(t, strings.HasPrefix(back, redirect+"?"), back)
	return strings.TrimPrefix(back, "https://countersign.example.test")
}

// What the browser wanted to see is what it is shown when it comes back.
func TestAfterTheSignInByAccount(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	for to, shown := range map[string]string{"/history": "/history", "//evil.example.test": "/"} {
		visitor := l.browser(t)
		visitor.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		visitor.get("/signin/oidc?" + url.Values{"to": {to}}.Encode())
		address := visitor.header.Get("Location")
		visitor.client.CheckRedirect = nil
		visitor.get(l.back(t, address, "sub-of-ada"))
		require.Contains(t, visitor.body, `http-equiv="refresh" content="0; url=`+shown+`"`)
	}
	visitor := l.browser(t)
	visitor.get("/history")
	require.Contains(t, visitor.body, `href="/signin/oidc?to=%2fhistory"`)
}

func TestSignInByAccount(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	visitor := l.browser(t)
	address := visitor.leave()
	sent := must(t, address).Query()
	require.Equal(t, "code", sent.Get("response_type"))
	require.Equal(t, "S256", sent.Get("code_challenge_method"))
	require.NotEmpty(t, sent.Get("nonce"))
	require.ElementsMatch(t, []string{"openid", "email"}, strings.Fields(sent.Get("scope")))
	cookie := visitor.header.Get("Set-Cookie")
	for _, part := range []string{attemptCookie, "Path=/signin/oidc", "Max-Age=600", "HttpOnly", "SameSite=Lax"} {
		require.Contains(t, cookie, part)
	}
	require.NotContains(t, cookie, sent.Get("state"), "sealed")

	visitor.get(l.back(t, address, "sub-of-ada"))
	require.Equal(t, 200, visitor.status)
	require.Contains(t, visitor.body, `http-equiv="refresh" content="0; url=/"`, "the next request is our own, and brings the cookie")
	require.Contains(t, strings.Join(visitor.header.Values("Set-Cookie"), "\n"), "SameSite=Strict")
	visitor.get("/")
	require.Contains(t, visitor.body, "Signed in as owner")
	visitor.send(visitor.csrf(), "n", "hello", nil)
	require.Equal(t, chat.Person{ID: "web:owner", Name: "owner", Owner: true}, l.engine.delivered[0].From)
	visitor.post("/signout", url.Values{"csrf": {visitor.csrf()}})
	visitor.get("/")
	require.Contains(t, visitor.body, "Your token")

	bob := l.browser(t) // known by his subject; his address counts for nothing
	bob.get(l.back(t, bob.leave(), "sub-of-bob"))
	bob.get("/")
	require.Contains(t, bob.body, "Signed in as approver")
	l.signedIn(t, "owner") // a token is as good as ever
	for _, secret := range []string{oidctest.ClientSecret, sent.Get("state"), sent.Get("nonce")} {
		require.NotContains(t, l.log.String(), secret)
	}
}

func TestAccountsThatAreNobodys(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	for user, texts := range map[string][]string{
		"sub-of-eve":     {"here you are nobody yet, and see nothing", "<bdi>eve@example.test</bdi></code></dd>", "<bdi>sub-of-eve</bdi>"},
		"sub-of-mallory": {"<bdi>ada@example.test</bdi></code> <span class=\"meta\">not verified there, so it does not count", "<bdi>sub-of-mallory</bdi>"},
		"sub-of-robot":   {"an agent&#39;s"},
	} {
		visitor := l.browser(t)
		visitor.get(l.back(t, visitor.leave(), user))
		require.Equal(t, 403, visitor.status, user)
		for _, text := range texts {
			require.Contains(t, visitor.body, text)
		}
		require.NotContains(t, strings.Join(visitor.header.Values("Set-Cookie"), "\n"), sessionCookie)
		for _, path := range []string{"/", "/live", "/history", "/grants"} {
			visitor.get(path)
			require.Contains(t, visitor.body, "Your token", path)
		}
	}
}

// Each answer that is not the right one, in the browser that it is for, signs nobody in and ends
// nobody's session.
func TestAnswersThatSignNobodyIn(t *testing.T) {
	t.Parallel()
	with := func(path, name, value string) string {
		at := must(t, path)
		query := at.Query()
		query.Set(name, value)
		at.RawQuery = query.Encode()
		return at.String()
	}
	cases := map[string]struct {
		// answer makes the path that the browser is led to.
		answer func(l *linked, visitor *browser, address string) string
		status int
		says   string
	}{
		"wrong state": {func(l *linked, visitor *browser, address string) string {
			return with(l.back(visitor.t, address, "sub-of-ada"), "state", "another")
		}, 403, "began in another browser"},
		"no state": {func(l *linked, visitor *browser, address string) string {
			return with(l.back(visitor.t, address, "sub-of-ada"), "state", "")
		}, 403, "began in another browser"},
		"another browser's answer": {func(l *linked, visitor *browser, _ string) string {
			return l.back(visitor.t, l.browser(visitor.t).leave(), "sub-of-ada")
		}, 403, "began in another browser"},
		"replayed": {func(l *linked, visitor *browser, address string) string {
			path := l.back(visitor.t, address, "sub-of-eve")
			visitor.get(path)
			return path
		}, 403, "was used already"},
		"the code of another attempt": {func(l *linked, visitor *browser, address string) string {
			stolen := must(t, l.back(visitor.t, l.browser(visitor.t).leave(), "sub-of-ada")).Query().Get("code")
			return with(l.back(visitor.t, address, "sub-of-eve"), "code", stolen)
		}, 403, "was used already"}, // PKCE
		"a made-up code": {func(l *linked, visitor *browser, address string) string {
			return with(l.back(visitor.t, address, "sub-of-ada"), "code", "x")
		}, 403, "was used already"},
		"wrong nonce": {func(l *linked, visitor *browser, address string) string {
			return l.back(visitor.t, with(address, "nonce", "another"), "sub-of-ada")
		}, 403, "is not proven"},
		"wrong issuer": {func(l *linked, visitor *browser, address string) string {
			return with(l.back(visitor.t, address, "sub-of-ada"), "iss", "https://evil.example.test")
		}, 403, "is not proven"},
		"declined": {func(_ *linked, _ *browser, address string) string {
			return CallbackPath + "?error=access_denied&error_description=%3Cscript%3E&state=" + must(t, address).Query().Get("state")
		}, 403, "did not sign you in"},
		"declined, by somebody else": {func(*linked, *browser, string) string {
			return CallbackPath + "?error=access_denied&state=x"
		}, 403, "began in another browser"},
		"nothing": {func(*linked, *browser, string) string { return CallbackPath }, 403, "began in another browser"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLinked(t)
			visitor := l.signedIn(t, "approver")
			visitor.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			visitor.get("/signin/oidc") // to become somebody else
			visitor.client.CheckRedirect = nil
			visitor.get(test.answer(l, visitor, visitor.header.Get("Location")))
			require.Equal(t, test.status, visitor.status)
			require.Contains(t, visitor.body, test.says)
			require.NotContains(t, visitor.body, "<script>")
			visitor.get("/")
			require.Contains(t, visitor.body, "Signed in as approver")
		})
	}
}

// Who is taken out of the configuration is out at once; nobody stays for ever.
func TestAccountSessionsEnd(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	visitor := l.browser(t)
	visitor.get(l.back(t, visitor.leave(), "sub-of-ada"))
	visitor.get("/")
	require.Contains(t, visitor.body, "Signed in as owner")
	l.accounts["ada@example.test"] = gateway.RoleApprover
	visitor.get("/")
	require.Contains(t, visitor.body, "Signed in as approver", "as things stand now")
	delete(l.accounts, "ada@example.test")
	visitor.get("/")
	require.Contains(t, visitor.body, "Your token")

	bob := l.browser(t)
	bob.get(l.back(t, bob.leave(), "sub-of-bob"))
	l.now = l.now.Add(accountAge - time.Minute)
	bob.get("/")
	require.Contains(t, bob.body, "Signed in as approver")
	l.now = l.now.Add(2 * time.Minute)
	bob.get("/")
	require.Contains(t, bob.body, "Your token")
}

// With another provider, or none, the accounts of the one before are nobody's.
func TestAccountsAreOfOneProvider(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	visitor := l.browser(t)
	visitor.get(l.back(t, visitor.leave(), "sub-of-ada"))
	cookies := visitor.client.Jar.Cookies(must(t, l.server.URL))
	for name, provider := range map[string]*openid.Provider{
		"none": nil, "another": openid.New(openid.Params{Issuer: "https://another.example.test"}),
	} {
		other := newBench(t, func(p *Params) { p.Provider, p.Accounts = provider, l.accounts })
		there := other.browser(t)
		there.client.Jar.SetCookies(must(t, other.server.URL), cookies)
		there.get("/")
		require.Contains(t, there.body, "Your token", name)
		require.Equal(t, provider != nil, strings.Contains(there.body, "Sign in through another.example.test"))
	}
}

// A link from another site comes without the session's cookie: it must lead to the page, and
// never end the session.
func TestLinksFromOtherSites(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for path, next := range map[string]string{
		"/history?a=1": "/history?a=1", "/signin": "/signin", "/invocations/a%2Fb": "/invocations/a%2Fb", "/": "/",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, b.server.URL+path, nil)
		r.RequestURI = ""
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		visitor := b.browser(t)
		visitor.do(r, nil)
		require.Equal(t, 200, visitor.status)
		require.Contains(t, visitor.body, `content="0; url=`+next+`"`)
		require.Empty(t, visitor.header.Values("Set-Cookie"))
		visitor.get(next) // from our own page: the sign-in, if nobody is signed in
		require.Contains(t, visitor.body, "Your token")
	}
	p := &page{}
	for _, path := range []string{"//evil.example.test", `/\evil.example.test`, "https://evil.example.test", ""} {
		answer := httptest.NewRecorder()
		p.goOn(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), path)
		require.Contains(t, answer.Body.String(), `content="0; url=/"`, path)
	}
}
