package telegram_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := func() telegram.Params {
		return telegram.Params{
			Token: "1:abc", WebhookSecret: "s", Identify: identify, Desk: &connectortest.Desk{}, Files: newDisk(),
		}
	}
	_, err := telegram.New(good())
	require.NoError(t, err)
	for name, change := range map[string]func(*telegram.Params){
		"telegram.token is missing":          func(p *telegram.Params) { p.Token = " " },
		"telegram.token holds characters":    func(p *telegram.Params) { p.Token = "1:abc/../x" },
		"telegram.api_url must be":           func(p *telegram.Params) { p.APIURL = "ftp://x" },
		"telegram.mode is \"push\"":          func(p *telegram.Params) { p.Mode = "push" },
		"telegram.webhook_secret is missing": func(p *telegram.Params) { p.WebhookSecret = "" }, // D04
		"telegram.webhook_secret must be":    func(p *telegram.Params) { p.PublicURL, p.WebhookSecret = "https://x.test", "a b" },
		"Identify, Desk and Files are req":   func(p *telegram.Params) { p.Desk = nil },
	} {
		p := good()
		change(&p)
		_, err := telegram.New(p)
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "1:abc")
	}
	p := good()
	p.Mode, p.WebhookSecret = telegram.Polling, ""
	_, err = telegram.New(p)
	require.NoError(t, err)
	_, err = telegram.New(telegram.Params{})
	require.ErrorContains(t, err, "token")
	require.ErrorContains(t, err, "webhook_secret", "every problem at once")
}

func TestD04StartRegistersTheSecret(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *telegram.Params) { p.PublicURL = "https://bot.example.test/" })
	require.NoError(t, b.Start(t.Context()))
	calls := b.server.Calls("setWebhook")
	require.Len(t, calls, 1)
	require.Equal(t, map[string]string{
		"url": "https://bot.example.test/telegram/webhook", "secret_token": secret, "allowed_updates": `["message","callback_query"]`,
	}, calls[0].Params)

	quiet := newBench(t)
	require.NoError(t, quiet.Start(t.Context()))
	require.Empty(t, quiet.server.Calls("setWebhook"), "without a public URL nothing is registered")
}

func TestStartWithAWrongToken(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *telegram.Params) { p.Token = "7000001:wrong-wrong-wrong" })
	err := b.Start(t.Context())
	var classified *chat.Error
	require.ErrorAs(t, err, &classified)
	require.False(t, classified.Temporary)
	require.NotContains(t, err.Error(), "wrong-wrong")
}

// The token stands in every URL: whatever goes wrong, it comes out nowhere.
func TestTokenInNoError(t *testing.T) {
	t.Parallel()
	const token = "7000001:AAF-very_secret_token"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"ok":false,"error_code":400,"description":"no such path %s"}`, r.URL.Path)
	}))
	t.Cleanup(echo.Close)
	var referer string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { referer = r.Referer() + r.URL.String() }))
	t.Cleanup(other.Close)
	redirect := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(redirect.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()

	for _, url := range []string{echo.URL, redirect.URL, closed.URL, "http://127.0.0.1:1", "http://no.such.host.invalid", echo.URL + "/%zz"} {
		c, err := telegram.New(telegram.Params{
			Token: token, APIURL: url, WebhookSecret: "s", Identify: identify, Desk: &connectortest.Desk{}, Files: newDisk(),
		})
		if err != nil {
			require.NotContains(t, err.Error(), "very_secret")
			continue
		}
		err = c.Start(t.Context())
		require.Error(t, err, url)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "very_secret")
	}
	require.Empty(t, referer, "redirects are not followed")
}
