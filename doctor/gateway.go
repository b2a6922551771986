package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer of the gateway, in bytes; ours are a few hundred.
const maxAnswer = 64 << 10

// Gateway is the HTTP server, seen from here and by its public address.
type Gateway struct {
	// URL where it should answer from here; empty where that is not known (port 0).
	URL string
	// PublicURL is what platforms use; empty for none.
	PublicURL string
	// Token of the owner, and where it comes from; empty where there is none.
	Token, TokenFrom string
	HTTP             *http.Client
}

// Check notes whether it answers, is ready, and takes the token.
func (g Gateway) Check(ctx context.Context, n *Notes) {
	if g.URL == "" {
		n.Off("address", "http.addr names no port: pass --url to say where the gateway is")
	} else if g.alive(ctx, n) {
		g.ready(ctx, n)
		g.token(ctx, n)
	}
	g.public(ctx, n)
}

// answer is what came back to a GET.
type answer struct {
	status   int
	location string
	body     map[string]string // nil where it is no such JSON
}

func (g Gateway) ask(ctx context.Context, base, path, token string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	own := *g.HTTP
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token goes nowhere else
	response, err := own.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return answer{}, err
	}
	found := answer{status: response.StatusCode, location: response.Header.Get("Location")}
	if json.Unmarshal(content, &found.body) != nil {
		found.body = nil
	}
	return found, nil
}

// ours tells whether a gateway of ours said it.
func (a answer) ours() bool { return a.status == http.StatusOK && a.body["status"] == "ok" }

func (a answer) String() string {
	text := fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))
	if a.location != "" {
		text += " to " + place(a.location)
	}
	return text
}

func (g Gateway) alive(ctx context.Context, n *Notes) bool {
	found, err := g.ask(ctx, g.URL, "/healthz", "")
	switch {
	case err != nil:
		n.Warn("address", "start bin/worker (with the role gateway), or say with --url where it is", "no gateway answers at %s: %s", g.URL, cause(err))
	case !found.ours():
		n.Fail("address", "another program has this port: set COUNTERSIGN_HTTP_ADDR to a free one, or say with --url where the gateway is",
			"what answers at %s is no Countersign gateway: %s", g.URL, found)
	default:
		n.OK("address", "%s answers, version %s", g.URL, orDefault(found.body["version"], "unknown"))
		return true
	}
	return false
}

func (g Gateway) ready(ctx context.Context, n *Notes) {
	found, err := g.ask(ctx, g.URL, "/readyz", "")
	switch {
	case err != nil:
		n.Fail("ready", "look into the worker's log", "no answer: %s", cause(err))
	case found.status == http.StatusOK:
		n.OK("ready", "it reaches Temporal")
	default:
		n.Fail("ready", "see temporal: the gateway waits for it", "%s", orDefault(found.body["detail"], found.String()))
	}
}

func (g Gateway) token(ctx context.Context, n *Notes) {
	if g.Token == "" {
		n.Warn("token", "run where the gateway's data folder is, or set COUNTERSIGN_TOKEN", "there is none to try (%s)", g.TokenFrom)
		return
	}
	found, err := g.ask(ctx, g.URL, "/api/about", g.Token)
	switch {
	case err != nil:
		n.Fail("token", "look into the worker's log", "no answer: %s", cause(err))
	case found.status == http.StatusOK && found.body["role"] != "":
		n.OK("token", "%s is taken: %s, %s", g.TokenFrom, found.body["person"], found.body["role"])
	case found.status == http.StatusUnauthorized:
		n.Fail("token", "use the token of that gateway's data folder; is COUNTERSIGN_DATA_DIR the same here and there?",
			"%s is not known to the gateway", g.TokenFrom)
	default:
		n.Fail("token", "look into the worker's log", "%s: %s", g.TokenFrom, found)
	}
}

func (g Gateway) public(ctx context.Context, n *Notes) {
	if g.PublicURL == "" {
		n.Off("public_url", "not set: no webhook is registered, and links in chats lead to this machine")
		return
	}
	if !private(g.PublicURL) {
		n.Warn("public_url", "put a proxy with TLS before the gateway and write https://…", "%s is not https: secrets and answers travel openly", g.PublicURL)
	}
	const proxy = "let the name lead to the gateway, or to a proxy before it, and look into the proxy's log"
	found, err := g.ask(ctx, g.PublicURL, "/healthz", "")
	switch {
	case err != nil:
		n.Warn("public_url", proxy+"; from inside a network it may still be fine outside", "%s cannot be reached from here: %s", g.PublicURL, cause(err))
	case found.ours():
		n.OK("public_url", "%s leads to a gateway", g.PublicURL)
	case found.location != "":
		n.Warn("public_url", "write the address that it leads to: platforms follow no redirect", "%s answers %s", g.PublicURL, found)
	case found.status >= http.StatusInternalServerError:
		n.Warn("public_url", proxy, "%s answers %s: the gateway behind it does not", g.PublicURL, found)
	default:
		n.Warn("public_url", proxy+"; one that lets only the webhooks through is fine", "%s answers %s to /healthz, which is not the gateway's answer", g.PublicURL, found)
	}
}

// private tells whether nobody on the way can read along: TLS, or this machine.
func private(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := parsed.Hostname()
	ip := net.ParseIP(host)
	return parsed.Scheme == "https" || strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
