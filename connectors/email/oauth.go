package email

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/countersignhq/countersign/chat"
)

// OAuth signs in with a token in place of a password. It is asked of TokenURL (RFC 6749),
// with RefreshToken (§6) or, without one, as the client itself (§4.4); where there is no
// TokenURL, it is always AccessToken.
type OAuth struct {
	TokenURL               string
	ClientID, ClientSecret string
	RefreshToken           string
	Scopes                 []string // optional
	AccessToken            string
}

// Used tells whether there is anything to sign in with.
func (o OAuth) Used() bool { return o.AccessToken != "" || o.TokenURL != "" }

// tokenTimeout is for one question to the token's server.
const tokenTimeout = 30 * time.Second

// bearer hands out tokens, each as long as it is good.
type bearer struct {
	OAuth
	client *http.Client

	mu      sync.Mutex
	source  oauth2.TokenSource
	current oauth2.Token
}

func newBearer(o OAuth) *bearer {
	if !o.Used() {
		return nil
	}
	return &bearer{OAuth: o, client: &http.Client{Timeout: tokenTimeout}}
}

// token is one that has not expired.
func (b *bearer) token() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.TokenURL == "" {
		return b.AccessToken, nil
	}
	if b.source == nil {
		b.source = b.newSource()
	}
	token, err := b.source.Token()
	if err != nil {
		return "", tokenError(err)
	}
	if token.RefreshToken != "" {
		b.RefreshToken = token.RefreshToken // a server may change it with each use
	}
	b.current = *token
	return token.AccessToken, nil
}

func (b *bearer) newSource() oauth2.TokenSource {
	// The library keeps this context for as long as it hands out tokens.
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, b.client)
	if b.RefreshToken == "" {
		config := clientcredentials.Config{ClientID: b.ClientID, ClientSecret: b.ClientSecret, TokenURL: b.TokenURL, Scopes: b.Scopes}
		return config.TokenSource(ctx)
	}
	config := oauth2.Config{
		ClientID: b.ClientID, ClientSecret: b.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: b.TokenURL}, Scopes: b.Scopes,
	}
	return config.TokenSource(ctx, &oauth2.Token{RefreshToken: b.RefreshToken})
}

// refused forgets a token that a mail server did not take before its time.
func (b *bearer) refused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.source = nil
}

// secrets are what may stand in no error at this moment.
func (b *bearer) secrets() []string {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return []string{b.AccessToken, b.ClientSecret, b.RefreshToken, b.current.AccessToken}
}

// accessToken is for a mail server; errors are *chat.Error.
func (c *Connector) accessToken() (string, error) {
	token, err := c.bearer.token()
	if failed, ok := errors.AsType[*chat.Error](err); ok {
		failed.Err = errors.New(c.scrubbed(failed.Err.Error()))
	}
	return token, err
}

// tokenError words what the token's server said. Only its word about these credentials is final.
func tokenError(err error) error {
	out := &chat.Error{Op: "oauth token", Temporary: true}
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) {
		out.Err = errors.New("the token's server cannot be reached")
		return out
	}
	status := said.Response.StatusCode
	out.Temporary = said.ErrorCode == "" || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests
	out.Err = fmt.Errorf("status %d: %.40s %s", status, said.ErrorCode, strings.Join(strings.Fields(said.ErrorDescription), " "))
	return out
}

// bearerSASL is OAUTHBEARER (RFC 7628) or XOAUTH2, its predecessor, which some have alone:
// https://developers.google.com/workspace/gmail/imap/xoauth2-protocol.
type bearerSASL struct {
	sasl.Client
}

var (
	// errRefusedToken is a server's word that it does not take a token.
	errRefusedToken = errors.New("the server refused the token")
	errNoBearer     = errors.New("the server takes neither AUTH OAUTHBEARER nor XOAUTH2; use a password")
)

// signedIn passes on how signing in with a token went. Where there are others, a refusal
// is not final: the next try has a new one.
func (c *Connector) signedIn(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case c.bearer.TokenURL != "":
		c.bearer.refused()
		return &chat.Error{Op: op, Temporary: true, Err: c.clean(err)}
	case errors.Is(err, errRefusedToken):
		return &chat.Error{Op: op, Err: c.clean(err)}
	default:
		return err
	}
}

// newBearerSASL returns nil where the server has neither.
func newBearerSASL(s Server, token string, offers func(mechanism string) bool) sasl.Client {
	switch {
	case offers(sasl.OAuthBearer):
		return bearerSASL{sasl.NewOAuthBearerClient(&sasl.OAuthBearerOptions{
			Username: s.Username, Token: token, Host: s.Host, Port: s.Port,
		})}
	case offers(xoauth2Name):
		return bearerSASL{xoauth2{s.Username, token}}
	default:
		return nil
	}
}

// Next is asked only after a refusal: it holds the reason as JSON (RFC 7628 §3.2.2).
func (bearerSASL) Next(challenge []byte) ([]byte, error) {
	var reason struct {
		Status string `json:"status"`
	}
	_ = json.Unmarshal(challenge, &reason) // a server that says it in another way has said no as well
	return nil, fmt.Errorf("%w (%.20q)", errRefusedToken, reason.Status)
}

const xoauth2Name = "XOAUTH2"

type xoauth2 struct{ username, token string }

func (x xoauth2) Start() (string, []byte, error) {
	return xoauth2Name, []byte("user=" + x.username + "\x01auth=Bearer " + x.token + "\x01\x01"), nil
}

func (xoauth2) Next([]byte) ([]byte, error) { return nil, errRefusedToken }
