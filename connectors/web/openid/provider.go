package openid

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// patience is how long the provider may take to answer one request.
const patience = 10 * time.Second

// claimEmail is OpenID Connect Core §5.1's address, which comes with email_verified; claimSubject
// is the one claim that is the same person for ever (§5.7).
const (
	claimEmail   = "email"
	claimSubject = "sub"
)

// Params say which provider, and as whom we come. Issuer, ClientID and RedirectURL are required.
type Params struct {
	// Issuer is compared to the letter with what the provider calls itself.
	Issuer       string
	ClientID     string
	ClientSecret string
	// RedirectURL is where the browser comes back to, as it is registered with the provider.
	RedirectURL string
	// Scopes to ask for; openid is always among them.
	Scopes []string
	// Claim holds the address that people are known by; empty is email. With sub, only subjects count.
	Claim string
	// Client makes the requests; nil is one that waits ten seconds at most.
	Client *http.Client
	Now    func() time.Time
}

// Provider is an OpenID provider. It is safe for concurrent use.
type Provider struct {
	Params

	looking singleflight.Group
	mu      sync.Mutex
	found   *oidc.Provider
}

// New returns a Provider, and asks it nothing yet.
func New(params Params) *Provider {
	if params.Claim == "" {
		params.Claim = claimEmail
	}
	if params.Client == nil {
		params.Client = &http.Client{Timeout: patience}
	}
	if params.Now == nil {
		params.Now = time.Now
	}
	return &Provider{Params: params}
}

// Host is the provider's name for people.
func (p *Provider) Host() string {
	if issuer, err := url.Parse(p.Issuer); err == nil && issuer.Host != "" {
		return issuer.Host
	}
	return p.Issuer
}

// Attempt is one sign-in that has begun. It is secret: whoever has it and the browser's answer
// is signed in.
type Attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Begin returns the address to send the browser to. The error is ErrAway where the provider
// cannot be asked.
func (p *Provider) Begin(ctx context.Context) (string, Attempt, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", Attempt{}, err
	}
	attempt := Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	address := p.config(found).AuthCodeURL(attempt.State, oidc.Nonce(attempt.Nonce), oauth2.S256ChallengeOption(attempt.Verifier))
	return address, attempt, nil
}

func (p *Provider) config(found *oidc.Provider) *oauth2.Config {
	scopes := []string{oidc.ScopeOpenID}
	for _, scope := range p.Scopes {
		if scope != oidc.ScopeOpenID {
			scopes = append(scopes, scope)
		}
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: found.Endpoint(), RedirectURL: p.RedirectURL, Scopes: scopes,
	}
}

// discover reads the provider's metadata (OpenID Connect Discovery 1.0) once; what fails is
// tried again the next time. Those who ask meanwhile wait for the same answer.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	found := p.found
	p.mu.Unlock()
	if found != nil {
		return found, nil
	}
	answer := p.looking.DoChan("", func() (any, error) {
		// Not of the one request: others wait for it too.
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		found, err := oidc.NewProvider(oidc.ClientContext(asking, p.Client), p.Issuer)
		if err != nil {
			return nil, discoveryError(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.found = found
		return found, nil
	})
	select {
	case <-ctx.Done():
		return nil, away("read its metadata", ctx.Err())
	case result := <-answer:
		if result.Err != nil {
			return nil, result.Err
		}
		found, _ = result.Val.(*oidc.Provider)
		return found, nil
	}
}
