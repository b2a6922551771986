package emailtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// Sink is an SMTP server that keeps what it is sent and misbehaves on command.
type Sink struct {
	Port     int
	Username string
	Password string
	// Token is what OAUTHBEARER and XOAUTH2 take; they are offered where it is set, and then
	// nothing else is. Set it before anybody connects.
	Token func() string
	// Bearers are the mechanisms with a token; nil is both.
	Bearers []string

	mu      sync.Mutex
	changed chan struct{} // closed with the next mail
	mails   []Mail
	faults  []Fault
	gone    map[string]bool
	limit   int
}

// Mail is one that the server has taken.
type Mail struct {
	From string
	To   []string
	Raw  string
}

// Fault is how the server misbehaves with one mail.
type Fault struct {
	// Greeting is said in place of everything; then the connection ends.
	Greeting string
	// Refuse ends the connection before anything is said.
	Refuse bool
	// Stall says nothing, and waits.
	Stall bool
	// At is where Reply is given: "mail", "rcpt" or "data" (after the mail).
	At    string
	Reply *smtp.SMTPError
	// Lose takes the mail, and ends the connection in place of the answer.
	Lose bool
	// Cut is Lose after half an answer.
	Cut bool
	// To makes it one for mail to that address; for "data", Lose and Cut.
	To string
}

func (f Fault) meets(m Mail) bool { return f.To == "" || slices.Contains(m.To, f.To) }

// NewSink starts a server; it ends with the test.
func NewSink(t testing.TB) *Sink {
	t.Helper()
	s := &Sink{Username: "bot", Password: "smtp-Secret-0123456789", gone: map[string]bool{}, changed: make(chan struct{})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.Port = l.Addr().(*net.TCPAddr).Port
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &visit{s: s, conn: c.Conn()}, nil
	}))
	server.Domain = "smtp.example.test"
	server.AllowInsecureAuth = true
	server.ErrorLog = quiet{}
	go func() { _ = server.Serve(gate{l, s}) }()
	t.Cleanup(func() { server.Close() })
	return s
}

// Break plans a fault for the next mail.
func (s *Sink) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}

// Gone makes a recipient one that does not exist.
func (s *Sink) Gone(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone[address] = true
}

// Limit is the largest mail that is taken, in bytes; 0 is none.
func (s *Sink) Limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = n
}

// Mails are those taken so far. A copy with a Message-ID that came before is
// shown once, as mail programs do.
func (s *Sink) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	var mails []Mail
	for _, m := range s.mails {
		id := header(m.Raw, "Message-ID")
		if id == "" || !seen[id] {
			mails = append(mails, m)
		}
		seen[id] = true
	}
	return mails
}

// Await waits for a mail that fits, be it one that is there already; false when ctx ends.
func (s *Sink) Await(ctx context.Context, fits func(Mail) bool) (Mail, bool) {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		for _, m := range s.Mails() {
			if fits(m) {
				return m, true
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Mail{}, false
		}
	}
}

// Faults are how many planned ones have not happened yet.
func (s *Sink) Faults() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.faults)
}

// Copies are all mails taken so far.
func (s *Sink) Copies() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.mails...)
}

func header(raw, name string) string {
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return ""
	}
	return m.Header.Get(name)
}

// fault takes the next one, if it is of a kind that fits here.
func (s *Sink) fault(fits func(Fault) bool) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 || !fits(s.faults[0]) {
		return Fault{}, false
	}
	f := s.faults[0]
	s.faults = s.faults[1:]
	return f, true
}

// gate applies the faults that need no SMTP.
type gate struct {
	net.Listener
	s *Sink
}

func (g gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		f, broken := g.s.fault(func(f Fault) bool { return f.Refuse || f.Stall || f.Greeting != "" })
		switch {
		case !broken:
			return conn, nil
		case f.Stall:
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				conn.Close()
			}()
		default:
			_, _ = conn.Write([]byte(f.Greeting))
			conn.Close()
		}
	}
}

type visit struct {
	s    *Sink
	conn net.Conn
	mail Mail
}

func (v *visit) AuthMechanisms() []string {
	switch {
	case v.s.Token == nil:
		return []string{sasl.Plain}
	case v.s.Bearers != nil:
		return v.s.Bearers
	default:
		return []string{sasl.OAuthBearer, "XOAUTH2"}
	}
}

func (v *visit) Auth(mechanism string) (sasl.Server, error) {
	switch mechanism {
	case sasl.OAuthBearer:
		return sasl.NewOAuthBearerServer(func(o sasl.OAuthBearerOptions) *sasl.OAuthBearerError {
			if o.Username != v.s.Username || o.Token != v.s.Token() {
				return &sasl.OAuthBearerError{Status: "invalid_token"}
			}
			return nil
		}), nil
	case "XOAUTH2":
		return &xoauth2{want: "user=" + v.s.Username + "\x01auth=Bearer " + v.s.Token() + "\x01\x01"}, nil
	}
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != v.s.Username || password != v.s.Password {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

// xoauth2 is the server's side, as Google's has it.
type xoauth2 struct {
	want  string
	asked bool
}

func (x *xoauth2) Next(response []byte) (challenge []byte, done bool, err error) {
	switch {
	case response == nil && !x.asked:
		return []byte{}, false, nil
	case x.asked:
		return nil, true, smtp.ErrAuthFailed
	case string(response) == x.want:
		return nil, true, nil
	}
	x.asked = true
	return []byte(`{"status":"400","schemes":"Bearer","scope":"https://mail.example.test/"}`), false, nil
}

func (v *visit) Mail(from string, _ *smtp.MailOptions) error {
	v.mail = Mail{From: from}
	return v.reply("mail")
}

func (v *visit) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := v.reply("rcpt"); err != nil {
		return err
	}
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.s.gone[to] {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user here"}
	}
	v.mail.To = append(v.mail.To, to)
	return nil
}

func (v *visit) reply(at string) error {
	if f, broken := v.s.fault(func(f Fault) bool { return f.At == at && f.Reply != nil && f.meets(v.mail) }); broken {
		return f.Reply
	}
	return nil
}

func (v *visit) Data(r io.Reader) error {
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(r); err != nil {
		return err
	}
	if err := v.reply("data"); err != nil {
		return err
	}
	v.s.mu.Lock()
	limit := v.s.limit
	v.s.mu.Unlock()
	if limit > 0 && raw.Len() > limit {
		return &smtp.SMTPError{Code: 552, EnhancedCode: smtp.EnhancedCode{5, 3, 4}, Message: "message too big"}
	}
	v.mail.Raw = raw.String()
	v.s.mu.Lock()
	v.s.mails = append(v.s.mails, v.mail)
	close(v.s.changed)
	v.s.changed = make(chan struct{})
	v.s.mu.Unlock()
	if f, broken := v.s.fault(func(f Fault) bool { return (f.Lose || f.Cut) && f.meets(v.mail) }); broken {
		if f.Cut {
			_, _ = v.conn.Write([]byte("25"))
		}
		v.conn.Close()
		return errors.New("the answer is lost")
	}
	return nil
}

func (v *visit) Reset()        { v.mail = Mail{} }
func (v *visit) Logout() error { return nil }

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// Patience is how long tests wait for what a server does.
const Patience = 20 * time.Second
