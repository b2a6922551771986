package slack_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/connectortest"
)

func TestC19RateLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	limited := func(wait string) connectortest.Fault {
		return connectortest.Fault{Kind: connectortest.Answer, Status: 429, Type: "application/json", Body: `{"ok":false,"error":"ratelimited"}` + wait}
	}
	for name, c := range map[string]struct {
		fault connectortest.Fault
		wait  time.Duration
	}{
		"thirty seconds":     {connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: 30 * time.Second}, 30 * time.Second},
		"without a header":   {limited(""), time.Second},
		"said with 200":      {connectortest.Fault{Kind: connectortest.Answer, Status: 200, Type: "application/json", Body: `{"ok":false,"error":"ratelimited"}`}, time.Second},
		"longer than a day":  {connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: 1000 * time.Hour}, 24 * time.Hour},
		"a wait of no sense": {connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: -time.Hour}, 0},
	} {
		b.server.Break(c.fault, "chat.postMessage")
		_, err := b.Post(t.Context(), card("C01:1700000000.000100"))
		require.True(t, classified(t, err).Temporary, name)
		require.Equal(t, c.wait, classified(t, err).RetryAfter, name)
	}
	_, err := b.Post(t.Context(), card("C01:1700000000.000100"))
	require.NoError(t, err)
}

func TestWhatSlackSaysForGood(t *testing.T) {
	t.Parallel()
	for code, temporary := range map[string]bool{
		"channel_not_found": false, "not_in_channel": false, "is_archived": false, "invalid_auth": false, "account_inactive": false,
		"missing_scope": false, "token_revoked": false, "msg_too_long": false, "something_new": false,
		"ratelimited": true, "internal_error": true, "fatal_error": true, "service_unavailable": true, "request_timeout": true,
	} {
		b := newBench(t)
		b.server.Refuse(channel, code)
		_, err := b.Post(t.Context(), card("C01:1700000000.000100"))
		require.Equal(t, temporary, classified(t, err).Temporary, code)
		require.Equal(t, fmt.Sprintf("slack chat.postMessage (%s): %s", map[bool]string{true: "temporary", false: "final"}[temporary], code),
			strings.SplitN(err.Error(), " (the app", 2)[0])
	}
}
