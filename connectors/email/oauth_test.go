package email_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

// issuer is a server that gives out tokens (RFC 6749) and tells about them (RFC 7662).
type issuer struct {
	*httptest.Server

	mu      sync.Mutex
	good    string // the token that is good now
	issued  int
	refresh string // the refresh token that is good now; "" for the client's own
	fails   []string
	asked   []string // the grants
}

const clientSecret = "client-Secret-0123456789"

func newIssuer(t testing.TB, refresh string) *issuer {
	t.Helper()
	i := &issuer{refresh: refresh}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /introspect", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{"active": r.FormValue("token") == i.good, "username": "bot", "sub": "bot"})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	i.asked = append(i.asked, r.FormValue("grant_type"))
	refuse := func(status int, code string) {
		w.WriteHeader(status)
		_, secret, _ := r.BasicAuth()
		fmt.Fprintf(w, `{"error":%q,"error_description":"no good: %s %s %s"}`, code, r.FormValue("refresh_token"), secret, r.FormValue("client_secret"))
	}
	_, secret, _ := r.BasicAuth()
	switch {
	case len(i.fails) > 0:
		code := i.fails[0]
		i.fails = i.fails[1:]
		refuse(http.StatusServiceUnavailable, code)
	case secret != clientSecret && r.FormValue("client_secret") != clientSecret:
		refuse(http.StatusUnauthorized, "invalid_client")
	case r.FormValue("refresh_token") != i.refresh:
		refuse(http.StatusBadRequest, "invalid_grant")
	default:
		i.issued++
		i.good = fmt.Sprintf("access-Secret-%d", i.issued)
		answer := map[string]any{"access_token": i.good, "token_type": "Bearer", "expires_in": 3600}
		if i.refresh != "" { // a new one each time
			i.refresh = fmt.Sprintf("refresh-Secret-%d", i.issued)
			answer["refresh_token"] = i.refresh
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// revoke makes the token of now no good, before its time.
func (i *issuer) revoke() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.good = "none"
}

func (i *issuer) current() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.good
}

func (i *issuer) oauth(refresh string) email.OAuth {
	return email.OAuth{TokenURL: i.URL + "/token", ClientID: "client", ClientSecret: clientSecret, RefreshToken: refresh, Scopes: []string{"mail"}}
}

// Dovecot asks the issuer about the token; the mailbox is read and written without a password.
func TestOAuth(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ refresh, grant string }{
		"the mailbox's owner": {"refresh-Secret-0", "refresh_token"},
		"the client itself":   {"", "client_credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, tt.refresh)
			p := newPost(t, emailtest.NewDovecotOAuth(t, i.URL+"/introspect?token="), time.Hour, func(q *email.Params) {
				q.IMAP.Password, q.SMTP.Password, q.OAuth = "", "", i.oauth(tt.refresh)
			})
			p.sink.Token = i.current
			p.listen(t, "")
			p.deliver(t, id(1), "hello")
			p.await(t, 1)
			_, err := p.Post(t.Context(), card("i-1"))
			require.NoError(t, err)
			require.Equal(t, []string{tt.grant}, i.asked, "one token for both servers")

			// One that has been revoked costs a try; then there is a new one.
			i.revoke()
			_, err = p.Post(t.Context(), card("i-2"))
			classified(t, err, true)
			_, err = p.Post(t.Context(), card("i-2"))
			require.NoError(t, err)
			p.server.Stop()
			p.server.Start(t)
			p.deliver(t, id(2), "and again")
			require.Equal(t, "and again", p.await(t, 2)[1].Text)
			p.halt(t)
			for _, secret := range []string{clientSecret, "access-Secret", "refresh-Secret"} {
				require.NotContains(t, p.log.String()+fmt.Sprint(err), secret)
			}
		})
	}
}

func TestOAuthMechanisms(t *testing.T) {
	t.Parallel()
	for _, mechanism := range []string{"OAUTHBEARER", "XOAUTH2", "CRAM-MD5"} {
		b := newBench(t, func(p *email.Params) { p.SMTP.Password, p.OAuth = "", email.OAuth{AccessToken: "access-Secret-1"} })
		b.sink.Token, b.sink.Bearers = func() string { return "access-Secret-1" }, []string{mechanism}
		_, err := b.Post(t.Context(), card("i-1"))
		if mechanism == "CRAM-MD5" {
			require.ErrorContains(t, err, "neither AUTH OAUTHBEARER nor XOAUTH2")
			classified(t, err, false)
			continue
		}
		require.NoError(t, err, mechanism)
		// The server takes another one by now.
		b.sink.Token = func() string { return "access-Secret-2" }
		_, err = b.Post(t.Context(), card("i-2"))
		require.NotContains(t, err.Error(), "access-Secret")
		classified(t, err, false)
	}
}

// What the token's server says is told without secrets, and only its word is final.
func TestOAuthRefused(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, "refresh-Secret-0")
	post := func(o email.OAuth) error {
		b := newBench(t, func(p *email.Params) { p.SMTP.Password, p.OAuth = "", o })
		b.sink.Token = i.current
		_, err := b.Post(t.Context(), card("i-1"))
		require.Error(t, err)
		for _, secret := range append(b.secrets(), clientSecret, "refresh-Secret", "other-Secret") {
			require.NotContains(t, err.Error(), secret)
		}
		return err
	}
	err := post(i.oauth("refresh-Secret-other"))
	require.Contains(t, err.Error(), "invalid_grant")
	classified(t, err, false)
	wrong := i.oauth("refresh-Secret-0")
	wrong.ClientSecret = "other-Secret-0123456789"
	classified(t, post(wrong), false)
	i.mu.Lock()
	i.fails = []string{"temporarily_unavailable", "temporarily_unavailable"} // the library tries in two ways
	i.mu.Unlock()
	classified(t, post(i.oauth("refresh-Secret-0")), true)
	away := i.oauth("refresh-Secret-0")
	away.TokenURL = "http://127.0.0.1:1/token"
	err = post(away)
	require.NotContains(t, err.Error(), "refresh")
	classified(t, err, true)
}
