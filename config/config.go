package config

import "time"

// Config is all that Countersign can be told. [Load] makes one.
type Config struct {
	HTTP HTTP `koanf:"http"`
	// DataDir holds the state of `make run`, and the gateway's token file.
	DataDir string `koanf:"data_dir" default:".countersign"`
	// PublicURL is the address that platforms reach the gateway at, without a
	// trailing slash; webhooks are registered only when it is set.
	PublicURL string `koanf:"public_url"`
	// Examples switches the example tools and their pages on; where it is not set,
	// they are on with --dev only.
	Examples bool `koanf:"examples"`

	// ConfirmTimeout is how long a question waits where its operation names no time.
	ConfirmTimeout time.Duration `koanf:"confirm_timeout" default:"120s"`
	// HandoffTimeout is the same for handoffs.
	HandoffTimeout time.Duration `koanf:"handoff_timeout" default:"5m"`
	// Unsupported says what an operation that would ask does where nobody can be asked.
	Unsupported string `koanf:"unsupported" default:"run"`
	// ApprovalRoute is where such a question goes with UnsupportedRoute: connector:thread_key.
	ApprovalRoute string `koanf:"approval_route"`
	// Stacking says what a second question in one conversation does to the first.
	Stacking string `koanf:"stacking" default:"supersede"`
	// WebhookRateLimit is in messages a minute; 0 means no limit.
	WebhookRateLimit int `koanf:"webhook_rate_limit" env:"LARACLAW_WEBHOOK_RATE_LIMIT" default:"20"`

	// Language is spoken to all whose own is not known (BCP 47); there is a catalog for it.
	Language string   `koanf:"language" default:"en"`
	People   []Person `koanf:"people"`
	// Conversations are settings by connector:thread_key; the key of a group or channel counts for
	// all topics and threads in it.
	Conversations map[string]Conversation `koanf:"conversations"`
	// Disks are names and their URLs; "local" is always there. An URL may hold
	// credentials and is not for logs.
	Disks map[string]string `koanf:"disks"`
	// AllowedDisks are the disks that the agent sees.
	AllowedDisks []string          `koanf:"allowed_disks" env:"LARACLAW_ALLOWED_DISKS" default:"local"`
	Attachments  Attachments       `koanf:"attachments"`
	Policy       map[string]Policy `koanf:"policy"`
	// Scope limits tools, or single operations, to connectors and people (CONTRACT §1, step 2).
	Scope map[string]Scope `koanf:"scope"`

	Telegram Telegram `koanf:"telegram"`
	Slack    Slack    `koanf:"slack"`
	Email    Email    `koanf:"email"`
	OIDC     OIDC     `koanf:"oidc"`
	Redis    Redis    `koanf:"redis"`
	Temporal Temporal `koanf:"temporal"`

	// Warnings are worth a line in the log but stop nothing.
	Warnings []string `koanf:"-"`

	sources map[string]string
}

// The values of Config.Unsupported (CONTRACT §2).
const (
	UnsupportedRun   = "run"
	UnsupportedDeny  = "deny"
	UnsupportedRoute = "route"
)

// The values of Config.Stacking (CONTRACT §3).
const (
	StackingSupersede = "supersede"
	StackingQueue     = "queue"
)

// The values of Telegram.Mode and Slack.Mode (CONTRACT §8).
const (
	ModeWebhook = "webhook" // telegram
	ModePolling = "polling" // telegram
	ModeEvents  = "events"  // slack
	ModeSocket  = "socket"  // slack
)

// Conversation is what is set for one conversation.
type Conversation struct {
	// Language is spoken there to all whose own is not known.
	Language string `koanf:"language"`
}

// HTTP is the gateway's server.
type HTTP struct {
	// Addr is the host:port it listens at.
	Addr string `koanf:"addr" default:"127.0.0.1:8080"`
	// MaxUpload bounds one message with its files that comes in by the API or the page, in bytes.
	MaxUpload int64 `koanf:"max_upload" default:"268435456"`
}

// Attachments is the one disk for files that come in and go out (CONTRACT §6).
type Attachments struct {
	Disk         string `koanf:"disk" env:"LARACLAW_ATTACHMENTS_DISK" default:"local"`
	IncomingPath string `koanf:"incoming_path" env:"LARACLAW_INCOMING_ATTACHMENTS_PATH" default:"inbound"`
	OutgoingPath string `koanf:"outgoing_path" env:"LARACLAW_OUTGOING_ATTACHMENTS_PATH" default:"outbound"`
	// Keep is how long a message's files stay; 0 is for ever.
	Keep time.Duration `koanf:"keep" default:"720h"`
}

// Telegram is the bot there; see https://core.telegram.org/bots/api.
type Telegram struct {
	// Enabled is on when there is a token, unless it was set to false.
	Enabled bool   `koanf:"enabled" env:"LARACLAW_TELEGRAM_ENABLED"`
	Token   Secret `koanf:"token" env:"LARACLAW_TELEGRAM_TOKEN"`
	// Mode is ModeWebhook where public_url or webhook_secret is set, else ModePolling.
	Mode string `koanf:"mode"`
	// APIURL has methods at {api_url}/bot{token}/{method}, files at {api_url}/file/bot{token}/{path}.
	APIURL string `koanf:"api_url" default:"https://api.telegram.org"`
	// WebhookSecret is what Telegram sends in X-Telegram-Bot-Api-Secret-Token.
	WebhookSecret Secret `koanf:"webhook_secret"`
}

// Slack is the app there; see https://api.slack.com/authentication.
type Slack struct {
	// Enabled is on when there is a bot token, unless it was set to false.
	Enabled       bool   `koanf:"enabled" env:"LARACLAW_SLACK_ENABLED"`
	BotToken      Secret `koanf:"bot_token" env:"LARACLAW_SLACK_BOT_TOKEN"`
	AppToken      Secret `koanf:"app_token" env:"LARACLAW_SLACK_APP_TOKEN"`
	SigningSecret Secret `koanf:"signing_secret" env:"LARACLAW_SLACK_SIGNING_SECRET"`
	// BotUserID is asked of Slack where it is empty.
	BotUserID string `koanf:"bot_user_id" env:"LARACLAW_SLACK_BOT_USER_ID"`
	Mode      string `koanf:"mode" default:"events"`
	APIURL    string `koanf:"api_url" default:"https://slack.com/api"`
}

// Email is a mailbox that is read and written from.
type Email struct {
	// Enabled is on when there is an IMAP host, unless it was set to false.
	Enabled bool `koanf:"enabled" env:"LARACLAW_EMAIL_ENABLED"`
	// VerifySender wants DKIM or SPF passed and aligned with From.
	VerifySender bool `koanf:"verify_sender_dkim_and_spf" env:"LARACLAW_EMAIL_VERIFY_SENDER_DKIM_AND_SPF" default:"true"`
	// TrustedBorder is the host that takes mail in and whose Authentication-Results and
	// Received fields are believed; without it only DKIM proves a sender.
	TrustedBorder string `koanf:"trusted_border"`
	// TokenSecret keys what ties an answer to its question; one for all workers.
	TokenSecret Secret `koanf:"token_secret"`
	// PlusAddress puts that token into Reply-To (bot+token@…) too; false where the
	// mail server does not deliver such addresses.
	PlusAddress bool `koanf:"plus_address" default:"true"`
	// DNS is the server that is asked about senders' domains, an address with or without a
	// port; empty means the system's.
	DNS   string     `koanf:"dns"`
	IMAP  IMAP       `koanf:"imap"`
	SMTP  SMTP       `koanf:"smtp"`
	OAuth EmailOAuth `koanf:"oauth"`
}

// EmailOAuth signs in to IMAP and SMTP where these have a username and no password (RFC 7628).
type EmailOAuth struct {
	// TokenURL is asked for tokens: with RefreshToken, or without one for the client itself.
	TokenURL     string   `koanf:"token_url"`
	ClientID     string   `koanf:"client_id"`
	ClientSecret Secret   `koanf:"client_secret"`
	RefreshToken Secret   `koanf:"refresh_token"`
	Scopes       []string `koanf:"scopes"`
	// AccessToken is a fixed one, used where there is no TokenURL.
	AccessToken Secret `koanf:"access_token"`
}

// IMAP is the server that mail is read from.
type IMAP struct {
	Host string `koanf:"host" env:"LARACLAW_IMAP_HOST"`
	Port int    `koanf:"port" env:"LARACLAW_IMAP_PORT" default:"993"`
	// Encryption is ssl (TLS from the start), tls (STARTTLS) or none.
	Encryption string `koanf:"encryption" env:"LARACLAW_IMAP_ENCRYPTION" default:"ssl"`
	Username   string `koanf:"username" env:"LARACLAW_IMAP_USERNAME"`
	Password   Secret `koanf:"password" env:"LARACLAW_IMAP_PASSWORD"`
	Mailbox    string `koanf:"mailbox" env:"LARACLAW_IMAP_MAILBOX" default:"INBOX"`
}

// SMTP is the server that mail is sent through.
type SMTP struct {
	Host string `koanf:"host" env:"LARACLAW_SMTP_HOST"`
	Port int    `koanf:"port" env:"LARACLAW_SMTP_PORT" default:"587"`
	// Encryption is ssl (TLS from the start), tls (STARTTLS) or none.
	Encryption  string `koanf:"encryption" env:"LARACLAW_SMTP_ENCRYPTION" default:"tls"`
	Username    string `koanf:"username" env:"LARACLAW_SMTP_USERNAME"`
	Password    Secret `koanf:"password" env:"LARACLAW_SMTP_PASSWORD"`
	FromAddress string `koanf:"from_address" env:"LARACLAW_SMTP_FROM_ADDRESS"`
	FromName    string `koanf:"from_name" env:"LARACLAW_SMTP_FROM_NAME"`
}

// OIDC is the OpenID provider by which people sign in on the page, besides their tokens; off
// without an issuer. It sends browsers back to {public_url}/signin/oidc/callback.
type OIDC struct {
	// Issuer is the provider's address, written as the provider writes it.
	Issuer       string `koanf:"issuer"`
	ClientID     string `koanf:"client_id"`
	ClientSecret Secret `koanf:"client_secret"`
	// Scopes are asked for besides openid.
	Scopes []string `koanf:"scopes" default:"openid,email"`
	// Claim holds the address that people[].email is compared with. Where it is email, the provider
	// must say email_verified; with sub, only people[].oidc counts.
	Claim string `koanf:"claim" default:"email"`
}

// Redis is the server of the key contract (CONTRACT §5).
type Redis struct {
	// URL is a secret because it may hold a password; empty means that the
	// development stack's own server is used, or none.
	URL    Secret `koanf:"url" env:"REDIS_URL"`
	Prefix string `koanf:"prefix"`
	// Port of the embedded server; 0 takes a free one.
	Port int `koanf:"port" default:"6380"`
}

// Temporal holds what concerns the embedded dev server. A client's own
// settings are Temporal's (TEMPORAL_ADDRESS, temporal.toml) and not read here.
type Temporal struct {
	// Port of the embedded server; 0 takes a free one.
	Port int `koanf:"port" default:"7233"`
	// UIPort of its Web UI; 0 takes a free one.
	UIPort int `koanf:"ui_port" default:"8233"`
	// AddressSet tells whether TEMPORAL_ADDRESS is set: then nothing is embedded.
	AddressSet bool `koanf:"-"`
}

// Source tells where a key ("telegram.mode") was set: the file's name or the
// variable's; empty for a default.
func (c *Config) Source(key string) string { return c.sources[key] }

// IsSet tells whether a key was set at all, by the file or the environment.
func (c *Config) IsSet(key string) bool { return c.sources[key] != "" }
