package slack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

func TestC04EditsAreNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.know("C01:1.1")
	edited := map[string]any{"user": ada, "ts": "1700000001.000000"}
	for name, options := range map[string][]slacktest.Option{
		"no to yes": {
			slacktest.With("subtype", "message_changed"), slacktest.With("hidden", true),
			slacktest.With("message", map[string]any{"type": "message", "user": ada, "text": "yes", "edited": edited}),
			slacktest.With("previous_message", map[string]any{"user": ada, "text": "no"}),
		},
		"changed without hidden":                 {slacktest.With("subtype", "message_changed")},
		"a mention added by an edit (H12)":       {slacktest.With("type", "app_mention"), slacktest.With("edited", edited)},
		"a message that says it was edited":      {slacktest.With("edited", edited)},
		"deleted":                                {slacktest.With("subtype", "message_deleted")},
		"replied":                                {slacktest.With("subtype", "message_replied")},
		"hidden":                                 {slacktest.With("hidden", true)},
		"a reaction (H13)":                       {slacktest.With("type", "reaction_added"), slacktest.With("reaction", "+1")},
		"an event whose user is an object":       {slacktest.With("type", "team_join"), slacktest.With("user", map[string]any{"id": ada})},
		"a subtype with fields of another shape": {slacktest.With("subtype", "bot_add"), slacktest.With("files", "none")},
	} {
		require.Equal(t, 200, b.say(t, dm, ada, "yes", options...), name)
		require.Equal(t, 200, b.say(t, channel, ada, "<@U0BOT> yes", options...), name)
	}
	require.Empty(t, b.desk.Messages())
}

func TestC05BotsAndJoinsAreNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, options := range map[string][]slacktest.Option{
		"our own by bot_id":    {slacktest.With("bot_id", "B0BOT")},
		"our own by user":      {slacktest.With("user", "U0BOT")},
		"another app":          {slacktest.With("subtype", "bot_message"), slacktest.With("bot_id", "B02"), slacktest.With("user", nil)},
		"another app as user":  {slacktest.With("bot_profile", map[string]any{"id": "B02"})},
		"an app's user token":  {slacktest.With("app_id", "A02")},
		"slackbot":             {slacktest.With("user", "USLACKBOT")},
		"join":                 {slacktest.With("subtype", "channel_join")},
		"topic":                {slacktest.With("subtype", "channel_topic")},
		"nobody":               {slacktest.With("user", nil)},
		"a user of no form":    {slacktest.With("user", "U01/../x")},
		"a ts that is no time": {slacktest.With("ts", "now")},
		"nothing in it":        {slacktest.With("text", "")},
		"mention by a bot":     {slacktest.With("type", "app_mention"), slacktest.With("bot_id", "B02")},
	} {
		require.Equal(t, 200, b.say(t, channel, ada, "<@U0BOT> yes", options...), name)
	}
	require.Empty(t, b.desk.Messages())
	require.Empty(t, b.asked)
}

func TestC06FilesAreInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := b.server.Upload("report.pdf", "application/pdf", []byte("%PDF"))
	require.Equal(t, 200, b.say(t, dm, ada, "yes", slacktest.With("subtype", "file_share"), slacktest.With("files", []any{file})))
	got := b.only(t)
	require.Equal(t, "yes", got.Text)
	require.Equal(t, "inbound/uuid-1/report.pdf", got.Files[0].Path)
	require.Equal(t, "%PDF", b.files.read(got.Files[0].Path))

	require.Equal(t, 200, b.say(t, channel, bob, "<@U0BOT> yes", slacktest.With("subtype", "thread_broadcast"), slacktest.In("1700000000.000100", ada)))
	require.Len(t, b.desk.Messages(), 2, "a reply that is also shown in the channel")
}

func TestC09SignatureAndClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, body := []byte(nil), []byte("payload="+url.QueryEscape(`{"type":"x","a":"`)+"*"+url.QueryEscape(`"}`))
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

func TestC11TwoPresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Date(2029, 1, 1, 12, 3, 4, 0, time.UTC)
	var once sync.Once
	b.desk.Verdict = func(chat.Click) chat.Verdict {
		verdict := chat.Verdict{Standing: chat.StandingDecided, Decision: &chat.Decision{Decision: chat.Allow, By: "ada", At: at}}
		once.Do(func() { verdict = chat.Verdict{Standing: chat.StandingTaken} })
		return verdict
	}
	question, receipt := b.asks(t, "C01:1700000000.000100")
	require.Equal(t, 200, b.press(t, ada, question, "Yes"))
	b.Wait()
	require.Empty(t, b.server.Whispers(), "the question itself will say it")
	require.Equal(t, 200, b.press(t, bob, question, "No"))
	whispers, err := b.server.AwaitWhispers(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, []slacktest.Whisper{{
		Channel: channel, User: bob, Thread: "1700000000.000100", Text: "Already decided by ada at 12:03:04 UTC",
	}}, whispers)

	closed := card("C01:1700000000.000100")
	closed.Closed = "✅ Approved by ada at 12:03:04 UTC."
	require.NoError(t, b.Edit(t.Context(), receipt, closed))
	require.Empty(t, b.server.Sent(channel)[0].Buttons)
	require.Equal(t, closed.Text+"\n"+closed.Closed, b.server.Sent(channel)[0].Shown())
}

// The button says which question it is: nothing is kept in memory.
func TestC12PressAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, _ := b.asks(t, "C01:1700000000.000100")
	restarted := benchFor(t, b.desk)
	require.Equal(t, 200, restarted.press(t, bob, question, "Always allow"))
	clicks := b.desk.Clicks()
	require.Len(t, clicks, 1)
	require.Equal(t, card("").Invocation, clicks[0].Invocation)
	require.Equal(t, chat.ActionAlways, clicks[0].Action)
	require.Equal(t, thread("C01:1700000000.000100"), clicks[0].Thread)
	require.Equal(t, chat.Person{ID: "slack:T01/U02", Name: "bob", Display: "u02"}, clicks[0].By)
}

// Slack's response_url works for half an hour: it is never called.
func TestC13NoResponseURL(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var calls []string
	stale := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.URL.Path)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(stale.Close)
	question, receipt := b.asks(t, ada)
	require.Equal(t, 200, b.press(t, ada, question, "Yes", slacktest.With("response_url", stale.URL)))
	require.Len(t, b.desk.Clicks(), 1, "recorded before and without the message")
	closed := card(ada)
	closed.Closed = "✅ Approved by ada."
	require.NoError(t, b.Edit(t.Context(), receipt, closed))
	require.Equal(t, question.TS, b.server.Calls("chat.update")[0].Params["ts"])
	b.Wait()
	require.Empty(t, calls)
}

func TestC14LongPrompts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"3001 characters": strings.Repeat("x", 3001),
		"2990 ampersands": strings.Repeat("&", 2990),
		"pairs":           strings.Repeat("😀", 1600),
		"very long":       strings.Repeat("line\n", 20000),
	} {
		b := newBench(t)
		c := card("C01:1700000000.000100")
		c.Text = "⚠️ " + text + " Reply 'Yes' to confirm."
		receipt, err := b.Post(t.Context(), c)
		require.NoError(t, err, name)
		sent := b.server.Sent(channel)
		require.Len(t, sent, 2, name)
		require.Equal(t, "prompt.txt", sent[0].File, "the whole comes first")
		require.Equal(t, c.Text, string(sent[0].Content))
		require.Equal(t, "1700000000.000100", sent[0].Thread)
		require.Contains(t, sent[1].Shown(), "characters left out; the whole is in prompt.txt, SHA-256 ")
		require.True(t, strings.HasSuffix(sent[1].Shown(), " Reply 'Yes' to confirm."), "how to answer stays")
		require.Len(t, sent[1].Buttons, 3)

		c.Closed = "⌛ Timed out at 12:03:04 UTC."
		require.NoError(t, b.Edit(t.Context(), receipt, c), name)
		require.True(t, strings.HasSuffix(b.server.Sent(channel)[1].Shown(), c.Closed))
	}
	exact := card(ada)
	exact.Text = strings.Repeat("x", 2970) + strings.Repeat("&", 6)
	b := newBench(t)
	_, err := b.Post(t.Context(), exact)
	require.NoError(t, err)
	require.Equal(t, exact.Text, b.server.Sent(dm)[0].Shown(), "3000 fit whole")
}

// If the whole can not be shown the question is not delivered, rather than shown in part.
func TestC14NoFileNoQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card(ada)
	c.Text = strings.Repeat("x", 3001)
	for _, method := range []string{"files.getUploadURLExternal", "upload", "files.completeUploadExternal"} {
		b.server.Break(connectortest.HTML(502), method)
		_, err := b.Post(t.Context(), c)
		require.True(t, classified(t, err).Temporary, method)
	}
	require.Empty(t, b.server.Sent(dm))
}

func TestC15DataIsNoMarkup(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		"<https://attacker.test|docs.example.test>", "<!channel>", "*approved*", "```", "a&amp;b", "<@U01>", ":tada: _x_ ~y~", "> quote",
	} {
		b := newBench(t)
		c := card("C01:1700000000.000100")
		c.Text = "⚠️ Delete the file at " + data + "? Reply 'Yes' to confirm."
		receipt, err := b.Post(t.Context(), c)
		require.NoError(t, err)
		c.Closed = "❌ Denied by " + data
		check := func() {
			m := b.server.Sent(channel)[0]
			var sections []struct {
				Type string
				Text struct {
					Type, Text string
					Emoji      *bool
				}
			}
			require.NoError(t, json.Unmarshal(m.Blocks, &sections))
			require.Equal(t, "plain_text", sections[0].Text.Type)
			require.Equal(t, c.Text, sections[0].Text.Text, "as it is")
			require.False(t, *sections[0].Text.Emoji)
			escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(data)
			require.Contains(t, m.Text, "at "+escaped+"?", "escaped once")
			require.NotRegexp(t, `[<>]`, m.Text)
		}
		check()
		require.NoError(t, b.Edit(t.Context(), receipt, c))
		check()

		require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: c.Thread, Text: data}, progress{}))
		reply := b.server.Sent(channel)[1]
		require.False(t, reply.Markup)
		require.Equal(t, data, reply.Shown())
	}
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
