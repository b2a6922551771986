package oidctest

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

// What the client is registered with.
const (
	ClientID     = "countersign"
	ClientSecret = "a-secret-of-the-client"
	// Password of everybody.
	Password = "verysecure"
)

// User is somebody with an account there, whose name is the id.
type User struct {
	ID       string
	Email    string
	Verified bool
}

// Provider is a running OpenID provider.
type Provider struct {
	// Issuer is at localhost: another site than 127.0.0.1, although the same machine.
	Issuer string

	mu     sync.Mutex
	away   bool
	change func(answer map[string]any)
	tokens int
}

// Start runs a provider with one client, which comes back to redirectURI.
func Start(tb testing.TB, redirectURI string, users ...User) *Provider {
	tb.Helper()
	p := &Provider{}
	var inner http.Handler
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, inner) }))
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	p.Issuer = "http://localhost:" + port
	clients := map[string]*storage.Client{ClientID: storage.WebClient(ClientID, ClientSecret, redirectURI)}
	inner = exampleop.SetupServer(p.Issuer, storage.NewStorageWithClients(accounts(users), clients), nil, false)
	server.Start()
	tb.Cleanup(server.Close)
	return p
}

// Away makes it drop every connection, or answer again.
func (p *Provider) Away(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
}

// Change changes what its token and UserInfo endpoints answer from now on.
func (p *Provider) Change(change func(answer map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = change
}

// Exchanged is how often the token endpoint was asked.
func (p *Provider) Exchanged() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request, inner http.Handler) {
	endpoint := r.URL.Path == "/oauth/token" || r.URL.Path == "/userinfo"
	p.mu.Lock()
	away, change := p.away, p.change
	if r.URL.Path == "/oauth/token" {
		p.tokens++
	}
	p.mu.Unlock()
	switch {
	case away:
		panic(http.ErrAbortHandler)
	case change == nil || !endpoint:
		inner.ServeHTTP(w, r)
		return
	}
	recorded := httptest.NewRecorder()
	inner.ServeHTTP(recorded, r)
	var answer map[string]any
	body := recorded.Body.Bytes()
	if json.Unmarshal(body, &answer) == nil {
		change(answer)
		body, _ = json.Marshal(answer) // came from JSON
	}
	w.Header().Set("Content-Type", recorded.Header().Get("Content-Type"))
	w.WriteHeader(recorded.Code)
	_, _ = bytes.NewReader(body).WriteTo(w)
}

// Consent does what a person does there: follows the address, fills in the form as user, and
// returns where the provider sends the browser back to, without going there.
func (p *Provider) Consent(tb testing.TB, address, user string) string {
	tb.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	step := func(method, address string, form url.Values) string {
		r, err := http.NewRequestWithContext(tb.Context(), method, address, strings.NewReader(form.Encode()))
		if err != nil {
			tb.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := client.Do(r)
		if err != nil {
			tb.Fatal(err)
		}
		_ = response.Body.Close()
		next, err := response.Location()
		if err != nil {
			tb.Fatalf("the provider's %s answers %s and leads nowhere", r.URL.Path, response.Status)
		}
		return next.String()
	}
	form := step(http.MethodGet, address, nil)
	at, err := url.Parse(form)
	if err != nil {
		tb.Fatal(err)
	}
	done := step(http.MethodPost, form, url.Values{"id": {at.Query().Get("authRequestID")}, "username": {user}, "password": {Password}})
	return step(http.MethodGet, done, nil)
}

// accounts is the provider's store of users.
type accounts []User

var _ storage.UserStore = accounts{}

// GetUserByID implements storage.UserStore.
func (a accounts) GetUserByID(id string) *storage.User {
	for _, user := range a {
		if user.ID == id {
			return &storage.User{ID: id, Username: id, Password: Password, Email: user.Email, EmailVerified: user.Verified}
		}
	}
	return nil
}

// GetUserByUsername implements storage.UserStore.
func (a accounts) GetUserByUsername(name string) *storage.User { return a.GetUserByID(name) }

// ExampleClientID implements storage.UserStore.
func (a accounts) ExampleClientID() string { return storage.ServiceUserID }
