package web

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gorilla/securecookie"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/web/openid"
	"github.com/countersignhq/countersign/gateway"
)

const (
	sessionCookie = "countersign_session"
	flashCookie   = "countersign_flash"
	sessionAge    = 30 * 24 * 60 * 60 // seconds
	flashAge      = 60
	attemptCookie = "countersign_signin"
	attemptAge    = 10 * 60
	// accountAge is how long a sign-in at an OpenID provider counts: nobody tells us when an account ends there.
	accountAge = 12 * time.Hour
)

// session is what the encrypted cookie holds. ID is the conversation's key and no secret.
type session struct {
	ID string `json:"id"`
	// Hash of the token that signed in; empty before. It is looked up at each request, so a
	// token that is taken out of the configuration ends its sessions.
	Hash string `json:"hash,omitempty"`
	// Account is the other way to sign in. It is looked up at each request too.
	Account *account `json:"account,omitempty"`
	// Language is what was chosen in the conversation (`!language`); empty for none.
	Language string `json:"language,omitempty"`
}

// account is one at an OpenID provider.
type account struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
	// Mail is empty where the provider did not prove it.
	Mail string `json:"mail,omitempty"`
	// Until is in seconds since 1970.
	Until int64 `json:"until"`
}

// begun is a sign-in at an OpenID provider, and what the browser wants to see after it.
type begun struct {
	openid.Attempt
	To string `json:"to,omitempty"`
}

// named tells whether somebody signed in with it.
func (s session) named() bool { return s.Hash != "" || s.Account != nil }

// visitor is who looks at the page.
type visitor struct {
	session
	person chat.Person
	owner  bool
	// language in which they are spoken to.
	language string
}

func (v visitor) thread() chat.Thread { return chat.Thread{Connector: chat.Web, Key: v.ID} }

// flash is one line about what the last POST did.
type flash struct {
	Kind string `json:"kind"` // good, bad or note
	Text string `json:"text"`
}

// cookies seals and opens what the browser keeps.
type cookies struct {
	session, flash, attempt *securecookie.SecureCookie
	csrf                    []byte
	secure                  bool
}

func newCookies(secret []byte, secure bool) (cookies, error) {
	if len(secret) < 32 {
		return cookies{}, errors.New("the page's secret must have at least 32 bytes")
	}
	key := func(use string) []byte {
		derived, err := hkdf.Key(sha256.New, secret, nil, "countersign web "+use, 32)
		if err != nil {
			panic(err) // only for lengths beyond 8160 bytes
		}
		return derived
	}
	sealed := func(use string, age int) *securecookie.SecureCookie {
		return securecookie.New(key(use+" mac"), key(use+" cipher")).
			MaxAge(age).SetSerializer(securecookie.JSONEncoder{})
	}
	return cookies{
		session: sealed("session", sessionAge), flash: sealed("flash", flashAge), attempt: sealed("attempt", attemptAge),
		csrf: key("csrf"), secure: secure,
	}, nil
}

func (c cookies) set(w http.ResponseWriter, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure follows public_url: on loopback there is no TLS
		Name: name, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteStrictMode,
	})
}

// setAttempt keeps a sign-in that has begun. The browser comes back from another site with it,
// so it is Lax, and for that one path only.
func (c cookies) setAttempt(w http.ResponseWriter, attempt begun) error {
	value, err := c.attempt.Encode(attemptCookie, attempt)
	if err != nil {
		return fmt.Errorf("seal the sign-in: %w", err)
	}
	c.lax(w, value, attemptAge)
	return nil
}

// takeAttempt returns it once.
func (c cookies) takeAttempt(w http.ResponseWriter, r *http.Request) (attempt begun) {
	c.lax(w, "", -1)
	cookie, err := r.Cookie(attemptCookie)
	if err != nil || c.attempt.Decode(attemptCookie, cookie.Value, &attempt) != nil {
		return begun{}
	}
	return attempt
}

func (c cookies) lax(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure follows public_url: on loopback there is no TLS
		Name: attemptCookie, Value: value, Path: accountPath, MaxAge: age,
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode,
	})
}

func (c cookies) setSession(w http.ResponseWriter, s session) error {
	value, err := c.session.Encode(sessionCookie, s)
	if err != nil {
		return fmt.Errorf("seal the session: %w", err)
	}
	c.set(w, sessionCookie, value, sessionAge)
	return nil
}

func (c cookies) readSession(r *http.Request) (s session, ok bool) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || c.session.Decode(sessionCookie, cookie.Value, &s) != nil || s.ID == "" {
		return session{}, false
	}
	return s, true
}

func (c cookies) setFlash(w http.ResponseWriter, said flash) {
	if value, err := c.flash.Encode(flashCookie, said); err == nil {
		c.set(w, flashCookie, value, flashAge)
	}
}

func (c cookies) takeFlash(w http.ResponseWriter, r *http.Request) *flash {
	cookie, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	c.set(w, flashCookie, "", -1)
	var f flash
	if c.flash.Decode(flashCookie, cookie.Value, &f) != nil {
		return nil
	}
	return &f
}

// token is what every form of this session carries.
func (c cookies) token(s session) string {
	mac := hmac.New(sha256.New, c.csrf)
	mac.Write([]byte(s.ID + "\n" + s.Hash))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (c cookies) forged(s session, token string) bool {
	return !hmac.Equal([]byte(c.token(s)), []byte(token))
}

// visitor returns who is signed in, if anybody. An agent never is.
func (p *page) visitor(r *http.Request) (v visitor, ok bool) {
	defer func() { v.language = p.spoken(r, v) }()
	s, ok := p.cookies.readSession(r)
	if !ok {
		return visitor{session: s}, false
	}
	person, role, known := p.whose(s)
	if !known || (role != gateway.RoleOwner && role != gateway.RoleApprover) {
		return visitor{session: s}, false
	}
	person.Owner = role == gateway.RoleOwner
	person.ID = chat.Web + ":" + person.Key() // who it is here; the configured name is what counts
	return visitor{session: s, person: person, owner: person.Owner}, true
}

// whose looks up who signed in with a session, as things stand now.
func (p *page) whose(s session) (person chat.Person, role string, known bool) {
	switch a := s.Account; {
	case s.Hash != "":
		return p.Identity.Token(s.Hash)
	case a != nil && p.Provider != nil && a.Issuer == p.Provider.Issuer && p.Now().Unix() < a.Until:
		return p.Accounts.Account(a.Subject, a.Mail)
	}
	return chat.Person{}, "", false
}

// EnsureSecret returns the secret of the page's cookies from the file web.key in dataDir,
// and makes one if there is none. Gateways on several machines must share one.
func EnsureSecret(dataDir string) ([]byte, error) {
	path := filepath.Join(dataDir, "web.key")
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // never fails (crypto/rand)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		secret, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the page's secret: %w", err)
		}
		if len(secret) != len(fresh) {
			return nil, fmt.Errorf("the page's secret in %s is broken; delete the file and start again", path)
		}
		return secret, nil
	}
	if err != nil {
		return nil, fmt.Errorf("write the page's secret: %w", err)
	}
	_, err = file.Write(fresh)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("write the page's secret: %w", err)
	}
	return fresh, nil
}
