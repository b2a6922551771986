package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/auth"
	"github.com/countersignhq/countersign/connectors/email/letter"
	"github.com/countersignhq/countersign/connectors/wire"
)

// The values of Server.Encryption.
const (
	TLS      = "ssl"  // from the start
	StartTLS = "tls"  // after STARTTLS, never without
	NoTLS    = "none" // for servers on this machine
)

// Server is where mail is read from or sent through.
type Server struct {
	Host       string
	Port       int
	Encryption string // optional, TLS
	// Username and Password; without a username SMTP sends without signing in. A username
	// without a password signs in with Params.OAuth.
	Username, Password string
	TLS                *tls.Config // optional
}

// Files is the attachments disk as this connector needs it.
type Files interface {
	// Save stores r under inbound/{uuid}/, with a number if the name is taken there;
	// after an error of r nothing stays behind.
	Save(ctx context.Context, uuid, name string, r io.Reader) (chat.File, error)
	// Saved returns the file that Save has stored there under this name, without a
	// number, with its hash; fs.ErrNotExist if there is none.
	Saved(ctx context.Context, uuid, name string) (chat.File, error)
	// Open reads what chat.File.Path names; fs.ErrNotExist if it is gone.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
}

// Params are what a Connector needs; those without "optional" are required.
type Params struct {
	IMAP    Server
	Mailbox string // optional, INBOX
	SMTP    Server
	OAuth   OAuth // optional
	// Address is the bot's own: mails are sent from it, and answers come back to it.
	Address string
	Name    string // of the bot, beside its address; optional
	// TokenSecret keys the tokens that tie an answer to its question: 16 bytes or
	// more, the same for all workers and over restarts.
	TokenSecret string
	// NoPlusAddress leaves the token out of Reply-To, for servers that do not
	// deliver bot+token@; it is in Message-ID all the same.
	NoPlusAddress bool

	// TrustFrom takes From at its word. Without it a sender has to be proven
	// by DKIM or SPF.
	TrustFrom bool
	// Border is the host whose Authentication-Results are believed; optional.
	Border string
	// Resolver is for the names that stand in mails; optional: auth.DNS("").
	Resolver auth.Resolver

	// Identify maps "email:ada@example.test" to a configured person; a stranger has no Name.
	Identify func(platformID string) chat.Person
	Desk     chat.Desk
	Files    Files
	// Bounced hears that a question has not arrived although the SMTP server took it; an error
	// is tried again for a while. Optional: it stands in the log alone.
	Bounced func(ctx context.Context, b Bounce) error
	Logger  *slog.Logger     // optional: nothing is logged
	Now     func() time.Time // optional: time.Now

	// PollEvery is how often the mailbox is looked at although the server says
	// nothing, and how long one IDLE lasts; optional, 3 minutes, at most 25.
	PollEvery time.Duration
	// MaxFile, MaxFiles and MaxMail bound one file, all of a mail (decoded), and
	// the mail (as it travels), in bytes; MaxParts its parts. Optional: 100 MB, 200 MB, 512 MB, 500.
	MaxFile, MaxFiles, MaxMail int64
	MaxParts                   int
	// SpoolDir holds a mail while it is read; optional, the system's.
	SpoolDir string
}

// Connector is the e-mail connector. Its methods may be called from several goroutines.
type Connector struct {
	imap, smtp Server
	bearer     *bearer // nil: passwords
	mailbox    string
	self       address
	name       string
	plus       bool
	secret     []byte
	trustFrom  bool
	checker    auth.Checker
	identify   func(string) chat.Person
	desk       chat.Desk
	files      Files
	onBounce   func(context.Context, Bounce) error
	log        *slog.Logger
	space      uuid.UUID // our part of all UUIDs
	now        func() time.Time
	limits     letter.Limits
	maxMail    int64
	spoolDir   string
	timing     timing
	taken      *recent
	buried     *recent // tokens of questions whose answer had its yes further down
	scrub      *strings.Replacer
}

// timing holds the waits, so that tests need not sit them out.
type timing struct {
	poll      time.Duration // one IDLE, and the net under it
	command   time.Duration // an IMAP server may take that long
	deliver   time.Duration // so may the Desk
	smtp      time.Duration // one step of SMTP
	send      time.Duration // all of one mail, without files
	sendFiles time.Duration // the same with files
	heartbeat time.Duration
	backoff   time.Duration // the first wait after a failure; doubles
	maxWait   time.Duration
	patience  time.Duration // a mail that cannot be read now is waited for
	refused   time.Duration // after the server's no, before the next worker tries
}

// New checks the parameters and makes a Connector; it calls nobody.
func New(p Params) (*Connector, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	fill(&p.Mailbox, "INBOX")
	fill(&p.IMAP.Encryption, TLS)
	fill(&p.SMTP.Encryption, TLS)
	fill(&p.PollEvery, 3*time.Minute)
	fill(&p.MaxFile, 100<<20)
	fill(&p.MaxFiles, 200<<20)
	fill(&p.MaxMail, 512<<20)
	fill(&p.MaxParts, 500)
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Resolver == nil {
		p.Resolver = auth.DNS("")
	}
	return &Connector{
		imap: p.IMAP, smtp: p.SMTP, bearer: newBearer(p.OAuth), mailbox: p.Mailbox, self: splitAddress(p.Address), name: p.Name,
		plus: !p.NoPlusAddress, secret: []byte(p.TokenSecret),
		trustFrom: p.TrustFrom, checker: auth.Checker{Resolver: p.Resolver, Border: p.Border},
		identify: p.Identify, desk: p.Desk, files: p.Files, onBounce: p.Bounced, log: p.Logger,
		space: uuid.NewSHA1(uuid.Nil, []byte("email "+p.TokenSecret)), now: p.Now,
		limits: letter.Limits{File: p.MaxFile, Files: p.MaxFiles, Count: p.MaxParts}, maxMail: p.MaxMail, spoolDir: p.SpoolDir,
		timing: timing{
			poll: min(p.PollEvery, 25*time.Minute), command: time.Minute, deliver: 10 * time.Second,
			smtp: 2 * time.Minute, send: time.Minute, sendFiles: 15 * time.Minute,
			heartbeat: 5 * time.Second, backoff: time.Second, maxWait: 30 * time.Second, patience: 2 * time.Minute, refused: time.Minute,
		},
		taken: newRecent(2000), buried: newRecent(500),
		scrub: wire.Scrubber(slices.Concat(secretsOf(p.IMAP), secretsOf(p.SMTP), []string{p.TokenSecret})...),
	}, nil
}

func fill[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}

// check reports every problem at once.
func (p Params) check() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, s := range []struct {
		key string
		Server
	}{{"email.imap", p.IMAP}, {"email.smtp", p.SMTP}} {
		if s.Host == "" {
			add("%s.host is missing", s.key)
		}
		if s.Port <= 0 || s.Port > 65535 {
			add("%s.port is %d: use the server's port", s.key, s.Port)
		}
		if !slices.Contains([]string{"", TLS, StartTLS, NoTLS}, s.Encryption) {
			add("%s.encryption is %q: use ssl, tls or none", s.key, s.Encryption)
		}
		switch {
		case s.Username == "" && s.Password != "":
			add("%s needs a username beside its password", s.key)
		case s.Username != "" && s.Password == "" && !p.OAuth.Used():
			add("%s needs a password beside its username, or email.oauth", s.key)
		}
	}
	if p.IMAP.Username == "" {
		add("email.imap.username is missing")
	}
	if p.OAuth.TokenURL != "" && p.OAuth.ClientID == "" {
		add("email.oauth needs a client_id beside its token_url")
	}
	if parsed, err := mail.ParseAddress(p.Address); err != nil || parsed.Address != strings.TrimSpace(p.Address) {
		add("email.smtp.from_address must be an address such as bot@example.test")
	}
	if len(p.TokenSecret) < 16 {
		add("email.token_secret must have 16 characters or more: openssl rand -hex 32 makes one")
	}
	if p.Identify == nil || p.Desk == nil || p.Files == nil {
		add("email: Identify, Desk and Files are required")
	}
	return errors.Join(problems...)
}

// Traits of CONTRACT §8.
func (c *Connector) Traits() chat.Traits {
	return chat.Traits{Name: chat.Email, Asks: true, DeletesOutbound: true}
}

// address is an addr-spec in two halves, lower case.
type address struct{ local, domain string }

func splitAddress(s string) address {
	s = letter.Lower(strings.TrimSpace(s))
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return address{local: s}
	}
	return address{s[:at], s[at+1:]}
}

func (a address) String() string { return a.local + "@" + a.domain }

// is tells whether other is this address, with or without something behind a plus.
func (a address) is(other address) bool {
	return other.domain == a.domain && (other.local == a.local || strings.HasPrefix(other.local, a.local+"+"))
}
