package gateway

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"github.com/tmaxmax/go-sse"
	"go.yaml.in/yaml/v3"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway/ratelimit"
)

// ratelimitOff never refuses.
func ratelimitOff() *ratelimit.Limiter { return ratelimit.New(0, nil) }

func TestEveryAPICallWantsAToken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, route := range routes(t) {
		method, path, _ := strings.Cut(route, " ")
		if !strings.HasPrefix(path, "/api/") {
			continue
		}
		path = strings.NewReplacer("{id}", "1", "{uuid}", "1", "{name}", "1").Replace(path)
		for _, header := range []string{"", "Bearer ", "Bearer wrong", "Basic b3duZXItdG9rZW46", "owner-token"} {
			answer := b.do("", method, path, "", "Authorization", header)
			require.Equal(t, http.StatusUnauthorized, answer.status, "%s with %q", route, header)
			require.Contains(t, answer.header.Get("WWW-Authenticate"), "Bearer")
		}
	}
	require.Empty(t, b.engine.started)
	require.Empty(t, b.engine.delivered)
	require.Equal(t, 200, b.do("", http.MethodGet, "/api/grants", "", "Authorization", "bearer owner-token").status, "the scheme's case does not matter (RFC 9110 §11.1)")
}

func TestNeitherTokensNorBodiesAreLogged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.do(RoleOwner, http.MethodPost, "/api/message?token=owner-token", `{"text":"my secret text"}`)
	b.do("", http.MethodGet, "/api/grants", "", "Authorization", "Bearer wrong-token")
	require.Contains(t, b.log.String(), "/api/message")
	for _, secret := range []string{"owner-token", "wrong-token", "my secret text", TokenHash("owner-token")} {
		require.NotContains(t, b.log.String(), secret)
	}
}

func TestUnknownAddresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, 404, b.do("", http.MethodGet, "/nothing", "").status)
	require.Equal(t, 404, b.do(RoleOwner, http.MethodGet, "/api/nothing", "").status)
	answer := b.do(RoleOwner, http.MethodPut, "/api/invocations", "{}")
	require.Equal(t, 405, answer.status)
	require.Equal(t, "GET, POST", answer.header.Get("Allow"))
	// A28: a decision never happens on a GET, nor on a HEAD
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		require.Equal(t, 405, b.do(RoleOwner, method, "/api/approvals/1/decision", "").status)
	}
	require.Empty(t, b.engine.answers)
}

func TestPanicIsAProblemWithoutDetails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.panics = true
	answer := b.do(RoleOwner, http.MethodPost, "/api/invocations", `{"tool":"a","operation":"b"}`)
	require.Equal(t, 500, answer.status)
	require.NotContains(t, answer.raw, "cs_secret")
	require.Contains(t, b.log.String(), "panic in a request")
}

func TestMeta(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *Params) {
		p.Page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("page " + r.URL.Path)) })
		p.Webhooks = map[string]http.Handler{"/telegram/webhook": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot - 218) // 200
		})}
	})
	require.Equal(t, "page /", b.do("", http.MethodGet, "/", "").raw)
	require.Equal(t, "page /assets/x", b.do("", http.MethodGet, "/assets/x", "").raw)
	require.Equal(t, 200, b.do("", http.MethodPost, "/telegram/webhook", "{}").status)
	require.Equal(t, "page /telegram/webhook", b.do("", http.MethodGet, "/telegram/webhook", "").raw, "webhooks answer POST only")
	require.Equal(t, 200, b.do("", http.MethodGet, "/healthz", "").status)
	require.Equal(t, 200, b.do("", http.MethodGet, "/readyz", "").status)
	require.Contains(t, b.do("", http.MethodGet, "/metrics", "").raw, `countersign_http_requests_total{method="GET",route="/healthz",status="200"} 1`)
	answer := b.do("", http.MethodGet, "/openapi.yaml", "")
	require.Equal(t, "nosniff", answer.header.Get("X-Content-Type-Options"))
	require.Equal(t, "DENY", answer.header.Get("X-Frame-Options"))
	tools := b.do(RoleAgent, http.MethodGet, "/api/tools", "")
	require.JSONEq(t, `{"tools":[{"name":"file_manager","description":"","operations":[
		{"name":"delete","description":"","kind":"danger","prompt":"Delete {path}?","parameters":{"type":"object"}}]}]}`, tools.raw)
	require.Equal(t, "ada", b.do(RoleOwner, http.MethodGet, "/api/about", "").body["person"])

	b.engine.err = chat.ErrUnreachable
	require.Equal(t, 200, b.do("", http.MethodGet, "/healthz", "").status)
	require.Equal(t, 503, b.do("", http.MethodGet, "/readyz", "").status)
	require.Equal(t, 503, b.do(RoleOwner, http.MethodGet, "/api/approvals", "").status)
}

func TestEventStream(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *Params) { p.Heartbeat = 5 * time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+"/api/events", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer owner-token")
	response, err := b.server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	lines := bufio.NewReader(response.Body)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, ": listening\n", line)
	for line != ": still here\n" {
		line, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	b.events <- Event{Kind: "asked", Invocation: "1", Thread: chat.Thread{Connector: "web", Key: "k"}, Text: "two\nlines", At: b.now}
	for event, err := range sse.Read(lines, nil) {
		require.NoError(t, err)
		require.Equal(t, "asked", event.Type)
		require.JSONEq(t, `{"kind":"asked","invocation":"1","thread":{"connector":"web","key":"k"},"text":"two\nlines","at":"2029-01-02T03:04:05Z"}`, event.Data)
		break
	}
	close(b.events) // the feed's end is the stream's end
	_, err = lines.ReadString(0)
	require.Error(t, err)
}

// routes lists the router's own addresses as "GET /api/grants".
func routes(t *testing.T) []string {
	t.Helper()
	g := &gateway{Params: Params{Engine: &fakeEngine{}, Identity: fakeIdentity{}}.withDefaults(), messages: ratelimitOff()}
	g.metrics = newMetrics(g.Metrics)
	var list []string
	require.NoError(t, chi.Walk(g.routes(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		list = append(list, method+" "+route)
		return nil
	}))
	slices.Sort(list)
	return list
}

func TestOpenAPIDescribesTheRoutes(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]yaml.Node
	}
	require.NoError(t, yaml.Unmarshal(openAPIDocument, &document))
	var described []string
	for path, methods := range document.Paths {
		for method := range methods {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(described)
	require.Equal(t, routes(t), described)

	// Every reference leads somewhere.
	var root map[string]any
	require.NoError(t, yaml.Unmarshal(openAPIDocument, &root))
	references := 0
	var walk func(any)
	walk = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			for key, value := range node {
				if key != "$ref" {
					walk(value)
					continue
				}
				references++
				var at any = root
				for part := range strings.SplitSeq(strings.TrimPrefix(value.(string), "#/"), "/") {
					at = at.(map[string]any)[part]
				}
				require.NotNil(t, at, value)
			}
		case []any:
			for _, value := range node {
				walk(value)
			}
		}
	}
	walk(root)
	require.Greater(t, references, 50)
}

func TestGrants(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.JSONEq(t, `{"grants":[]}`, b.do(RoleAgent, http.MethodGet, "/api/grants", "").raw)
	b.engine.grants = []ListedGrant{{Grant: contract.Grant{ID: "g/1", By: "ada"}, Thread: chat.Thread{Connector: "web", Key: "k"}}}
	require.Contains(t, b.do(RoleOwner, http.MethodGet, "/api/grants?connector=web&thread_key=k", "").raw, `"thread":{"connector":"web","key":"k"}`)
	require.Equal(t, 422, b.do(RoleOwner, http.MethodGet, "/api/grants?connector=web", "").status)
	require.Equal(t, 403, b.do(RoleAgent, http.MethodDelete, "/api/grants/g%2F1", "").status)
	require.Equal(t, 204, b.do(RoleApprover, http.MethodDelete, "/api/grants/g%2F1", "").status)
	require.Equal(t, []string{"g/1 by bob"}, b.engine.asked)
	b.engine.err = ErrNotFound
	require.Equal(t, 404, b.do(RoleOwner, http.MethodDelete, "/api/grants/none", "").status)
}
