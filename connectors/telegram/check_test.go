package telegram_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram"
)

// said is an answer of the Bot API that the test server does not give by itself.
func said(result string) connectortest.Fault {
	return connectortest.Fault{
		Kind: connectortest.Answer, Status: http.StatusOK, Type: "application/json", Body: `{"ok":true,"result":` + result + `}`,
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *telegram.Params) { p.PublicURL = "https://bot.example.test/" })
	account, err := b.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, telegram.Account{
		ID: 7000001, Username: "countersign_test_bot", Privacy: true,
		Hook: telegram.Hook{Want: "https://bot.example.test/telegram/webhook"},
	}, account)
	require.NoError(t, b.Start(t.Context()))
	b.server.Break(said(`{"id":7,"username":"open_bot","can_read_all_group_messages":true}`), "getMe")
	account, err = b.Check(t.Context())
	require.NoError(t, err)
	require.False(t, account.Privacy)
	require.Equal(t, account.Hook.Want, account.Hook.URL)

	b.server.Break(said(`{"url":"https://other.example.test/x","pending_update_count":12,"last_error_date":1900000000,`+
		`"last_error_message":"Wrong response from the webhook: 401 Unauthorized for `+b.server.Token+`","allowed_updates":["message","poll"]}`), "getWebhookInfo")
	account, err = b.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, telegram.Hook{
		URL: "https://other.example.test/x", Want: "https://bot.example.test/telegram/webhook", Pending: 12,
		LastError: "Wrong response from the webhook: 401 Unauthorized for <secret>", LastAt: time.Unix(1900000000, 0),
		Unheard: []string{"callback_query"},
	}, account.Hook)
	require.Empty(t, b.server.Calls("getUpdates"), "whoever polls is not interrupted")

	polls := newBench(t, polling, func(p *telegram.Params) { p.PublicURL = "https://bot.example.test" })
	polls.server.Webhook("https://left.example.test/over", "x")
	account, err = polls.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, telegram.Hook{URL: "https://left.example.test/over"}, account.Hook)
}

func TestCheckFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault     connectortest.Fault
		method    string
		temporary bool
	}{
		"a page":              {connectortest.HTML(502), "getMe", true},
		"a page that is fine": {connectortest.HTML(200), "getMe", true},
		"another shape":       {said(`[1,2]`), "getMe", true},
		"cut":                 {connectortest.Fault{Kind: connectortest.Cut}, "getMe", true},
		"refused":             {connectortest.Fault{Kind: connectortest.Refused}, "getMe", true},
		"busy":                {connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: 7 * time.Second}, "getMe", true},
		"page for the hook":   {connectortest.HTML(200), "getWebhookInfo", true},
		"shape of the hook":   {said(`{"url":17}`), "getWebhookInfo", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.server.Break(test.fault, test.method)
			account, err := b.Check(t.Context())
			var classified *chat.Error
			require.ErrorAs(t, err, &classified)
			require.Equal(t, test.temporary, classified.Temporary)
			require.Equal(t, "telegram "+test.method, classified.Op)
			require.Equal(t, test.method != "getMe", account.ID != 0)
			require.NotContains(t, err.Error(), b.server.Token)
			require.Equal(t, test.fault.RetryAfter, classified.RetryAfter)
		})
	}
	b := newBench(t, func(p *telegram.Params) { p.Token = "7000001:wrong-token-0123456789" })
	_, err := b.Check(t.Context())
	var classified *chat.Error
	require.ErrorAs(t, err, &classified)
	require.False(t, classified.Temporary, "Telegram's own word")
	require.NotContains(t, err.Error(), "wrong-token")
}

func TestKnock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mux := http.NewServeMux()
	mux.Handle(telegram.WebhookPath, b.Handler())
	gateway := httptest.NewServer(mux)
	t.Cleanup(gateway.Close)
	for withSecret, want := range map[bool]int{false: http.StatusUnauthorized, true: http.StatusOK} {
		status, err := b.Knock(t.Context(), gateway.URL+"/", withSecret)
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
	require.Empty(t, b.desk.Messages(), "a knock is nothing")

	other := newBench(t, func(p *telegram.Params) { p.WebhookSecret = "another-Secret_0123456789" })
	status, err := other.Knock(t.Context(), gateway.URL, true)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, status)

	seen := make(chan http.Header, 1)
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		http.Redirect(w, r, "https://evil.example.test/", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(away.Close)
	status, err = b.Knock(t.Context(), away.URL, false)
	require.NoError(t, err)
	require.Equal(t, http.StatusTemporaryRedirect, status, "the secret follows no redirect")
	require.Empty(t, (<-seen).Get("X-Telegram-Bot-Api-Secret-Token"))

	away.Close()
	_, err = b.Knock(t.Context(), away.URL, true)
	var classified *chat.Error
	require.ErrorAs(t, err, &classified)
	require.True(t, classified.Temporary)
	require.NotContains(t, err.Error(), secret)
}
