package doctor_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/doctor"
)

// bot answers what it is told to.
type bot struct {
	account telegram.Account
	err     error
	// knocks are the statuses by address, without the secret and with it; nobody answers elsewhere.
	knocks map[string][2]int
	sent   []string // the addresses that saw the secret
}

func (b *bot) Check(context.Context) (telegram.Account, error) { return b.account, b.err }

func (b *bot) Knock(_ context.Context, base string, withSecret bool) (int, error) {
	statuses, ok := b.knocks[base]
	if !ok {
		return 0, temporary("connection refused")
	}
	if withSecret {
		b.sent = append(b.sent, base)
		return statuses[1], nil
	}
	return statuses[0], nil
}

const (
	public = "https://bot.example.test"
	own    = "http://127.0.0.1:8080"
	hook   = public + telegram.WebhookPath
)

const webhookFile = "public_url: " + public + "\ntelegram: {token: '1:abc', webhook_secret: hidden-0123456789}\n" +
	"people: [{name: ada, owner: true, telegram: [7]}]\n"

const pollingFile = "telegram: {token: '1:abc', mode: polling}\npeople: [{name: ada, owner: true, telegram: [7]}]\n"

func TestTelegram(t *testing.T) {
	t.Parallel()
	taken := map[string][2]int{public: {401, 200}}
	registered := telegram.Account{ID: 7, Username: "bot", Hook: telegram.Hook{URL: hook, Want: hook}}
	with := func(change func(*telegram.Account)) telegram.Account {
		a := registered
		change(&a)
		return a
	}
	well := []string{"ok token", "ok webhook", "ok deliveries", "ok secret", "ok groups", "ok people"}
	instead := func(i int, line ...string) []string {
		lines := append([]string(nil), well[:i]...)
		return append(append(lines, line...), well[i+1:]...)
	}
	for name, test := range map[string]struct {
		file string
		bot  bot
		want []string
		says string
	}{
		"off":              {"", bot{}, []string{"off telegram"}, "LARACLAW_TELEGRAM_TOKEN"},
		"switched off":     {"telegram: {token: '1:abc', enabled: false}", bot{}, []string{"off telegram"}, "telegram.enabled"},
		"well":             {webhookFile, bot{account: registered, knocks: taken}, well, hook},
		"a wrong token":    {webhookFile, bot{err: final("401 Unauthorized")}, []string{"fail token"}, "@BotFather"},
		"not reached":      {webhookFile, bot{err: temporary("status 200: invalid character '<'")}, []string{"fail token"}, "https://api.telegram.org/…"},
		"too many":         {webhookFile, bot{err: &chat.Error{Op: "call", Temporary: true, RetryAfter: 7 * time.Second, Err: errorOf("429")}}, []string{"fail token"}, "try again in 7s"},
		"no bot":           {webhookFile, bot{}, []string{"fail token"}, "telegram.api_url"},
		"hook not told":    {webhookFile, bot{account: telegram.Account{ID: 7}, err: temporary("502")}, []string{"ok token", "fail updates", "ok groups", "ok people"}, "502"},
		"not registered":   {webhookFile, bot{account: with(func(a *telegram.Account) { a.Hook.URL = "" }), knocks: map[string][2]int{public: {401, 200}, own: {401, 200}}}, []string{"ok token", "fail webhook", "ok secret", "ok groups", "ok people"}, "start the gateway again"},
		"not started":      {webhookFile, bot{account: with(func(a *telegram.Account) { a.Hook.URL = "" })}, []string{"ok token", "warn webhook", "off secret", "ok groups", "ok people"}, "start the gateway: it registers"},
		"another's":        {webhookFile, bot{account: with(func(a *telegram.Account) { a.Hook.URL = "https://x.example.test/secret-path" }), knocks: taken}, instead(1, "fail webhook"), "leads to https://x.example.test/… and not to " + hook},
		"wrong secret":     {webhookFile, bot{account: registered, knocks: map[string][2]int{public: {401, 401}}}, instead(3, "fail secret"), "another telegram.webhook_secret"},
		"open to all":      {webhookFile, bot{account: registered, knocks: map[string][2]int{public: {200, 200}}}, instead(3, "fail secret"), "takes calls without it"},
		"no webhook there": {webhookFile, bot{account: registered, knocks: map[string][2]int{public: {404, 404}}}, instead(3, "fail secret"), "answers 404"},
		"a proxy's page":   {webhookFile, bot{account: registered, knocks: map[string][2]int{public: {502, 502}}}, instead(3, "fail secret"), "the proxy before it"},
		"only inside":      {webhookFile, bot{account: registered, knocks: map[string][2]int{own: {401, 200}}}, well, own + telegram.WebhookPath},
		"nobody answers":   {webhookFile, bot{account: registered}, instead(3, "off secret"), "no gateway answers"},
		"refused lately": {webhookFile, bot{account: with(func(a *telegram.Account) {
			a.Hook.Pending, a.Hook.LastError, a.Hook.LastAt = 3, "Wrong response from the webhook: 401 Unauthorized", noon.Add(-90*time.Second)
		}), knocks: taken}, instead(2, "fail deliveries"), "1m30s ago: Wrong response from the webhook: 401"},
		"refused, none waits": {webhookFile, bot{account: with(func(a *telegram.Account) {
			a.Hook.LastError, a.Hook.LastAt = "Connection timed out", noon.Add(-time.Minute)
		}), knocks: taken}, instead(2, "warn deliveries"), "Connection timed out"},
		"refused long ago": {webhookFile, bot{account: with(func(a *telegram.Account) {
			a.Hook.LastError, a.Hook.LastAt = "Connection timed out", noon.Add(-48*time.Hour)
		}), knocks: taken}, well, ""},
		"a backlog":   {webhookFile, bot{account: with(func(a *telegram.Account) { a.Hook.Pending = 21 }), knocks: taken}, instead(2, "warn deliveries"), "21 updates wait"},
		"deaf":        {webhookFile, bot{account: with(func(a *telegram.Account) { a.Hook.Unheard = []string{"callback_query"} }), knocks: taken}, instead(2, "ok deliveries", "fail kinds"), "callback_query"},
		"privacy":     {webhookFile, bot{account: with(func(a *telegram.Account) { a.Privacy = true }), knocks: taken}, instead(4, "warn groups"), "/setprivacy"},
		"nobody's id": {"public_url: " + public + "\ntelegram: {token: '1:abc', webhook_secret: s}\n", bot{account: registered, knocks: taken}, instead(5, "warn people"), "private messages are dropped"},
		"not https": {"public_url: http://bot.example.test:8080\ntelegram: {token: '1:abc', webhook_secret: s}\npeople: [{name: ada, telegram: [7]}]\n",
			bot{account: with(func(a *telegram.Account) { a.Hook.URL, a.Hook.Want = "x", "x" }), knocks: map[string][2]int{own: {401, 200}, "http://bot.example.test:8080": {401, 200}}},
			[]string{"ok token", "fail public_url", "fail public_url", "ok webhook", "ok deliveries", "ok secret", "ok groups", "ok people"}, "443, 80, 88 and 8443"},
		"set by hand": {"telegram: {token: '1:abc', webhook_secret: s}\npeople: [{name: ada, telegram: [7]}]\n",
			bot{account: with(func(a *telegram.Account) { a.Hook.Want = "" }), knocks: map[string][2]int{own: {401, 200}}}, well, "set by hand"},
		"set by hand, elsewhere": {"telegram: {token: '1:abc', webhook_secret: s}\npeople: [{name: ada, telegram: [7]}]\n",
			bot{account: with(func(a *telegram.Account) { a.Hook.URL, a.Hook.Want = "https://x.test/y", "" }), knocks: map[string][2]int{own: {401, 200}}},
			instead(1, "warn webhook"), "not the gateway's path"},
		"no public url": {"telegram: {token: '1:abc', webhook_secret: s}\npeople: [{name: ada, telegram: [7]}]\n",
			bot{account: telegram.Account{ID: 7}, knocks: map[string][2]int{own: {401, 200}}}, []string{"ok token", "fail webhook", "ok secret", "ok groups", "ok people"}, "COUNTERSIGN_PUBLIC_URL"},
		"polling":   {pollingFile, bot{account: telegram.Account{ID: 7}}, []string{"ok token", "ok updates", "ok groups", "ok people"}, "long polling"},
		"left over": {pollingFile, bot{account: telegram.Account{ID: 7, Hook: telegram.Hook{URL: "https://old.example.test/hook"}}}, []string{"ok token", "fail updates", "ok groups", "ok people"}, "409"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := test.bot
			check := doctor.Telegram{Config: load(t, test.file), Bot: &b, Gateway: own, Now: func() time.Time { return noon }}
			found := examine(t, check.Check)
			require.Equal(t, test.want, found.short(), found)
			found.says(t, test.says, "secret-path")
			require.NotContains(t, b.sent, "http://bot.example.test:8080", "the secret does not travel openly")
		})
	}
	settings := examine(t, doctor.Telegram{Config: load(t, pollingFile), Err: errorOf("telegram.token holds characters")}.Check)
	require.Equal(t, []string{"fail settings"}, settings.short())
	nowhere := bot{account: registered}
	found := examine(t, doctor.Telegram{Config: load(t, "telegram: {token: '1:abc', webhook_secret: s}"), Bot: &nowhere}.Check)
	found.has(t, doctor.Off, "secret", "not known")
}
