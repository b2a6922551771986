package doctor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/doctor"
)

const token = "cs_owner-token-0123456789"

// gateway answers what a gateway answers; pages replace single ones.
func gateway(t *testing.T, pages map[string]http.HandlerFunc) string {
	t.Helper()
	standard := map[string]http.HandlerFunc{
		"/healthz": say(200, `{"status":"ok","version":"1.2.3"}`),
		"/readyz":  say(200, `{"status":"ready"}`),
		"/api/about": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+token {
				say(401, `{"detail":"who are you"}`)(w, r)
				return
			}
			say(200, `{"person":"ada","role":"owner"}`)(w, r)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			page, ok = standard[r.URL.Path]
		}
		if !ok {
			page = http.NotFound
		}
		page(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func say(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

const page = "<!doctype html><html><body>502 Bad Gateway</body></html>"

// gone is an address at which nobody answers.
func gone(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL
}

func TestGateway(t *testing.T) {
	t.Parallel()
	all := []string{"ok address", "ok ready", "ok token", "ok public_url"}
	for name, test := range map[string]struct {
		pages  map[string]http.HandlerFunc
		change func(*doctor.Gateway)
		want   []string
		says   string
	}{
		"well":            {want: all, says: "ada, owner"},
		"no address":      {change: func(g *doctor.Gateway) { g.URL = "" }, want: []string{"off address", "ok public_url"}, says: "--url"},
		"not started":     {change: func(g *doctor.Gateway) { g.URL = gone(t) }, want: []string{"warn address", "ok public_url"}, says: "start bin/worker"},
		"no token":        {change: func(g *doctor.Gateway) { g.Token = "" }, want: []string{"ok address", "ok ready", "warn token", "ok public_url"}, says: "COUNTERSIGN_TOKEN"},
		"another token":   {change: func(g *doctor.Gateway) { g.Token = "cs_other-token-0123456789" }, want: []string{"ok address", "ok ready", "fail token", "ok public_url"}, says: "COUNTERSIGN_DATA_DIR"},
		"no public":       {change: func(g *doctor.Gateway) { g.PublicURL = "" }, want: []string{"ok address", "ok ready", "ok token", "off public_url"}},
		"public is gone":  {change: func(g *doctor.Gateway) { g.PublicURL = gone(t) }, want: []string{"ok address", "ok ready", "ok token", "warn public_url"}, says: "cannot be reached from here"},
		"public in clear": {change: func(g *doctor.Gateway) { g.PublicURL = "http://countersign.invalid" }, want: []string{"ok address", "ok ready", "ok token", "warn public_url", "warn public_url"}, says: "is not https"},
		"public elsewhere": {change: func(g *doctor.Gateway) {
			g.PublicURL = gateway(t, map[string]http.HandlerFunc{"/healthz": say(404, page)})
		}, want: []string{"ok address", "ok ready", "ok token", "warn public_url"}, says: "answers 404"},
		"proxy alone": {change: func(g *doctor.Gateway) {
			g.PublicURL = gateway(t, map[string]http.HandlerFunc{"/healthz": say(502, page)})
		}, want: []string{"ok address", "ok ready", "ok token", "warn public_url"}, says: "the gateway behind it does not"},
		"redirected": {
			change: func(g *doctor.Gateway) {
				g.PublicURL = gateway(t, map[string]http.HandlerFunc{"/healthz": http.RedirectHandler("https://www.example.test/login?key=1", http.StatusMovedPermanently).ServeHTTP})
			},
			want: []string{"ok address", "ok ready", "ok token", "warn public_url"}, says: "301 Moved Permanently to https://www.example.test/…",
		},
		"a web page":     {pages: map[string]http.HandlerFunc{"/healthz": say(200, page)}, want: []string{"fail address", "warn public_url"}, says: "no Countersign gateway"},
		"not ready":      {pages: map[string]http.HandlerFunc{"/readyz": say(503, `{"detail":"Temporal cannot be reached"}`)}, want: []string{"ok address", "fail ready", "ok token", "ok public_url"}, says: "Temporal cannot be reached"},
		"a page instead": {pages: map[string]http.HandlerFunc{"/readyz": say(500, page), "/api/about": say(200, page)}, want: []string{"ok address", "fail ready", "fail token", "ok public_url"}, says: "500"},
		"a huge answer":  {pages: map[string]http.HandlerFunc{"/healthz": say(200, strings.Repeat("x", 1<<20))}, want: []string{"fail address", "warn public_url"}},
		"half an answer": {pages: map[string]http.HandlerFunc{"/healthz": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = fmt.Fprint(w, "{")
		}}, want: []string{"warn address", "warn public_url"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := gateway(t, test.pages)
			g := doctor.Gateway{URL: at, PublicURL: at, Token: token, TokenFrom: "data/token", HTTP: &http.Client{}}
			if test.change != nil {
				test.change(&g)
			}
			found := examine(t, g.Check)
			require.Equal(t, test.want, found.short(), found)
			text := ""
			for _, f := range found {
				text += f.Detail + " → " + f.Mend + "\n"
			}
			require.Contains(t, text, test.says)
			require.NotContains(t, text, "html")
		})
	}
}

func TestTheTokenFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("Authorization") }))
	t.Cleanup(elsewhere.Close)
	at := gateway(t, map[string]http.HandlerFunc{"/api/about": http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect).ServeHTTP})
	found := examine(t, doctor.Gateway{URL: at, Token: token, TokenFrom: "data/token", HTTP: &http.Client{}}.Check)
	found.has(t, doctor.Fail, "token", "307")
	require.Empty(t, seen)
}
