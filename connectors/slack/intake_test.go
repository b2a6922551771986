package slack_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	now := time.Date(2029, 1, 1, 10, 0, 0, 0, time.UTC)
	b := newBench(t, func(p *slack.Params) { p.Now = func() time.Time { return now } })
	require.Equal(t, 200, b.send(t, slacktest.Events, b.server.Envelope(dm, ada, "yes", "1700000000.000100")))
	require.Equal(t, []chat.Message{{
		UUID: "uuid-1", EventID: "slack:T01:D01:1700000000.000100", Thread: thread(ada),
		From: chat.Person{ID: "slack:T01/U01", Name: "ada", Owner: true},
		Text: "yes", Ref: "D01/1700000000.000100", ReceivedAt: now, // never Slack's time
	}}, b.desk.Messages())
	b.Wait()
	require.Equal(t, []string{"D01/1700000000.000100 eyes"}, b.server.Reactions())
	require.Empty(t, b.asked, "nobody is asked about direct messages")
	require.Empty(t, b.server.Calls("auth.test"), "a webhook does no look-ups")
}

func TestWebhookStatuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	for name, c := range map[string]struct {
		kind slacktest.Kind
		body string
		want int
	}{
		"not JSON":                 {slacktest.Events, "{", 200}, // again would be no better
		"no type":                  {slacktest.Events, "{}", 200},
		"an event that is none":    {slacktest.Events, `{"type":"event_callback","team_id":"T01","event":[]}`, 200},
		"an event of another type": {slacktest.Events, `{"type":"app_rate_limited","team_id":"T01"}`, 200},
		"no workspace":             {slacktest.Events, `{"type":"event_callback","event":{"type":"message","user":"U01","channel":"D01","ts":"1.1","text":"yes"}}`, 200},
		"no form":                  {slacktest.Interactive, "payload=%zz", 200},
		"no payload":               {slacktest.Interactive, "", 200},
		"another interaction":      {slacktest.Interactive, "payload=" + `{"type":"view_submission"}`, 200},
		"too large":                {slacktest.Events, strings.Repeat("x", 1<<20+1), 413},
	} {
		require.Equal(t, c.want, b.call(ctx, c.kind, []byte(c.body)).Code, name)
	}
	for _, path := range []string{slack.EventsPath, slack.InteractivityPath} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
		require.NoError(t, err)
		w := recorder()
		b.handler().ServeHTTP(w, request)
		require.Equal(t, 405, w.Code)
	}
	require.Empty(t, b.desk.Messages())
	require.Empty(t, b.desk.Clicks())

	socket := newBench(t, func(p *slack.Params) { p.Mode, p.SigningSecret = slack.Socket, "" })
	require.Equal(t, 403, socket.call(ctx, slacktest.Events, []byte("{}")).Code, "no secret opens nothing")
}

func TestH16TheDeskDecidesTheStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body, _ := slacktest.Body(slacktest.Events, b.server.Compose(dm, ada, "yes"))
	b.desk.Fail(chat.ErrUnreachable, fmt.Errorf("wrapped: %w", chat.ErrUnreachable), errors.New("other"))
	for range 3 {
		w := b.call(t.Context(), slacktest.Events, body)
		require.Equal(t, 503, w.Code)
		require.Empty(t, w.Header().Get("X-Slack-No-Retry"))
	}
	require.Equal(t, 200, b.call(t.Context(), slacktest.Events, body).Code)
	b.only(t)
	b.Wait()
	require.Len(t, b.server.Reactions(), 1, "only what was taken")
}

func TestAccountCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, 200, b.say(t, "D06", eve, "yes"))
	require.Equal(t, 200, b.say(t, "D06", eve, "yes", slacktest.With("channel_type", nil)), "a D is private whatever is said")
	require.Empty(t, b.desk.Messages())
	b.Wait()
	require.Empty(t, b.server.Calls("chat.postMessage"), "dropped silently")
	require.Empty(t, b.server.Reactions())

	require.Equal(t, 200, b.say(t, channel, eve, "<@U0BOT> yes"))
	require.Equal(t, chat.Person{ID: "slack:T01/U06"}, b.only(t).From, "in channels anyone, by their id")
	require.Equal(t, 200, b.say(t, "G01", eve, "<@U0BOT> yes", slacktest.With("channel_type", "mpim")))
	got := b.desk.Messages()
	require.True(t, strings.HasPrefix(got[1].Thread.Key, "G01:"), "a group message is like a channel")
	require.Equal(t, 200, b.say(t, "G01", eve, "yes", slacktest.With("channel_type", "mpim")))
	require.Len(t, b.desk.Messages(), 2)
}

// H01, H02: people of another workspace, in a channel that is shared with it, are nobody.
func TestH01ExternalPeople(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]slacktest.Option{
		"user_team":   {slacktest.With("user_team", "T09"), slacktest.With("source_team", "T09")},
		"source_team": {slacktest.With("source_team", "T09")},
		"team":        {slacktest.With("team", "T09")},
		"all but one": {slacktest.With("team", "T01"), slacktest.With("user_team", "T09")},
		"listed":      {slacktest.With("user_team", "T09"), slacktest.With("user", "U01")}, // the id of somebody here
	} {
		b := newBench(t)
		b.know("C01:1700000000.000100")
		require.Equal(t, 200, b.say(t, channel, mallory, "<@U0BOT> yes", options...), name)
		require.Equal(t, 200, b.say(t, channel, mallory, "yes", append(options, slacktest.In("1700000000.000100", ada))...), name)
		require.Equal(t, 200, b.say(t, "D09", mallory, "yes", options...), name)
		require.Empty(t, b.desk.Messages(), name)
	}
	b := newBench(t)
	question, _ := b.asks(t, "C01:1700000000.000100")
	require.Equal(t, 200, b.press(t, mallory, question, "Yes", slacktest.With("user", map[string]any{"id": mallory, "team_id": "T09"})))
	whispers, err := b.server.AwaitWhispers(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "You may not answer this one", whispers[0].Text)
	require.Equal(t, mallory, whispers[0].User)
	require.Empty(t, b.desk.Clicks())

	// The installation, not the place of the event, says whose app it is.
	b = newBench(t)
	shared := b.server.Compose(channel, bob, "<@U0BOT> yes")
	shared["team_id"], shared["is_ext_shared_channel"] = "T09", true
	require.Equal(t, 200, b.send(t, slacktest.Events, shared))
	require.Equal(t, "slack:T01/U02", b.only(t).From.ID)
}

func TestThreadsOfTheApp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const root = "1700000000.000100"
	in := slacktest.In(root, ada)
	require.Equal(t, 200, b.say(t, channel, ada, "yes", in))
	require.Empty(t, b.desk.Messages(), "a thread it is not in")
	require.Equal(t, []string{"C01:" + root}, b.asked)

	b.fail = chat.ErrUnreachable
	require.Equal(t, 503, b.say(t, channel, ada, "yes", in), "not to be lost while nobody knows")
	b.fail = nil
	b.know("C01:" + root)
	require.Equal(t, 200, b.say(t, channel, ada, "yes", in))
	require.Equal(t, thread("C01:"+root), b.only(t).Thread)
	require.Empty(t, b.only(t).ReplyTo, "the thread's first message is a person's")

	require.Equal(t, 200, b.say(t, channel, ada, "yes", slacktest.In("1700000005.000100", "U0BOT")))
	got := b.desk.Messages()[1]
	require.Equal(t, thread("C01:1700000005.000100"), got.Thread, "a thread that the app began")
	require.Equal(t, "C01/1700000005.000100", got.ReplyTo)

	require.Equal(t, 200, b.say(t, channel, ada, "<@U02> yes"))
	require.Equal(t, 200, b.say(t, channel, ada, "U0BOT yes"))
	require.Len(t, b.desk.Messages(), 2, "mentions somebody else, or nobody")
}

func TestRepliesInDirectMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, receipt := b.asks(t, ada)
	require.Equal(t, 200, b.say(t, dm, ada, "yes", b.server.Under(question)))
	require.Equal(t, 200, b.say(t, dm, ada, "yes", slacktest.In("1700000000.000100", "U0BOT")))
	require.Equal(t, 200, b.say(t, dm, ada, "yes", slacktest.In("1700000000.000100", ada)))
	require.Equal(t, 200, b.say(t, dm, ada, "yes", slacktest.With("thread_ts", "1700000000.000100")))
	got := b.desk.Messages()
	require.Equal(t, receipt.Ref, got[0].ReplyTo, "in the thread of the question")
	require.Equal(t, thread(ada), got[0].Thread)
	require.Equal(t, "D01/1700000000.000100", got[1].ReplyTo, "of another message of ours: not an answer to this one")
	require.Empty(t, got[2].ReplyTo, "of their own")
	require.Equal(t, "D01/1700000000.000100", got[3].ReplyTo, "of nobody knows whom: counted for another")

	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: got[2].Thread, To: got[2].Ref, Text: "done"}, progress{}))
	sent := b.server.Sent(dm)
	require.Equal(t, "1700000000.000100", sent[len(sent)-1].Thread, "replies go back where the message came from")
	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread(ada), To: "D01/1700000000.000100", Text: "done"}, progress{}))
	sent = b.server.Sent(dm)
	require.Empty(t, sent[len(sent)-1].Thread)
}

func TestWhoTheAppIs(t *testing.T) {
	t.Parallel()
	bare := func(b *bench, text string, options ...slacktest.Option) int {
		e := b.server.Compose(channel, bob, text, options...)
		delete(e, "authorizations")
		return b.send(t, slacktest.Events, e)
	}
	b := newBench(t)
	b.server.Break(connectortest.HTML(502), "auth.test")
	require.Equal(t, 503, bare(b, "<@U0BOT> yes"), "it might be meant for us")
	require.Equal(t, 200, bare(b, "<@U0BOT> yes"))
	require.Equal(t, 200, bare(b, "<@U02> yes"))
	require.Equal(t, "yes", b.only(t).Text)
	require.Len(t, b.server.Calls("auth.test"), 1, "asked once")

	configured := newBench(t, func(p *slack.Params) { p.BotUserID = "U0CONF" })
	require.Equal(t, 200, bare(configured, "<@U0CONF> yes"))
	require.Equal(t, "yes", configured.only(t).Text)
	require.Empty(t, configured.server.Calls("auth.test"))
}

func TestTextAsTyped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const raw = "delete &lt;old&gt; <http://notes.md|notes.md> &amp; a"
	require.Equal(t, 200, b.say(t, dm, ada, raw))
	require.Equal(t, "delete <old> notes.md & a", b.only(t).Text)
	require.Equal(t, raw, b.only(t).Raw, "for programs that read our Redis keys")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	var keys []string
	b := newBench(t, func(p *slack.Params) {
		p.RateLimit = func(key string) bool { keys = append(keys, key); return len(keys) != 2 }
	})
	require.Equal(t, 200, b.say(t, channel, bob, "<@U0BOT> one"))
	body, _ := slacktest.Body(slacktest.Events, b.server.Compose(channel, bob, "<@U0BOT> two"))
	limited := b.call(t.Context(), slacktest.Events, body)
	require.Equal(t, http.StatusTooManyRequests, limited.Code)
	require.Equal(t, "5", limited.Header().Get("Retry-After"))
	require.Equal(t, 200, b.call(t.Context(), slacktest.Events, body).Code)
	require.Equal(t, 200, b.call(t.Context(), slacktest.Events, body).Code, "a redelivery counts no second time")
	require.Equal(t, 200, b.say(t, channel, bob, "to somebody else"))
	require.Equal(t, []string{"C01:U02", "C01:U02", "C01:U02"}, keys)
	require.Len(t, b.desk.Messages(), 2)
}

// H05, H06, H07: what counts as a yes is for others to decide; nothing is changed here.
func TestH07TextsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"YES ", "  Yes\t", "*yes*", "Yes.", "not yes", "yes, but only A", "👍", "\u200byes", "yes\r\nplease"} {
		b := newBench(t)
		require.Equal(t, 200, b.say(t, dm, ada, text))
		require.Equal(t, text, b.only(t).Text)
		require.Empty(t, b.only(t).Raw)
	}
}
