package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// The values of Params.Mode: how updates come in.
const (
	Webhook = "webhook"
	Polling = "polling"
)

// DefaultAPIURL is Telegram's own server.
const DefaultAPIURL = "https://api.telegram.org"

// WebhookPath is where Start tells Telegram to post updates, below Params.PublicURL.
const WebhookPath = "/telegram/webhook"

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
	// Token from BotFather. It appears in no error and no log.
	Token string
	// APIURL of the Bot API server; optional, DefaultAPIURL. Methods are at
	// {APIURL}/bot{token}/{method}, files at {APIURL}/file/bot{token}/{file_path}.
	APIURL string
	// Mode is Webhook or Polling; optional, Webhook.
	Mode string
	// WebhookSecret is compared with each webhook call; required in Webhook mode.
	WebhookSecret string
	// PublicURL of the gateway; optional: without it no webhook is registered.
	PublicURL string
	// Identify maps "telegram:1001" to a configured person; a stranger has no Name.
	Identify func(platformID string) chat.Person
	Desk     chat.Desk
	Files    Files
	// Languages say how a person is spoken to; optional, English.
	Languages words.Choice
	// RateLimit tells whether one more message of this chat may come in now; optional.
	RateLimit func(chatID string) bool
	HTTP      *http.Client     // optional
	Logger    *slog.Logger     // optional: nothing is logged
	Now       func() time.Time // optional: time.Now
	// PollTimeout is how long Telegram holds an empty getUpdates; optional, 50 s.
	PollTimeout time.Duration
}

// Connector is the Telegram connector. Its methods may be called from several goroutines.
type Connector struct {
	api       *api
	mode      string
	secret    string
	publicURL string
	identify  func(string) chat.Person
	desk      chat.Desk
	files     Files
	allow     func(string) bool
	languages words.Choice
	log       *slog.Logger
	now       func() time.Time
	timing    timing
	names     identity
	// admitted are the UUIDs of messages that the rate limit has let in: not asked
	// again for another part of an album, or a redelivery.
	admitted *recent[string, struct{}]
	// past is by update.
	past *recent[int64, history]

	mu   sync.Mutex
	self user // what getMe said; zero until then
}

// timing holds the waits, so that tests need not sit them out.
type timing struct {
	poll      time.Duration // Telegram holds an empty getUpdates that long
	deliver   time.Duration // the Desk has that long (CONTRACT §8: 503 within 5 s)
	download  time.Duration // all files of one message
	answer    time.Duration // answerCallbackQuery, best effort
	heartbeat time.Duration
	patience  time.Duration // files that cannot be had are waited for that long
	idle      time.Duration // an empty getUpdates takes at least that long
	backoff   time.Duration // the first wait after a failure while polling; doubles
	maxWait   time.Duration
}

// secretForm is what Telegram accepts as secret_token (Bot API, setWebhook).
var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// New checks the parameters and makes a Connector; it calls nobody.
func New(p Params) (*Connector, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Mode == "" {
		p.Mode = Webhook
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
	if p.PollTimeout <= 0 {
		p.PollTimeout = 50 * time.Second
	}
	if p.RateLimit == nil {
		p.RateLimit = func(string) bool { return true }
	}
	return &Connector{
		api:       newAPI(p.APIURL, p.Token, p.WebhookSecret, p.HTTP),
		mode:      p.Mode,
		secret:    p.WebhookSecret,
		publicURL: strings.TrimRight(p.PublicURL, "/"),
		identify:  p.Identify,
		desk:      p.Desk,
		files:     p.Files,
		allow:     p.RateLimit,
		languages: p.Languages,
		log:       p.Logger.With("connector", chat.Telegram),
		now:       p.Now,
		timing: timing{
			poll: p.PollTimeout, deliver: 4 * time.Second, download: 45 * time.Second,
			answer: 3 * time.Second, heartbeat: 5 * time.Second,
			patience: 2 * time.Minute, idle: 300 * time.Millisecond, backoff: time.Second, maxWait: 30 * time.Second,
		},
		names:    identityOf(p.Token),
		admitted: newRecent[string, struct{}](remembered),
		past:     newRecent[int64, history](remembered),
	}, nil
}

// check reports every problem at once.
func (p Params) check() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if strings.TrimSpace(p.Token) == "" {
		add("telegram.token is missing: take it from @BotFather")
	} else if strings.ContainsAny(p.Token, "/?#% \t\r\n") {
		add("telegram.token holds characters that no bot token has")
	}
	if p.APIURL != "" {
		if u, err := url.Parse(p.APIURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			add("telegram.api_url must be an http or https URL")
		}
	}
	switch p.Mode {
	case "", Webhook:
		if p.WebhookSecret == "" {
			add("telegram.webhook_secret is missing: webhook mode needs one (or set telegram.mode to polling)")
		} else if p.PublicURL != "" && !secretForm.MatchString(p.WebhookSecret) {
			add("telegram.webhook_secret must be 1-256 of A-Z a-z 0-9 _ -: Telegram refuses others")
		}
	case Polling:
	default:
		add("telegram.mode is %q: use webhook or polling", p.Mode)
	}
	if p.Identify == nil || p.Desk == nil || p.Files == nil {
		add("telegram: Identify, Desk and Files are required")
	}
	return errors.Join(problems...)
}

// Traits of CONTRACT §8.
func (c *Connector) Traits() chat.Traits {
	return chat.Traits{Name: chat.Telegram, Asks: true, DeletesOutbound: true}
}

// Start checks the token and, in webhook mode with a public URL, registers the webhook.
// A temporary *chat.Error means that Telegram was not reached: try again later;
// everything else of the connector works without Start.
func (c *Connector) Start(ctx context.Context) error {
	self, err := c.whoAmI(ctx)
	if err != nil {
		return err
	}
	c.log.Info("telegram bot is ready", "bot", self.Username, "mode", c.mode)
	if c.mode != Webhook || c.publicURL == "" {
		return nil
	}
	return c.api.call(ctx, "setWebhook", params{
		"url":             c.publicURL + WebhookPath,
		"secret_token":    c.secret,
		"allowed_updates": allowedUpdates,
	}, nil)
}

// whoAmI asks Telegram once who the bot is.
func (c *Connector) whoAmI(ctx context.Context) (user, error) {
	c.mu.Lock()
	self := c.self
	c.mu.Unlock()
	if self.ID != 0 {
		return self, nil
	}
	if err := c.api.call(ctx, "getMe", nil, &self); err != nil {
		return user{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self = self
	return self, nil
}
