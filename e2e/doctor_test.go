package e2e_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email/emailtest"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/doctor"
	"github.com/countersignhq/countersign/e2e/harness"
)

// clinic is a `make run` with every platform, and those platforms.
type clinic struct {
	dev
	telegram *telegramtest.Server
	slack    *slacktest.Server
}

func newClinic(t *testing.T) *clinic {
	t.Helper()
	c := &clinic{dev: dev{env: harness.DevSettings(t)}, telegram: telegramtest.New(), slack: slacktest.New()}
	t.Cleanup(c.telegram.Close)
	t.Cleanup(c.slack.Close)
	box, out, zone := emailtest.NewDovecot(t), emailtest.NewSink(t), &emailtest.Zone{}
	maps.Copy(c.env, map[string]string{
		"COUNTERSIGN_PUBLIC_URL": "http://" + c.env["COUNTERSIGN_HTTP_ADDR"],
		"COUNTERSIGN_PEOPLE":     `[{name: ada, owner: true, telegram: [1001], slack: [T01/U01], email: [ada@example.test]}]`,

		"LARACLAW_TELEGRAM_TOKEN": c.telegram.Token, "COUNTERSIGN_TELEGRAM_API_URL": c.telegram.URL(),
		"COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET": secret,

		"LARACLAW_SLACK_BOT_TOKEN": c.slack.BotToken, "LARACLAW_SLACK_SIGNING_SECRET": c.slack.SigningSecret, "COUNTERSIGN_SLACK_API_URL": c.slack.URL(),

		"LARACLAW_IMAP_HOST": box.Host, "LARACLAW_IMAP_PORT": strconv.Itoa(box.Port), "LARACLAW_IMAP_ENCRYPTION": "none",
		"LARACLAW_IMAP_USERNAME": "bot", "LARACLAW_IMAP_PASSWORD": box.Password,
		"LARACLAW_SMTP_HOST": "127.0.0.1", "LARACLAW_SMTP_PORT": strconv.Itoa(out.Port), "LARACLAW_SMTP_ENCRYPTION": "none",
		"LARACLAW_SMTP_USERNAME": out.Username, "LARACLAW_SMTP_PASSWORD": out.Password,
		"LARACLAW_SMTP_FROM_ADDRESS": "bot@bot.test", "COUNTERSIGN_EMAIL_DNS": zone.Serve(t),
	})
	return c
}

// examine runs `starter doctor` with some settings changed, and returns what it printed.
func (c *clinic) examine(t *testing.T, change map[string]string, areas ...string) (code int, report doctor.Report) {
	t.Helper()
	env := maps.Clone(c.env)
	maps.Copy(env, change)
	output := harness.Starter(t, env, append([]string{"doctor", "--output", "json"}, areas...)...)
	require.NoError(t, json.Unmarshal([]byte(output.Stdout), &report), "%s%s", output.Stdout, output.Stderr)
	for name, value := range env {
		if strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_SECRET") || strings.HasSuffix(name, "_PASSWORD") {
			require.NotContains(t, output.Stdout+output.Stderr, value, name)
		}
	}
	return output.Code, report
}

// wrong are the findings with a status, as "area check".
func wrong(report doctor.Report, status doctor.Status) (lines []string) {
	for _, f := range report.Findings {
		if f.Status == status {
			lines = append(lines, f.Area+" "+f.Check)
		}
	}
	return lines
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	c := newClinic(t)

	code, report := c.examine(t, nil, doctor.AreaGateway, doctor.AreaTelegram, doctor.AreaSlack, doctor.AreaEmail, doctor.AreaDisks)
	require.Equal(t, 0, code, "before the first start it is right all the same: %+v", report)
	require.Contains(t, wrong(report, doctor.Warn), "gateway address")
	require.Contains(t, wrong(report, doctor.Warn), "telegram webhook")
	require.NoFileExists(t, filepath.Join(c.env["COUNTERSIGN_DATA_DIR"], "token"), "nothing is made")

	c.start(t)
	_, err := c.telegram.AwaitCalls(bounded(t), "setWebhook", 1)
	require.NoError(t, err)

	t.Run("healthy", func(t *testing.T) {
		code, report := c.examine(t, nil)
		require.Equal(t, 0, code, "%+v", report)
		require.Empty(t, wrong(report, doctor.Fail))
		require.Empty(t, wrong(report, doctor.Off))
		require.Equal(t, []string{
			"telegram groups", "email imap", "email smtp", "email senders",
		}, wrong(report, doctor.Warn), "privacy mode, no encryption, no border")
		for _, area := range doctor.Names() {
			require.Contains(t, strings.Join(wrong(report, doctor.OK), "\n"), area+" ")
		}
		output := harness.Starter(t, c.env, "doctor", "telegram", "temporal")
		require.Equal(t, 0, output.Code)
		require.Contains(t, output.Stdout, "temporal\n  ✓ address            127.0.0.1:"+c.env["COUNTERSIGN_TEMPORAL_PORT"]+" answers\n")
		require.Contains(t, output.Stdout, "\n      → for groups: @BotFather, /setprivacy, Disable;")
		require.NotContains(t, output.Stdout, "\x1b", "no colour in a pipe")
	})

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	nobody := harness.Address(harness.Port(t))
	for name, test := range map[string]struct {
		change map[string]string
		areas  []string
		code   int
		status doctor.Status
		want   []string
	}{
		"an unknown operation": {map[string]string{"COUNTERSIGN_POLICY": "{file_manager.shred: {timeout: 5s}}"}, nil, 1, doctor.Fail, []string{"configuration policy"}},
		"a value": {map[string]string{"COUNTERSIGN_STACKING": "pile"}, []string{"configuration", "redis"}, 1, doctor.Fail,
			[]string{"configuration stacking (COUNTERSIGN_STACKING)"}},
		"a misspelt variable": {map[string]string{"LARACLAW_IMAP_HOTS": "x"}, []string{"configuration"}, 0, doctor.Warn, []string{"configuration LARACLAW_IMAP_HOTS"}},
		"no owner":            {map[string]string{"COUNTERSIGN_PEOPLE": "[{name: ada, telegram: [1001]}, {name: bob}]"}, []string{"people"}, 0, doctor.Warn, []string{"people owner", "people bob"}},
		"another Temporal":    {map[string]string{"TEMPORAL_ADDRESS": nobody}, []string{"temporal"}, 1, doctor.Fail, []string{"temporal address"}},
		"another namespace":   {map[string]string{"TEMPORAL_NAMESPACE": "nowhere"}, []string{"temporal"}, 1, doctor.Fail, []string{"temporal namespace"}},
		"another Redis":       {map[string]string{"REDIS_URL": "redis://" + nobody + "/0"}, []string{"redis"}, 1, doctor.Fail, []string{"redis redis"}},
		"a disk":              {map[string]string{"COUNTERSIGN_DISKS_LOCAL": "file://" + file}, []string{"disks"}, 1, doctor.Fail, []string{"disks local"}},
		"another gateway": {map[string]string{"COUNTERSIGN_HTTP_ADDR": harness.Address(mustPort(t, c.env["COUNTERSIGN_TEMPORAL_UI_PORT"]))}, []string{"gateway"}, 1, doctor.Fail,
			[]string{"gateway address"}},
		"another token file":   {map[string]string{"COUNTERSIGN_TOKEN": "cs_wrong-token-0123456789"}, []string{"gateway"}, 1, doctor.Fail, []string{"gateway token"}},
		"a wrong bot token":    {map[string]string{"LARACLAW_TELEGRAM_TOKEN": "7000001:wrong-0123456789"}, []string{"telegram"}, 1, doctor.Fail, []string{"telegram token"}},
		"another hook":         {map[string]string{"COUNTERSIGN_PUBLIC_URL": "http://" + nobody}, []string{"telegram"}, 1, doctor.Fail, []string{"telegram webhook"}},
		"another hook secret":  {map[string]string{"COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET": "another-Secret_0123456789"}, []string{"telegram"}, 1, doctor.Fail, []string{"telegram secret"}},
		"polling with a hook":  {map[string]string{"COUNTERSIGN_TELEGRAM_MODE": "polling"}, []string{"telegram"}, 1, doctor.Fail, []string{"telegram updates"}},
		"a wrong app token":    {map[string]string{"LARACLAW_SLACK_BOT_TOKEN": "xoxb-wrong-0123456789"}, []string{"slack"}, 1, doctor.Fail, []string{"slack token"}},
		"another signature":    {map[string]string{"LARACLAW_SLACK_SIGNING_SECRET": "another0123456789"}, []string{"slack"}, 1, doctor.Fail, []string{"slack events"}},
		"another bot":          {map[string]string{"LARACLAW_SLACK_BOT_USER_ID": "U9"}, []string{"slack"}, 1, doctor.Fail, []string{"slack bot_user_id"}},
		"a wrong socket token": {map[string]string{"COUNTERSIGN_SLACK_MODE": "socket", "LARACLAW_SLACK_APP_TOKEN": "xapp-wrong-0123456789"}, []string{"slack"}, 1, doctor.Fail, []string{"slack socket"}},
		"a wrong password":     {map[string]string{"LARACLAW_IMAP_PASSWORD": "wrong-0123456789", "LARACLAW_SMTP_PASSWORD": "wrong-0123456789"}, []string{"email"}, 1, doctor.Fail, []string{"email imap", "email smtp"}},
		"another mailbox":      {map[string]string{"LARACLAW_IMAP_MAILBOX": "Archive"}, []string{"email"}, 1, doctor.Fail, []string{"email imap"}},
		"TLS that is not there": {map[string]string{"LARACLAW_IMAP_ENCRYPTION": "ssl", "LARACLAW_SMTP_ENCRYPTION": "tls"}, []string{"email"}, 1, doctor.Fail,
			[]string{"email imap", "email smtp"}},
		"no DNS": {map[string]string{"COUNTERSIGN_EMAIL_DNS": nobody}, []string{"email"}, 1, doctor.Fail, []string{"email dns"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, report := c.examine(t, test.change, test.areas...)
			require.Equal(t, test.code, code, "%+v", report)
			require.Equal(t, test.want, wrong(report, test.status), "%+v", report)
		})
	}
	output := harness.Starter(t, c.env, "doctor", "telegramm")
	require.Equal(t, 2, output.Code)
}

func mustPort(t *testing.T, text string) int {
	t.Helper()
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	return port
}
