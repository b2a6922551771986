package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// The values of Params.Mode: how events come in.
const (
	Events = "events"
	Socket = "socket"
)

// DefaultAPIURL is Slack's own Web API.
const DefaultAPIURL = "https://slack.com/api"

// Where Slack sends its calls, below the public URL (CONTRACT §8).
const (
	EventsPath        = "/slack/webhook"
	InteractivityPath = "/slack/interactivity"
)

// Files is the attachments disk as this connector needs it.
type Files interface {
	// Save stores r under inbound/{uuid}/; after an error of r nothing stays behind.
	Save(ctx context.Context, uuid, name string, r io.Reader) (chat.File, error)
	// Open reads what chat.File.Path names; fs.ErrNotExist if it is gone.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
}

// Params are what a Connector needs; those without "optional" are required.
type Params struct {
	// BotToken ("xoxb-…") of the app in its workspace. Like the other two secrets it
	// appears in no error and no log, and goes to Slack's hosts only.
	BotToken string
	// AppToken ("xapp-…", scope connections:write); required in Socket mode.
	AppToken string
	// SigningSecret proves Slack's calls; required in Events mode.
	SigningSecret string
	// Mode is Events or Socket; optional, Events.
	Mode string
	// APIURL of the Web API; optional, DefaultAPIURL. Methods are at {APIURL}/{method}.
	// Its host also counts as one that may see the token, for files.
	APIURL string
	// BotUserID is the app's own user; optional: told by each event, or asked of Slack.
	BotUserID string
	// Identify maps "slack:T01/U01" to a configured person; a stranger has no Name.
	Identify func(platformID string) chat.Person
	// KnownThread tells whether the bot is in this thread of a channel: whether there
	// is a conversation of that key. It is asked only about messages that do not
	// mention the bot. An error makes Slack send the message again.
	KnownThread func(ctx context.Context, thread chat.Thread) (bool, error)
	Desk        chat.Desk
	Files       Files
	// Languages say how a person is spoken to; optional, English.
	Languages words.Choice
	// RateLimit tells whether one more message may come in now; optional. The key is
	// "channel:user".
	RateLimit func(key string) bool
	HTTP      *http.Client     // optional
	Logger    *slog.Logger     // optional: nothing is logged
	NewUUID   func() string    // for messages
	Now       func() time.Time // optional: time.Now. Signatures are always checked by the real clock.
}

// Connector is the Slack connector. Its methods may be called from several goroutines.
type Connector struct {
	api       *api
	mode      string
	secret    string
	botUser   string
	identify  func(string) chat.Person
	known     func(context.Context, chat.Thread) (bool, error)
	desk      chat.Desk
	files     Files
	allow     func(string) bool
	languages words.Choice
	log       *slog.Logger
	newUUID   func() string
	now       func() time.Time
	timing    timing
	dms       *directory
	flights   singleflight.Group
	taken     *memory // events, by id
	wholes    *memory // questions whose whole text Slack has as a file
	aside     errands
	skewAlarm atomic.Int64 // unix seconds of the last warning

	mu   sync.Mutex
	self string // the app's user as auth.test said; empty until then
}

// timing holds the waits, so that tests need not sit them out. Slack gives a call 3 s.
type timing struct {
	deliver   time.Duration // the Desk has that long for a message
	click     time.Duration // and for a press; it may take a second more to keep it
	download  time.Duration // all files of one message
	aside     time.Duration // what is done after the acknowledgement, best effort
	patience  time.Duration // a message older than that goes on without files that fail
	heartbeat time.Duration
	maxWait   time.Duration // between attempts to open a socket
	noEvent   time.Duration // a socket without Slack's ping for that long is dead
}

// New checks the parameters and makes a Connector; it calls nobody.
func New(p Params) (*Connector, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	p = p.filled()
	return &Connector{
		api: newAPI(p), mode: p.Mode, secret: p.SigningSecret, botUser: p.BotUserID,
		identify: p.Identify, known: p.KnownThread, desk: p.Desk, files: p.Files, allow: p.RateLimit, languages: p.Languages,
		log: p.Logger, newUUID: p.NewUUID, now: p.Now,
		timing: timing{
			deliver: 2500 * time.Millisecond, click: 1800 * time.Millisecond, download: 10 * time.Minute,
			aside: 5 * time.Second, patience: 45 * time.Second,
			heartbeat: 5 * time.Second, maxWait: 30 * time.Second, noEvent: 30 * time.Second,
		},
		dms:    &directory{channels: map[string]string{}},
		taken:  &memory{seen: map[string]struct{}{}},
		wholes: &memory{seen: map[string]struct{}{}},
	}, nil
}

func (p Params) filled() Params {
	if p.Mode == "" {
		p.Mode = Events
	}
	if p.APIURL == "" {
		p.APIURL = DefaultAPIURL
	}
	if p.HTTP == nil {
		p.HTTP = &http.Client{}
	}
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.RateLimit == nil {
		p.RateLimit = func(string) bool { return true }
	}
	return p
}

// check reports every problem at once.
func (p Params) check() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	token := func(key, value, where string) {
		if value == "" {
			add("slack.%s is missing: %s", key, where)
		} else if strings.ContainsAny(value, " \t\r\n") {
			add("slack.%s holds white space, which no token has", key)
		}
	}
	token("bot_token", p.BotToken, "take it from the app's page, OAuth & Permissions (xoxb-…)")
	switch p.Mode {
	case "", Events:
		token("signing_secret", p.SigningSecret, "events mode needs it; it is on the app's page, Basic Information (or set slack.mode to socket)")
	case Socket:
		token("app_token", p.AppToken, "socket mode needs one with connections:write (xapp-…)")
	default:
		add("slack.mode is %q: use events or socket", p.Mode)
	}
	if p.APIURL != "" {
		if u, err := url.Parse(p.APIURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			add("slack.api_url must be an http or https URL")
		}
	}
	if p.Identify == nil || p.KnownThread == nil || p.Desk == nil || p.Files == nil || p.NewUUID == nil {
		add("slack: Identify, KnownThread, Desk, Files and NewUUID are required")
	}
	return errors.Join(problems...)
}

// Traits of CONTRACT §8.
func (c *Connector) Traits() chat.Traits {
	return chat.Traits{Name: chat.Slack, Asks: true, DeletesOutbound: true}
}

// Wait returns when nothing is under way any more that nobody waits for: reactions and
// whispers, a few seconds each at most, and files that are still being fetched.
func (c *Connector) Wait() { c.aside.wait() }

// later does something that nobody waits for, for a few seconds at most.
func (c *Connector) later(do func(context.Context)) {
	c.aside.begin()
	go func() {
		defer c.aside.end()
		ctx, cancel := context.WithTimeout(context.Background(), c.timing.aside)
		defer cancel()
		do(ctx)
	}()
}

// errands counts what is under way. Unlike a sync.WaitGroup it may be waited for while
// others begin.
type errands struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n is 0; nil if nobody waits
}

func (e *errands) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n++
}

func (e *errands) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n--; e.n == 0 && e.idle != nil {
		close(e.idle)
		e.idle = nil
	}
}

func (e *errands) wait() {
	e.mu.Lock()
	if e.n == 0 {
		e.mu.Unlock()
		return
	}
	if e.idle == nil {
		e.idle = make(chan struct{})
	}
	idle := e.idle
	e.mu.Unlock()
	<-idle
}

// memory holds the latest of what was done. It only spares work (a file is not fetched
// twice); that an event has one effect is the Desk's doing.
type memory struct {
	mu   sync.Mutex
	seen map[string]struct{}
}

const maxRemembered = 4096

func (m *memory) has(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, has := m.seen[id]
	return has
}

func (m *memory) add(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen) >= maxRemembered {
		clear(m.seen)
	}
	m.seen[id] = struct{}{}
}
