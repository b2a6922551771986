package config_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/config"
)

// load runs Load with a file (empty for none) and an environment.
func load(file string, env map[string]string) (*config.Config, error) {
	var environ []string
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	getenv := func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
	readFile := func(string) ([]byte, error) {
		if file == "" {
			return nil, fs.ErrNotExist
		}
		return []byte(file), nil
	}
	return config.Load(getenv, environ, readFile)
}

func TestDefaultsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	c := config.Default()
	require.Equal(t, "127.0.0.1:8080", c.HTTP.Addr)
	require.Equal(t, ".countersign", c.DataDir)
	require.Equal(t, 120*time.Second, c.ConfirmTimeout)
	require.Equal(t, 5*time.Minute, c.HandoffTimeout)
	require.Equal(t, config.UnsupportedRun, c.Unsupported)
	require.Equal(t, config.StackingSupersede, c.Stacking)
	require.Equal(t, 20, c.WebhookRateLimit)
	require.Equal(t, []string{"local"}, c.AllowedDisks)
	require.Equal(t, map[string]string{"local": "file://./.countersign/files"}, c.Disks)
	require.Equal(t, config.Attachments{Disk: "local", IncomingPath: "inbound", OutgoingPath: "outbound", Keep: 720 * time.Hour}, c.Attachments)
	require.True(t, c.Email.VerifySender)
	require.False(t, c.Telegram.Enabled)
	require.Equal(t, config.Redis{Port: 6380}, c.Redis)
	require.Equal(t, config.Temporal{Port: 7233, UIPort: 8233}, c.Temporal)
	require.Empty(t, c.Warnings)
	for _, key := range config.Keys() {
		require.False(t, c.IsSet(key.Path), key.Path)
	}
}

func TestEnvironmentComesBeforeFileBeforeDefault(t *testing.T) {
	t.Parallel()
	c, err := load(`
confirm_timeout: 30
handoff_timeout: 90s
webhook_rate_limit: 0
redis: {prefix: "laravel_", port:}
telegram: {token: "7:from-file", mode: polling}
`, map[string]string{
		"COUNTERSIGN_HANDOFF_TIMEOUT": "2m",
		"LARACLAW_TELEGRAM_TOKEN":     "7:from-env",
		"REDIS_URL":                   "redis://:hunter2@127.0.0.1:6379/1",
		"TEMPORAL_ADDRESS":            "temporal:7233",
		"COUNTERSIGN_STACKING":        "",
		"LARACLAW_ALLOWED_DISKS":      " local, files ,",
		"COUNTERSIGN_DISKS_FILES":     "mem://",
	})
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, c.ConfirmTimeout)
	require.Equal(t, 2*time.Minute, c.HandoffTimeout)
	require.Zero(t, c.WebhookRateLimit)
	require.Equal(t, "laravel_", c.Redis.Prefix)
	require.Equal(t, 6380, c.Redis.Port)
	require.Equal(t, "7:from-env", c.Telegram.Token.Reveal())
	require.True(t, c.Telegram.Enabled)
	require.True(t, c.Temporal.AddressSet)
	require.Equal(t, "redis://:hunter2@127.0.0.1:6379/1", c.Redis.URL.Reveal())
	require.Equal(t, config.StackingSupersede, c.Stacking)
	require.Equal(t, []string{"local", "files"}, c.AllowedDisks)
	require.Equal(t, "mem://", c.Disks["files"])
	require.NotEmpty(t, c.Disks["local"])

	require.Equal(t, "REDIS_URL", c.Source("redis.url"))
	require.Equal(t, "LARACLAW_TELEGRAM_TOKEN", c.Source("telegram.token"))
	require.Equal(t, config.DefaultFile, c.Source("confirm_timeout"))
	require.False(t, c.IsSet("stacking"), "an empty variable is not set")
	require.False(t, c.IsSet("redis.port"), "nor is a key without a value")
}

func TestEveryKeyIsAVariable(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"people": `[{name: ada, tokens: []}]`, "policy": "{}", "scope": "{}", "conversations": "{}", "language": "es", "disks": "{local: mem://}",
		"http.addr": ":9", "public_url": "https://x.test/", "unsupported": "deny", "stacking": "queue", "examples": "true",
		"confirm_timeout": "7s", "handoff_timeout": "7", "approval_route": "web:s1",
		"attachments.disk": "local", "allowed_disks": "local",
		"telegram.mode": "polling", "telegram.api_url": "http://x.test", "slack.mode": "socket",
		"slack.api_url": "http://x.test", "slack.enabled": "off", "telegram.enabled": "no", "email.enabled": "0",
		"email.verify_sender_dkim_and_spf": "false", "email.plus_address": "no", "email.imap.encryption": "none", "email.smtp.encryption": "ssl",
		"email.smtp.from_address": "bot@x.test", "email.dns": "192.0.2.53", "email.oauth.token_url": "https://x.test", "redis.url": "rediss://x.test", "oidc.issuer": "https://x.test",
	}
	names := map[string]bool{}
	for i, key := range config.Keys() {
		for _, name := range key.Env {
			require.False(t, names[name], "%s sets two keys", name)
			names[name] = true
			value, given := values[key.Path]
			if !given {
				value = string(rune('1' + i%9))
			}
			// Enough around it for the value to be accepted.
			c, err := load("slack: {signing_secret: s, enabled: false}\nemail: {enabled: false}\n"+
				"oidc: {client_id: c, client_secret: s}\npublic_url: https://x.test\ntelegram: {mode: polling}", map[string]string{name: value})
			require.NoError(t, err, name)
			require.Equal(t, name, c.Source(key.Path))
		}
	}
}

func TestEnvironmentTakesPeoplePolicyAndDisks(t *testing.T) {
	t.Parallel()
	c, err := load("people: [{name: bob}]", map[string]string{
		"COUNTERSIGN_PEOPLE": `[{"name":"ada","owner":true,"telegram":[1001]}]`,
		"COUNTERSIGN_POLICY": "file_manager.delete: {confirm: true, approvers: {who: list, people: [ada]}}\n" +
			"file_manager.write:\n  timeout: 10",
		"COUNTERSIGN_DISKS": `{"archive":"s3://bucket"}`,
	})
	require.NoError(t, err)
	require.Len(t, c.People, 1)
	require.Equal(t, "ada", c.People[0].Name)
	require.Equal(t, config.Policy{
		Confirm: "true", Approvers: &config.Approvers{Who: "list", People: []string{"ada"}},
	}, c.Policy["file_manager.delete"])
	require.Equal(t, config.Policy{Timeout: 10 * time.Second}, c.Policy["file_manager.write"])
	require.Equal(t, "s3://bucket", c.Disks["archive"])
}

func TestConfigFile(t *testing.T) {
	t.Parallel()
	read := ""
	readFile := func(name string) ([]byte, error) { read = name; return nil, os.ErrNotExist }
	getenv := func(name string) (string, bool) { return "/etc/other.yaml", name == "COUNTERSIGN_CONFIG" }
	_, err := config.Load(getenv, nil, readFile)
	require.ErrorContains(t, err, "COUNTERSIGN_CONFIG: reading /etc/other.yaml")
	require.Equal(t, "/etc/other.yaml", read)

	none := func(string) (string, bool) { return "", false }
	_, err = config.Load(none, nil, readFile)
	require.NoError(t, err, "the default file need not be there")
	require.Equal(t, config.DefaultFile, read)

	unreadable := func(string) ([]byte, error) { return nil, errors.New("permission denied") }
	_, err = config.Load(none, nil, unreadable)
	require.ErrorContains(t, err, "permission denied", "but where it is, it must be read")
}

func TestTelegramModeFollowsFromTheRest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, mode string }{
		{"telegram: {token: t}", config.ModePolling},
		{"telegram: {token: t, webhook_secret: s}", config.ModeWebhook},
		{"telegram: {token: t, webhook_secret: s, mode: polling}", config.ModePolling},
		{"telegram: {token: t, enabled: false}\npublic_url: https://x.test", config.ModeWebhook},
	} {
		c, err := load(tt.file, nil)
		require.NoError(t, err, tt.file)
		require.Equal(t, tt.mode, c.Telegram.Mode, tt.file)
	}
}

func TestMisspeltVariablesAreWarnedAbout(t *testing.T) {
	t.Parallel()
	c, err := load("", map[string]string{
		"COUNTERSIGN_CONFRIM_TIMEOUT": "5s",             // misspelt
		"COUNTERSIGN_SERVICE_HOST":    "10.0.0.1",       // set by an orchestrator
		"LARACLAW_TTS_VOICE":          "default-female", // another program's
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"COUNTERSIGN_CONFRIM_TIMEOUT is not known and was ignored; did you mean COUNTERSIGN_CONFIRM_TIMEOUT?",
	}, c.Warnings)
}

func FuzzLoad(f *testing.F) {
	f.Add("people: [{name: a}]", "5s", "{}")
	f.Add("telegram: {token: {a: 1}}", "x", "[")
	f.Add("policy: {1: 2}\ndisks: [a]", "-1", "null")
	f.Fuzz(func(t *testing.T, file, timeout, policy string) {
		c, err := load(file, map[string]string{
			"COUNTERSIGN_CONFIRM_TIMEOUT": timeout, "COUNTERSIGN_POLICY": policy,
		})
		if err == nil {
			require.NoError(t, c.Validate())
			require.Positive(t, c.ConfirmTimeout)
		}
	})
}
