package doctor

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/connectors/telegram"
)

const (
	// fresh is how long ago a failed delivery still says something about now.
	fresh = time.Hour
	// backlog is how many updates may wait for delivery without a word about it.
	backlog = 20
)

// TelegramBot is what is asked; *telegram.Connector is one.
type TelegramBot interface {
	Check(ctx context.Context) (telegram.Account, error)
	Knock(ctx context.Context, base string, withSecret bool) (status int, err error)
}

// Telegram is the bot there.
type Telegram struct {
	Config *config.Config
	// Bot is nil where it could not be made; then Err says why.
	Bot TelegramBot
	Err error
	// Gateway is where the gateway answers from here; empty where that is not known.
	Gateway string
	// Now is the clock; optional.
	Now func() time.Time
}

// Check notes whether messages reach us, and whose are heard.
func (t Telegram) Check(ctx context.Context, n *Notes) {
	if !n.usable("telegram", "LARACLAW_TELEGRAM_TOKEN", t.Config.Telegram.Enabled, t.Config.Telegram.Token != "", t.Err) {
		return
	}
	account, err := t.Bot.Check(ctx)
	if account.ID != 0 {
		n.OK("token", "@%s", account.Username)
	}
	switch {
	case err != nil && account.ID != 0:
		n.Fail("updates", t.unreached(err), "%s", words(err))
	case err != nil && passing(err):
		n.Fail("token", t.unreached(err), "%s", words(err))
		return
	case err != nil:
		n.Fail("token", "copy it from @BotFather (/mybots, API Token) to LARACLAW_TELEGRAM_TOKEN", "Telegram does not know it: %s", words(err))
		return
	case account.ID == 0:
		n.Fail("token", "check telegram.api_url", "what answers there is no Bot API: it names no bot")
		return
	case t.Config.Telegram.Mode == config.ModePolling:
		t.polling(account.Hook, n)
	default:
		t.webhook(ctx, account.Hook, n)
	}
	t.groups(account, n)
	t.people(n)
}

func (t Telegram) unreached(err error) string {
	if mend, ok := busy(err); ok {
		return mend
	}
	return "check the way to " + place(t.Config.Telegram.APIURL) + " (telegram.api_url, firewall, proxy) and try again"
}

func (t Telegram) polling(hook telegram.Hook, n *Notes) {
	if hook.URL == "" {
		n.OK("updates", "are fetched (long polling); %d wait", hook.Pending)
		return
	}
	n.Fail("updates", "start the worker again: it takes the webhook away. If it comes back, another installation uses this bot: give each a bot of its own",
		"a webhook is left over, at %s: while it is set, Telegram answers polling with 409 Conflict", place(hook.URL))
}

func (t Telegram) webhook(ctx context.Context, hook telegram.Hook, n *Notes) {
	const again = "start the gateway again: it registers the webhook. "
	t.address(n)
	switch {
	case hook.URL == "" && hook.Want == "":
		n.Fail("webhook", "set public_url (COUNTERSIGN_PUBLIC_URL) to the https address of the gateway, or telegram.mode to polling",
			"none is set, and without public_url none is registered")
	case hook.URL == "" && t.running(ctx):
		n.Fail("webhook", again+"Where it does, its log says what Telegram has against it", "none is set; it should lead to %s", hook.Want)
	case hook.URL == "":
		n.Warn("webhook", "start the gateway: it registers the webhook", "none is set yet; it will lead to %s", hook.Want)
	case hook.Want == "" && strings.HasSuffix(hook.URL, telegram.WebhookPath):
		n.OK("webhook", "set by hand, to %s", place(hook.URL))
	case hook.Want == "":
		n.Warn("webhook", "set public_url, or call setWebhook with an address that ends in "+telegram.WebhookPath,
			"it leads to %s, which is not the gateway's path", place(hook.URL))
	case hook.URL != hook.Want:
		n.Fail("webhook", again+"If it changes back, another installation uses this bot: give each a bot of its own",
			"it leads to %s and not to %s", place(hook.URL), hook.Want)
	default:
		n.OK("webhook", "%s", hook.URL)
	}
	if hook.URL != "" {
		t.deliveries(hook, n)
	}
	if len(hook.Unheard) > 0 {
		n.Fail("kinds", again+"It asks for what it needs", "Telegram does not send: %s", list(hook.Unheard))
	}
	t.secret(ctx, n)
}

// running tells whether a gateway has started, and should have registered.
func (t Telegram) running(ctx context.Context) bool {
	if t.Gateway == "" {
		return true
	}
	_, err := t.Bot.Knock(ctx, t.Gateway, false)
	return err == nil
}

// address is what Telegram itself asks of one (setWebhook); servers of one's own ask less.
func (t Telegram) address(n *Notes) {
	api, err := url.Parse(t.Config.Telegram.APIURL)
	public, wrong := url.Parse(t.Config.PublicURL)
	if err != nil || wrong != nil || api.Hostname() != "api.telegram.org" || t.Config.PublicURL == "" {
		return
	}
	if public.Scheme != "https" {
		n.Fail("public_url", "write https://… and put a proxy with TLS before the gateway, or set telegram.mode to polling",
			"%s is not https: Telegram takes no other", t.Config.PublicURL)
	}
	if ports := []string{"", "443", "80", "88", "8443"}; !slices.Contains(ports, public.Port()) {
		n.Fail("public_url", "use one of the ports 443, 80, 88 and 8443", "Telegram calls no webhook at port %s", public.Port())
	}
}

func (t Telegram) deliveries(hook telegram.Hook, n *Notes) {
	now := time.Now
	if t.Now != nil {
		now = t.Now
	}
	ago := now().Sub(hook.LastAt)
	mend := "see gateway and public_url; the gateway's log has the same calls"
	if strings.Contains(hook.LastError, "401") { // the status that only the secret gives; Telegram has no code for it
		mend = "the webhook was registered with another secret: start the gateway again, with the same telegram.webhook_secret everywhere"
	}
	switch {
	case hook.LastError != "" && ago < fresh && hook.Pending > 0:
		n.Fail("deliveries", mend, "%d updates wait; Telegram says, %s ago: %s", hook.Pending, ago.Round(time.Second), hook.LastError)
	case hook.LastError != "" && ago < fresh:
		n.Warn("deliveries", mend, "none waits, but %s ago Telegram said: %s", ago.Round(time.Second), hook.LastError)
	case hook.Pending > backlog:
		n.Warn("deliveries", "look whether the number falls; if not, see the gateway's log and temporal", "%d updates wait", hook.Pending)
	default:
		n.OK("deliveries", "%d updates wait", hook.Pending)
	}
}

// secret calls our own webhook as Telegram does, where a gateway answers at all.
func (t Telegram) secret(ctx context.Context, n *Notes) {
	base := t.Config.PublicURL
	if base == "" || !private(base) {
		base = t.Gateway // the secret is not sent where others read along
	}
	if base == "" {
		n.Off("secret", "not tried: it is not known where the gateway is")
		return
	}
	without, err := t.Bot.Knock(ctx, base, false)
	if err != nil && base != t.Gateway && t.Gateway != "" {
		base = t.Gateway
		without, err = t.Bot.Knock(ctx, base, false)
	}
	if err != nil {
		n.Off("secret", "not tried: no gateway answers at %s", base)
		return
	}
	with, err := t.Bot.Knock(ctx, base, true)
	if err != nil {
		n.Warn("secret", "try again", "%s: %s", base, words(err))
		return
	}
	at := base + telegram.WebhookPath
	switch {
	case without == http.StatusUnauthorized && with == http.StatusOK:
		n.OK("secret", "%s takes ours, and refuses calls without it", at)
	case without == http.StatusUnauthorized && with == http.StatusUnauthorized:
		n.Fail("secret", "start the gateway again: it was started with another telegram.webhook_secret than this one", "%s refuses it", at)
	case without == http.StatusOK:
		n.Fail("secret", "let public_url lead to the gateway itself: it never takes calls without the secret", "%s takes calls without it", at)
	case without == http.StatusNotFound || without == http.StatusMethodNotAllowed:
		n.Fail("secret", "start the gateway again with this configuration, and let the proxy pass "+telegram.WebhookPath+" on",
			"%s answers %d: no webhook there", at, without)
	default:
		n.Fail("secret", "look into the log of the gateway, or of the proxy before it", "%s answers %d without the secret and %d with it", at, without, with)
	}
}

func (t Telegram) groups(account telegram.Account, n *Notes) {
	if account.Privacy {
		n.Warn("groups", "for groups: @BotFather, /setprivacy, Disable; then take the bot out of the group and add it again, or make it an administrator",
			"privacy mode is on: there a plain `yes` does not arrive, only buttons, mentions of the bot and replies to it")
		return
	}
	n.OK("groups", "the bot hears everybody")
}

func (t Telegram) people(n *Notes) {
	known := 0
	for _, person := range t.Config.People {
		if len(person.Telegram) > 0 {
			known++
		}
	}
	if known == 0 {
		n.Warn("people", "write the numeric ids under people (docs/connectors/telegram.md says how to find yours)",
			"nobody has a Telegram id: private messages are dropped")
		return
	}
	n.OK("people", "%d with an id", known)
}

var _ TelegramBot = (*telegram.Connector)(nil)
