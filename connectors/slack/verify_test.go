package slack_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func TestC09SignatureAndClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body := []byte("payload=" + url.QueryEscape(`{"type":"x","a":"`) + "*" + url.QueryEscape(`"}`))
	signedAt := func(off time.Duration) func(http.Header) {
		return func(h http.Header) { b.server.Sign(h, time.Now().Add(off), body) }
	}
	for name, c := range map[string]struct {
		change func(http.Header)
		want   int
	}{
		"as Slack sends it":    {func(http.Header) {}, 200},
		"299 s old":            {signedAt(-299 * time.Second), 200},
		"298 s ahead":          {signedAt(298 * time.Second), 200},
		"301 s old":            {signedAt(-301 * time.Second), 403},
		"301 s ahead":          {signedAt(302 * time.Second), 403}, // the clock moves on while this runs
		"no signature":         {func(h http.Header) { h.Del("X-Slack-Signature") }, 403},
		"no timestamp":         {func(h http.Header) { h.Del("X-Slack-Request-Timestamp") }, 403},
		"timestamp of no form": {func(h http.Header) { h.Set("X-Slack-Request-Timestamp", "soon") }, 403},
		"another timestamp":    {func(h http.Header) { h.Set("X-Slack-Request-Timestamp", strconv.FormatInt(time.Now().Unix()-1, 10)) }, 403},
		"another version":      {func(h http.Header) { h.Set("X-Slack-Signature", "v1"+h.Get("X-Slack-Signature")[2:]) }, 403},
		"capital digits":       {func(h http.Header) { h.Set("X-Slack-Signature", "v0="+strings.ToUpper(h.Get("X-Slack-Signature")[3:])) }, 200},
		"cut":                  {func(h http.Header) { h.Set("X-Slack-Signature", h.Get("X-Slack-Signature")[:20]) }, 403},
		"empty":                {func(h http.Header) { h.Set("X-Slack-Signature", "v0=") }, 403},
	} {
		require.Equal(t, c.want, b.call(t.Context(), slacktest.Interactive, body, c.change).Code, name)
	}
	// Changed by one byte, or read and written anew (a `*` becomes %2A): another body.
	again, err := url.ParseQuery(string(body))
	require.NoError(t, err)
	for _, changed := range []string{string(body) + " ", again.Encode()} {
		require.Equal(t, 403, b.call(t.Context(), slacktest.Interactive, []byte(changed), func(h http.Header) {
			b.server.Sign(h, time.Now(), body)
		}).Code, changed)
	}
	require.Contains(t, b.log.String(), "the clock is wrong, or Slack's calls arrive late")
	require.Empty(t, b.desk.Messages())
}

func TestC09UnsignedChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, _ := b.asks(t, ada)
	wrong := func(h http.Header) { h.Set("X-Slack-Signature", "v0="+strings.Repeat("ab", 32)) }
	body, _ := slacktest.Body(slacktest.Events, b.server.Compose(dm, ada, "yes"))
	require.Equal(t, 403, b.call(t.Context(), slacktest.Events, body, wrong).Code)
	press, err := b.server.ComposePress(ada, question, "Yes")
	require.NoError(t, err)
	body, _ = slacktest.Body(slacktest.Interactive, press)
	require.Equal(t, 403, b.call(t.Context(), slacktest.Interactive, body, wrong).Code)
	b.Wait()
	require.Empty(t, b.desk.Messages())
	require.Empty(t, b.desk.Clicks())
	require.Empty(t, b.server.Whispers())
	require.Empty(t, b.server.Reactions())
}

func TestC10AddressCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body := []byte(`{"type":"url_verification","token":"x","challenge":"abc"}`)
	signed := b.call(t.Context(), slacktest.Events, body)
	require.Equal(t, 200, signed.Code)
	require.Equal(t, "abc", signed.Body.String())
	unsigned := b.call(t.Context(), slacktest.Events, body, func(h http.Header) { h.Del("X-Slack-Signature") })
	require.Equal(t, 403, unsigned.Code)
	require.Empty(t, unsigned.Body.String())
	require.Empty(t, b.desk.Messages())
}
