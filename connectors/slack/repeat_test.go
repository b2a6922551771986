package slack_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func TestC01RetriesHaveOneEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body, _ := slacktest.Body(slacktest.Events, b.server.Compose(dm, ada, "yes"))
	b.desk.Fail(chat.ErrUnreachable) // the first attempt dies before it is stored
	require.Equal(t, 503, b.call(t.Context(), slacktest.Events, body).Code)
	for n := 1; n <= 3; n++ {
		require.Equal(t, 200, b.call(t.Context(), slacktest.Events, body, func(h http.Header) {
			h.Set("X-Slack-Retry-Num", strconv.Itoa(n))
			h.Set("X-Slack-Retry-Reason", "http_timeout")
		}).Code)
	}
	require.Equal(t, "yes", b.only(t).Text, "a retry is not dropped for its header")

	// Another process knows nothing of it; the id tells the desk.
	other := benchFor(t, b.desk)
	require.Equal(t, 200, other.call(t.Context(), slacktest.Events, body).Code)
	got := b.desk.Messages()
	require.Len(t, got, 2)
	require.Equal(t, got[0].EventID, got[1].EventID)
}

// A retry that comes while the first attempt still works waits for it.
func TestC01RetryDuringTheFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	upload := b.server.Upload("a.bin", "application/octet-stream", []byte("content"))
	b.server.Break(connectortest.Fault{Kind: connectortest.Doubled}, "file") // slow enough to meet
	body, _ := slacktest.Body(slacktest.Events, b.server.Compose(dm, ada, "", slacktest.With("files", []any{upload})))
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if code := b.call(t.Context(), slacktest.Events, body).Code; code != 200 {
				t.Error(code)
			}
		})
	}
	calls.Wait()
	require.Len(t, b.only(t).Files, 1)
	require.Equal(t, 1, b.files.count(), "fetched once")
}

func TestC03MentionAndMessageAreOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const ts = "1700000000.000100"
	message := b.server.Envelope(channel, ada, "<@U0BOT> yes", ts)
	mention := b.server.Envelope(channel, ada, "<@U0BOT> yes", ts, slacktest.With("type", "app_mention"), slacktest.With("channel_type", nil))
	require.Equal(t, 200, b.send(t, slacktest.Events, mention))
	require.Equal(t, 200, b.send(t, slacktest.Events, message))
	got := b.only(t)
	require.Equal(t, "yes", got.Text, "one leading mention of the app is dropped")
	require.Equal(t, "<@U0BOT> yes", got.Raw)
	require.Equal(t, "slack:T01:C01:"+ts, got.EventID)
	require.Equal(t, thread("C01:"+ts), got.Thread)

	other := benchFor(t, b.desk)
	require.Equal(t, 200, other.send(t, slacktest.Events, message))
	require.Equal(t, got.EventID, b.desk.Messages()[1].EventID, "also where both come to different gateways")
}

func TestC03OnlyOurMention(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<@U0BOT> yes":             "yes",
		"<@U0BOT>\nyes":            "yes",
		"<@U0BOT|countersign> yes": "yes",
		"<@U0BOT>\u00a0yes":        "yes",
		"<@U0BOT> <@U0BOT> yes":    "<@U0BOT> yes",
		"<@U02> <@U0BOT> yes":      "<@U02> <@U0BOT> yes",
		"yes <@U0BOT>":             "yes <@U0BOT>",
		"<@U0BOT>yes":              "<@U0BOT>yes",
		"<@U0BOT>, yes":            "<@U0BOT>, yes",
	} {
		b := newBench(t)
		require.Equal(t, 200, b.say(t, channel, eve, text))
		require.Equal(t, want, b.only(t).Text, text)
	}
	b := newBench(t)
	require.Equal(t, 200, b.say(t, dm, ada, "<@U0BOT> yes"))
	require.Equal(t, "<@U0BOT> yes", b.only(t).Text, "only in channels")
}

func TestC17Threads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const root = "1700000000.000100"
	require.Equal(t, 200, b.send(t, slacktest.Events, b.server.Envelope(channel, ada, "<@U0BOT> hello", root)))
	b.know("C01:" + root)
	require.Equal(t, 200, b.send(t, slacktest.Events, b.server.Envelope(channel, ada, "yes", "1700000009.000900", slacktest.In(root, ada))))
	got := b.desk.Messages()
	require.Len(t, got, 2)
	require.Equal(t, thread("C01:"+root), got[0].Thread)
	require.Equal(t, got[0].Thread, got[1].Thread)
	require.Equal(t, "C01/1700000009.000900", got[1].Ref)

	require.Equal(t, 200, b.say(t, channel, ada, "yes"))
	require.Len(t, b.desk.Messages(), 2, "outside of the thread, without a mention: not for us")
	require.Equal(t, 200, b.say(t, channel, ada, "<@U0BOT> yes"))
	require.NotEqual(t, got[0].Thread, b.desk.Messages()[2].Thread, "and with one it is another conversation")

	for _, in := range []string{"yes", "and a file"} {
		require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: got[1].Thread, To: got[1].Ref, Text: in, Files: []chat.File{b.files.put("a.bin", []byte("a"))}}, progress{}))
	}
	_, err := b.Post(t.Context(), card(got[1].Thread.Key))
	require.NoError(t, err)
	for _, m := range b.server.Sent(channel) {
		require.Equal(t, root, m.Thread)
	}
}

// A thread root whose event names itself as its thread is still the root.
func TestC17RootThatNamesItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const ts = "1700000000.000100"
	require.Equal(t, 200, b.send(t, slacktest.Events, b.server.Envelope(channel, ada, "<@U0BOT> hello", ts, slacktest.With("thread_ts", ts))))
	require.Equal(t, thread("C01:"+ts), b.only(t).Thread)
	require.Equal(t, 200, b.send(t, slacktest.Events, b.server.Envelope(dm, ada, "hello", ts, slacktest.With("thread_ts", ts))))
	require.Empty(t, b.desk.Messages()[1].ReplyTo)
}
