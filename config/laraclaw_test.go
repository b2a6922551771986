package config_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/config"
)

// laraclaw are the documented names, each with a value and what it must lead to. The first four
// are in the pages that Countersign began with, the others in CONTRACT §6 and §8 or in Laraclaw's
// pages about the same connectors.
var laraclaw = map[string]struct {
	value string
	read  func(*config.Config) any
	want  any
}{
	"LARACLAW_ATTACHMENTS_DISK":          {"archive", func(c *config.Config) any { return c.Attachments.Disk }, "archive"},
	"LARACLAW_INCOMING_ATTACHMENTS_PATH": {"in", func(c *config.Config) any { return c.Attachments.IncomingPath }, "in"},
	"LARACLAW_OUTGOING_ATTACHMENTS_PATH": {"out", func(c *config.Config) any { return c.Attachments.OutgoingPath }, "out"},
	"LARACLAW_ALLOWED_DISKS":             {"local, archive", func(c *config.Config) any { return c.AllowedDisks }, []string{"local", "archive"}},

	"LARACLAW_WEBHOOK_RATE_LIMIT": {"7", func(c *config.Config) any { return c.WebhookRateLimit }, 7},

	"LARACLAW_TELEGRAM_ENABLED": {"false", func(c *config.Config) any { return c.Telegram.Enabled }, false},
	"LARACLAW_TELEGRAM_TOKEN":   {"1:AA", func(c *config.Config) any { return c.Telegram.Token.Reveal() }, "1:AA"},

	"LARACLAW_SLACK_ENABLED":        {"false", func(c *config.Config) any { return c.Slack.Enabled }, false},
	"LARACLAW_SLACK_BOT_TOKEN":      {"xoxb-1", func(c *config.Config) any { return c.Slack.BotToken.Reveal() }, "xoxb-1"},
	"LARACLAW_SLACK_APP_TOKEN":      {"xapp-1", func(c *config.Config) any { return c.Slack.AppToken.Reveal() }, "xapp-1"},
	"LARACLAW_SLACK_SIGNING_SECRET": {"s3", func(c *config.Config) any { return c.Slack.SigningSecret.Reveal() }, "s3"},
	"LARACLAW_SLACK_BOT_USER_ID":    {"U0BOT", func(c *config.Config) any { return c.Slack.BotUserID }, "U0BOT"},

	"LARACLAW_EMAIL_ENABLED":                    {"false", func(c *config.Config) any { return c.Email.Enabled }, false},
	"LARACLAW_EMAIL_VERIFY_SENDER_DKIM_AND_SPF": {"false", func(c *config.Config) any { return c.Email.VerifySender }, false},
	"LARACLAW_IMAP_HOST":                        {"imap.example.test", func(c *config.Config) any { return c.Email.IMAP.Host }, "imap.example.test"},
	"LARACLAW_IMAP_PORT":                        {"143", func(c *config.Config) any { return c.Email.IMAP.Port }, 143},
	"LARACLAW_IMAP_ENCRYPTION":                  {"tls", func(c *config.Config) any { return c.Email.IMAP.Encryption }, "tls"},
	"LARACLAW_IMAP_USERNAME":                    {"bot", func(c *config.Config) any { return c.Email.IMAP.Username }, "bot"},
	"LARACLAW_IMAP_PASSWORD":                    {"p1", func(c *config.Config) any { return c.Email.IMAP.Password.Reveal() }, "p1"},
	"LARACLAW_IMAP_MAILBOX":                     {"Bot", func(c *config.Config) any { return c.Email.IMAP.Mailbox }, "Bot"},
	"LARACLAW_SMTP_HOST":                        {"smtp.example.test", func(c *config.Config) any { return c.Email.SMTP.Host }, "smtp.example.test"},
	"LARACLAW_SMTP_PORT":                        {"465", func(c *config.Config) any { return c.Email.SMTP.Port }, 465},
	"LARACLAW_SMTP_ENCRYPTION":                  {"ssl", func(c *config.Config) any { return c.Email.SMTP.Encryption }, "ssl"},
	"LARACLAW_SMTP_USERNAME":                    {"bot2", func(c *config.Config) any { return c.Email.SMTP.Username }, "bot2"},
	"LARACLAW_SMTP_PASSWORD":                    {"p2", func(c *config.Config) any { return c.Email.SMTP.Password.Reveal() }, "p2"},
	"LARACLAW_SMTP_FROM_ADDRESS":                {"bot@example.test", func(c *config.Config) any { return c.Email.SMTP.FromAddress }, "bot@example.test"},
	"LARACLAW_SMTP_FROM_NAME":                   {"Bot", func(c *config.Config) any { return c.Email.SMTP.FromName }, "Bot"},
}

func TestLaraclawNames(t *testing.T) {
	t.Parallel()
	set := map[string]string{"COUNTERSIGN_DISKS_ARCHIVE": "file:///srv/archive"}
	for name, c := range laraclaw {
		set[name] = c.value
	}
	// The connectors are off so that one variable can be tried at a time; each of their other
	// values is read all the same.
	var environ []string
	for name, value := range set {
		environ = append(environ, name+"="+value)
	}
	loaded, err := config.Load(func(name string) (string, bool) { value, ok := set[name]; return value, ok }, environ,
		func(string) ([]byte, error) { return nil, os.ErrNotExist })
	require.NoError(t, err)
	require.Empty(t, loaded.Warnings)
	for name, c := range laraclaw {
		require.Equal(t, c.want, c.read(loaded), name)
		require.NotEqual(t, c.want, c.read(unset(t, name, set)), "%s has no effect", name)
	}
}

// unset loads the same without one variable, so that a default that happens to be the value shows.
func unset(t *testing.T, name string, set map[string]string) *config.Config {
	t.Helper()
	if strings.HasSuffix(name, "_ENABLED") {
		// On, once it is not said to be off, and a connector that is on wants more than the table has.
		set = map[string]string{
			"LARACLAW_TELEGRAM_TOKEN": "1:AA", "LARACLAW_SLACK_BOT_TOKEN": "x", "LARACLAW_SLACK_SIGNING_SECRET": "x", "LARACLAW_IMAP_HOST": "h",
			"LARACLAW_IMAP_USERNAME": "u", "LARACLAW_SMTP_HOST": "h", "LARACLAW_SMTP_FROM_ADDRESS": "a@example.test",
		}
	}
	loaded, err := config.Load(func(wanted string) (string, bool) {
		value, ok := set[wanted]
		return value, ok && wanted != name
	}, []string{"COUNTERSIGN_DISKS_ARCHIVE=file:///srv/archive"}, func(string) ([]byte, error) { return nil, os.ErrNotExist })
	require.NoError(t, err)
	return loaded
}

// The table has all of them, and no variable is documented under two keys.
func TestLaraclawNamesAreComplete(t *testing.T) {
	t.Parallel()
	var known []string
	for _, key := range config.Keys() {
		for _, name := range key.Env {
			if strings.HasPrefix(name, "LARACLAW_") {
				known = append(known, name)
			}
		}
	}
	slices.Sort(known)
	require.Len(t, laraclaw, len(known))
	for _, name := range known {
		require.Contains(t, laraclaw, name)
	}
	require.Equal(t, known, slices.Compact(slices.Clone(known)))
	example, err := os.ReadFile("../countersign.example.yaml")
	require.NoError(t, err)
	for name := range laraclaw {
		require.Contains(t, string(example), "["+name+"]", "documented")
	}
}
