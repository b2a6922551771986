package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/doctor"
	"github.com/countersignhq/countersign/gateway"
)

// doctored runs `starter doctor` in an environment.
func doctored(t *testing.T, vars map[string]string, file string, areas ...string) (code int, report doctor.Report, stderr string) {
	t.Helper()
	env, stdout, errs := surroundings(vars, file)
	code = RunStarter(t.Context(), append([]string{"doctor", "-o", "json"}, areas...), env)
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &report), "%s%s", stdout, errs)
	return code, report, errs.String()
}

// marks are the findings as "status area check".
func marks(report doctor.Report) (lines []string) {
	for _, f := range report.Findings {
		lines = append(lines, string(f.Status)+" "+f.Area+" "+f.Check)
	}
	return lines
}

func TestDoctorOnABrokenConfiguration(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"COUNTERSIGN_UNSUPPORTED": "perhaps", "LARACLAW_TELEGRAM_TOKN": "7:hidden-0123456789"}
	code, report, stderr := doctored(t, vars, "colour: red\n", "telegram")
	require.Equal(t, 1, code)
	require.Empty(t, stderr, "told once")
	require.Equal(t, []string{
		"fail configuration colour", "fail configuration unsupported (COUNTERSIGN_UNSUPPORTED)",
		"warn configuration LARACLAW_TELEGRAM_TOKN", "off telegram telegram",
	}, marks(report))
	require.Contains(t, report.Findings[2].Mend, "LARACLAW_TELEGRAM_TOKEN")

	code, report, _ = doctored(t, nil, "policy:\n  file_manager.shred: {timeout: 10s}\n", "configuration")
	require.Equal(t, 1, code)
	require.Equal(t, []string{"ok configuration file", "fail configuration policy"}, marks(report))
	code, report, _ = doctored(t, nil, "policy:\n  file_manager.delete: {timeout: 10s}\n", "configuration")
	require.Equal(t, 0, code)
	require.Equal(t, []string{"ok configuration file"}, marks(report))

	env, _, errs := surroundings(vars, "")
	require.Equal(t, 0, RunStarter(t.Context(), []string{"tokens", "create"}, env))
	require.Contains(t, errs.String(), "starter: warning: the configuration cannot be used", "others go on, and say so")
}

func TestDoctorAsksThePlatforms(t *testing.T) {
	t.Parallel()
	telegram, slack := telegramtest.New(), slacktest.New()
	t.Cleanup(telegram.Close)
	t.Cleanup(slack.Close)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, gateway.TokenFile), []byte("cs_hidden-token-0123456789\n"), 0o600))
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>hidden-token cs_hidden-token-0123456789</html>"))
	}))
	t.Cleanup(here.Close)
	const secret = "hidden_webhook-Secret_0123456789"
	vars := map[string]string{
		"COUNTERSIGN_DATA_DIR": dir, "COUNTERSIGN_HTTP_ADDR": strings.TrimPrefix(here.URL, "http://"),
		"LARACLAW_TELEGRAM_TOKEN": telegram.Token, "COUNTERSIGN_TELEGRAM_API_URL": telegram.URL(), "COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET": secret,
		"COUNTERSIGN_PUBLIC_URL":   here.URL,
		"LARACLAW_SLACK_BOT_TOKEN": slack.BotToken, "LARACLAW_SLACK_APP_TOKEN": slack.AppToken, "COUNTERSIGN_SLACK_MODE": "socket",
		"COUNTERSIGN_SLACK_API_URL": slack.URL(),
		"COUNTERSIGN_PEOPLE":        `[{name: ada, owner: true, telegram: [1001], slack: [T01/U01]}]`,
	}
	telegram.Webhook("https://other.example.test/"+secret, "x")
	code, report, _ := doctored(t, vars, "", "telegram", "slack", "gateway", "people")
	require.Equal(t, 1, code)
	require.Equal(t, []string{
		"ok people owner", "ok people ids", "fail gateway address", "warn gateway public_url",
		"ok telegram token", "fail telegram webhook", "ok telegram deliveries", "fail telegram secret", "warn telegram groups", "ok telegram people",
		"ok slack token", "ok slack scopes", "ok slack socket", "ok slack people",
	}, marks(report), report)

	telegram.Break(connectortest.HTML(200), "getMe")
	slack.Break(connectortest.HTML(200), "auth.test")
	vars["LARACLAW_IMAP_HOST"], vars["LARACLAW_IMAP_PORT"], vars["LARACLAW_IMAP_USERNAME"], vars["LARACLAW_IMAP_PASSWORD"] = "127.0.0.1", "1", "bot", "hidden-imap-0123456789"
	vars["LARACLAW_SMTP_HOST"], vars["LARACLAW_SMTP_PORT"], vars["LARACLAW_SMTP_FROM_ADDRESS"] = "127.0.0.1", "1", "bot@example.test"
	vars["LARACLAW_EMAIL_VERIFY_SENDER_DKIM_AND_SPF"] = "false"
	vars["REDIS_URL"] = "redis://user:hidden-redis-0123456789@127.0.0.1:1/0"
	vars["TEMPORAL_ADDRESS"], vars["TEMPORAL_API_KEY"], vars["TEMPORAL_TLS"] = "127.0.0.1:1", "hidden-key-0123456789", "false"
	env, stdout, errs := surroundings(vars, "disks:\n  local: s3://user:hidden-disk-0123456789@bucket?region=x&endpoint=http://127.0.0.1:1\n")
	require.Equal(t, 1, RunStarter(t.Context(), []string{"doctor"}, env), errs)
	for _, want := range []string{
		"✗ token", "✗ imap", "✗ smtp", "✗ redis", "✗ address", "→ check LARACLAW_IMAP_HOST", "→ check TEMPORAL_ADDRESS",
	} {
		require.Contains(t, stdout.String(), want)
	}
	for _, never := range []string{"hidden", telegram.Token, slack.BotToken, slack.AppToken, "<html>", "\x1b", "panic"} {
		require.NotContains(t, stdout.String()+errs.String(), never)
	}
}
