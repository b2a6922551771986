package slack_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack"
)

func said(body string) connectortest.Fault {
	return connectortest.Fault{Kind: connectortest.Answer, Status: http.StatusOK, Type: "application/json", Body: body}
}

func TestCheckScopes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	account, err := b.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, slack.Account{Team: "Slacktest", TeamID: "T01", User: "countersign", UserID: "U0BOT"}, account)

	b.server.Scopes = "chat:write, users:read"
	account, err = b.Check(t.Context())
	require.NoError(t, err)
	require.True(t, account.ReadsUsers)
	require.Equal(t, []string{
		"app_mentions:read", "channels:history", "files:read", "files:write", "groups:history", "im:history", "im:write",
		"mpim:history", "reactions:write",
	}, account.Missing)

	b.server.Scopes = ""
	account, err = b.Check(t.Context())
	require.NoError(t, err)
	require.True(t, account.Untold)
	require.Empty(t, account.Missing, "what was not said is not missing")
}

func TestCheckFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault     connectortest.Fault
		method    string
		temporary bool
	}{
		"a page":       {connectortest.HTML(200), "auth.test", true},
		"a proxy":      {connectortest.HTML(503), "auth.test", true},
		"a wrong one":  {said(`{"ok":false,"error":"invalid_auth"}`), "auth.test", false},
		"odd":          {said(`[]`), "auth.test", true},
		"refused":      {connectortest.Fault{Kind: connectortest.Refused}, "auth.test", true},
		"no socket":    {said(`{"ok":false,"error":"not_allowed_token_type"}`), "apps.connections.open", false},
		"socket page":  {connectortest.HTML(200), "apps.connections.open", true},
		"socket limit": {connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: 7 * time.Second}, "apps.connections.open", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(p *slack.Params) { p.Mode = slack.Socket })
			b.server.Break(test.fault, test.method)
			account, err := b.Check(t.Context())
			var classified *chat.Error
			require.ErrorAs(t, err, &classified)
			require.Equal(t, test.temporary, classified.Temporary, err)
			require.Equal(t, test.method != "auth.test", account.UserID != "")
			require.NotContains(t, err.Error(), b.server.BotToken)
			require.NotContains(t, err.Error(), b.server.AppToken)
		})
	}
}

func TestMember(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Break(said(`{"ok":true,"user":{"id":"U01","name":"ada","is_bot":true,"deleted":true}}`), "users.info")
	member, known, err := b.Member(t.Context(), ada)
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, slack.Member{Name: "ada", Bot: true, Gone: true}, member)

	b.server.Break(said(`{"ok":false,"error":"user_not_found"}`), "users.info")
	_, known, err = b.Member(t.Context(), ada)
	require.NoError(t, err)
	require.False(t, known)

	b.server.Break(said(`{"ok":false,"error":"missing_scope","needed":"users:read"}`), "users.info")
	_, _, err = b.Member(t.Context(), ada)
	require.ErrorContains(t, err, "users:read")
	var classified *chat.Error
	require.ErrorAs(t, err, &classified)
}

func TestKnock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gateway := httptest.NewServer(b.handler())
	t.Cleanup(gateway.Close)
	status, echoed, err := b.Knock(t.Context(), gateway.URL+"/", true)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.True(t, echoed)
	status, echoed, err = b.Knock(t.Context(), gateway.URL, false)
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, status)
	require.False(t, echoed)

	other := newBench(t, func(p *slack.Params) { p.SigningSecret = "another0123456789signing0secret" })
	status, _, err = other.Knock(t.Context(), gateway.URL, true)
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, status)

	gateway.Close()
	_, _, err = b.Knock(t.Context(), gateway.URL, true)
	var classified *chat.Error
	require.ErrorAs(t, err, &classified)
	require.True(t, classified.Temporary)
}
