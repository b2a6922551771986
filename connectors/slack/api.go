package slack

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"
)

// maxAnswer bounds what one answer of the Web API may hold, in bytes.
const maxAnswer = 4 << 20

// The bounds of one call; the caller's context may be shorter.
const (
	callTimeout   = 30 * time.Second
	uploadTimeout = 10 * time.Minute
)

// api calls the Web API. The library writes requests and reads answers; limits,
// classification and scrubbing are added here.
type api struct {
	endpoint *url.URL // with a slash at the end
	token    string
	appToken string
	http     *http.Client
	scrub    *strings.Replacer
}

func newAPI(p Params) *api {
	// A redirect could carry the token to another host. Slack's methods do not redirect;
	// downloads follow theirs by hand.
	own := *p.HTTP
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	endpoint, err := url.Parse(strings.TrimRight(p.APIURL, "/") + "/")
	if err != nil { // Params.check has parsed it
		endpoint = &url.URL{}
	}
	return &api{
		endpoint: endpoint, token: p.BotToken, appToken: p.AppToken, http: &own,
		scrub: scrubber(p.BotToken, p.AppToken, p.SigningSecret),
	}
}

// call runs do with a client for one call of that method. Errors are *chat.Error.
func (a *api) call(ctx context.Context, method string, do func(context.Context, *slackgo.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	seen := &exchange{client: a.http}
	err := do(ctx, a.client(seen))
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return a.fail(method, seen, err)
}

func (a *api) client(through *exchange) *slackgo.Client {
	return slackgo.New(a.token, slackgo.OptionAPIURL(a.endpoint.String()), slackgo.OptionHTTPClient(through),
		slackgo.OptionAppLevelToken(a.appToken))
}

// exchange is one HTTP request: it bounds the answer and remembers what came back.
type exchange struct {
	client *http.Client

	status     int
	retryAfter string
}

func (e *exchange) Do(request *http.Request) (*http.Response, error) {
	response, err := e.client.Do(request)
	if err != nil {
		return nil, err
	}
	e.saw(response)
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}

func (e *exchange) saw(response *http.Response) {
	e.status = response.StatusCode
	e.retryAfter = response.Header.Get("Retry-After")
}
