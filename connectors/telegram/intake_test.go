package telegram_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	now := time.Date(2029, 1, 1, 10, 0, 0, 0, time.UTC)
	b := newBench(t, func(p *telegram.Params) { p.Now = func() time.Time { return now } })
	require.Equal(t, 200, b.say(t, 7, telegramtest.Private(ada), ada, "yes"))
	got := b.desk.Messages()
	require.Len(t, got, 1)
	require.Equal(t, chat.Message{
		UUID: got[0].UUID, EventID: "telegram:update:7000001:7", Thread: thread("1001"),
		From: chat.Person{ID: "telegram:1001", Name: "ada", Display: "Ada", Owner: true},
		Text: "yes", Ref: "1001/1", ReceivedAt: now, // never the sender's date
	}, got[0])
}

func TestD04WebhookStatuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	good := []byte(`{"update_id":1,"edited_message":{}}`)
	require.Equal(t, 200, b.post(ctx, secret, good))
	require.Equal(t, 401, b.post(ctx, "", good), "D04: none")
	require.Equal(t, 401, b.post(ctx, "wrong", good), "D04: wrong")
	require.Equal(t, 401, b.post(ctx, secret[:5], good))
	require.Equal(t, 200, b.post(ctx, secret, []byte(`{`)), "again would be no better")
	require.Equal(t, 413, b.post(ctx, secret, make([]byte, 1<<20+1)))
	require.Equal(t, 401, b.post(ctx, "wrong", make([]byte, 1<<20+1)), "a stranger's body is not even read")

	polling := newBench(t, func(p *telegram.Params) { p.Mode, p.WebhookSecret = telegram.Polling, "" })
	require.Equal(t, 401, polling.post(ctx, "", good), "no secret opens nothing")
}

// Whom the configuration calls an agent stays one, whatever account it writes with.
func TestH02AgentsStayAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *telegram.Params) {
		p.Identify = func(id string) chat.Person { return chat.Person{ID: id, Name: "robot", Bot: true} }
	})
	require.Equal(t, 200, b.say(t, 1, telegramtest.Private(ada), ada, "yes"))
	require.True(t, b.desk.Messages()[0].From.Bot, "the conversation drops it")
}

func TestAccountCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, 200, b.say(t, 1, telegramtest.Private(eve), eve, "yes"))
	require.Equal(t, 200, b.say(t, 2, telegramtest.Chat{ID: 6666}, eve, "yes"), "a chat of no type is private")
	require.Empty(t, b.desk.Messages())
	require.Empty(t, b.server.Sent(eve.ID), "dropped silently")

	require.Equal(t, 200, b.say(t, 3, group, eve, "yes"))
	got := b.desk.Messages()
	require.Len(t, got, 1, "in groups anyone")
	require.Equal(t, chat.Person{ID: "telegram:6666", Display: "ada"}, got[0].From, "H01: a display name is no identity")
	require.Equal(t, "telegram:6666", got[0].From.Key())
}

func TestMention(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"@countersign_test_bot yes":    "yes",
		"@Countersign_TEST_bot\nyes":   "yes",
		"@countersign_test_botyes":     "@countersign_test_botyes",
		"@someone_else yes":            "@someone_else yes",
		"yes @countersign_test_bot":    "yes @countersign_test_bot",
		"mail me at a@b.test":          "mail me at a@b.test",
		"@countersign_test_bot @x yes": "@x yes",
	} {
		b := newBench(t)
		require.Equal(t, 200, b.say(t, 1, group, bob, text))
		require.Equal(t, 200, b.say(t, 2, telegramtest.Private(ada), ada, text))
		got := b.desk.Messages()
		require.Equal(t, want, got[0].Text)
		if want == text {
			require.Empty(t, got[0].Raw)
		} else {
			require.Equal(t, text, got[0].Raw)
		}
		require.Equal(t, text, got[1].Text, "only in groups")
	}
}

func TestMentionWhileTelegramIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Break(connectortest.HTML(502), "getMe")
	require.Equal(t, 200, b.say(t, 1, group, bob, "@countersign_test_bot yes"))
	require.Equal(t, 200, b.say(t, 2, group, bob, "@countersign_test_bot yes"))
	got := b.desk.Messages()
	require.Equal(t, "@countersign_test_bot yes", got[0].Text)
	require.Equal(t, "yes", got[1].Text)
}

func TestD20ReplyTo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	receipt, err := b.Post(t.Context(), card("-100200"))
	require.NoError(t, err)
	prompt := b.server.Sent(group.ID)[0]
	require.Equal(t, 200, b.say(t, 1, group, bob, "yes", b.server.ReplyTo(prompt)))
	require.Equal(t, 200, b.say(t, 2, group, bob, "yes", telegramtest.With("reply_to_message",
		map[string]any{"message_id": 3, "from": ada, "chat": group})))
	require.Equal(t, 200, b.say(t, 3, group, bob, "yes", telegramtest.With("reply_to_message",
		map[string]any{"message_id": 3, "from": bot, "chat": group})))
	got := b.desk.Messages()
	require.Equal(t, receipt.Ref, got[0].ReplyTo)
	require.Empty(t, got[1].ReplyTo, "another person's message")
	require.Empty(t, got[2].ReplyTo, "another bot's message")
}

func TestForwarded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.say(t, 1, telegramtest.Private(ada), ada, "yes", telegramtest.With("forward_origin", map[string]any{"type": "user", "sender_user": bob}))
	require.True(t, b.desk.Messages()[0].Forwarded)
	require.Equal(t, "telegram:1001", b.desk.Messages()[0].From.ID)
}

func document(id, name string, size int64) telegramtest.Option {
	return telegramtest.With("document", map[string]any{"file_id": id, "file_name": name, "file_size": size})
}

func TestD15LargestPhoto(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	small, large := b.server.Upload("s.jpg", []byte("small")), b.server.Upload("l.jpg", []byte("large"))
	require.Equal(t, 200, b.say(t, 1, telegramtest.Private(ada), ada, "", telegramtest.With("caption", "yes"), telegramtest.With("photo", []map[string]any{
		{"file_id": small, "width": 90, "height": 60}, {"file_id": large, "width": 1280, "height": 800},
	})))
	got := b.desk.Messages()[0]
	require.Equal(t, "yes", got.Text, "a caption counts as the text")
	require.Len(t, got.Files, 1)
	require.Equal(t, "inbound/"+got.UUID+"/photo.jpg", got.Files[0].Path)
	require.EqualValues(t, 5, got.Files[0].Size)
	require.Equal(t, "large", string(b.files.content[got.Files[0].Path]))
}

func TestD14FilesThatCannotBeHad(t *testing.T) {
	t.Parallel()
	const tooLarge = "larger than 20 MB, Telegram does not hand it out"
	b := newBench(t)
	huge := b.server.Huge("film.mkv", 20<<20+1)
	for n, c := range []struct {
		option  telegramtest.Option
		problem string
	}{
		{document(huge, "film.mkv", 20<<20+1), tooLarge},
		{document(huge, "film.mkv", 0), tooLarge}, // the size is not told, getFile refuses
		{document("no-such-file", "x.bin", 3), "Telegram does not hand it out (Bad Request: wrong file_id or the file is temporarily unavailable)"},
	} {
		require.Equal(t, 200, b.say(t, n, telegramtest.Private(ada), ada, "", telegramtest.With("caption", "yes"), c.option), "acknowledged, or it would come for ever")
		got := b.desk.Messages()[n]
		require.Equal(t, "yes", got.Text)
		require.Equal(t, c.problem, got.Files[0].Problem)
		require.Empty(t, got.Files[0].Path)
	}
	require.Empty(t, b.files.paths())
}

func TestFilesThatFailForNow(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]connectortest.Fault{
		"refused": {Kind: connectortest.Refused}, "lost": {Kind: connectortest.Lost}, "cut": {Kind: connectortest.Cut},
		"page": connectortest.HTML(200), "gate": connectortest.HTML(502), "limit": {Kind: connectortest.RateLimited, RetryAfter: time.Second},
	} {
		for _, method := range []string{"getFile", "file"} {
			t.Run(name+" "+method, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				id := b.server.Upload("a.bin", []byte("content of the file"))
				b.server.Break(fault, method)
				if method == "file" && (fault.Kind == connectortest.Refused || fault.Kind == connectortest.Lost) {
					b.server.Break(fault, method) // Go itself repeats a GET on a connection that was in use before
				}
				require.Equal(t, 503, b.say(t, 1, telegramtest.Private(ada), ada, "yes", document(id, "a.bin", 19)))
				require.Zero(t, b.server.Faults.Left())
				require.Empty(t, b.desk.Messages())
				require.Empty(t, b.files.paths(), "nothing half saved")
				require.NotContains(t, b.log.String(), b.server.Token)
				require.Equal(t, 200, b.say(t, 1, telegramtest.Private(ada), ada, "yes", document(id, "a.bin", 19)))
				require.Equal(t, "content of the file", string(b.files.content[b.desk.Messages()[0].Files[0].Path]))
			})
		}
	}
}

// Telegram redelivers; when a file stays away, the text must get through in the end.
func TestPatienceWithFiles(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := newBench(t, func(p *telegram.Params) { p.Now = func() time.Time { return now } })
	b.files.fail = errors.New("disk full")
	id := b.server.Upload("a.bin", []byte("x"))
	say := func() int { return b.say(t, 1, telegramtest.Private(ada), ada, "yes", document(id, "a.bin", 1)) }
	require.Equal(t, 503, say())
	now = now.Add(time.Minute)
	require.Equal(t, 503, say())
	now = now.Add(2 * time.Minute)
	require.Equal(t, 200, say())
	got := b.desk.Messages()[0]
	require.Equal(t, "yes", got.Text)
	require.Contains(t, got.Files[0].Problem, "send it again")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	var keys []string
	b := newBench(t, func(p *telegram.Params) {
		p.RateLimit = func(key string) bool { keys = append(keys, key); return len(keys) < 2 }
	})
	require.Equal(t, 200, b.say(t, 1, group, bob, "one"))
	require.Equal(t, http.StatusTooManyRequests, b.say(t, 2, telegramtest.Chat{ID: group.ID, Type: "supergroup", Topic: 42}, bob, "two"))
	require.Equal(t, []string{"-100200", "-100200"}, keys, "the chat, whatever the topic")
	require.Len(t, b.desk.Messages(), 1)
}

func TestD09PressAnswered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.desk.Verdict = func(c chat.Click) chat.Verdict {
		if c.Action == chat.ActionYes {
			return chat.Verdict{Standing: chat.StandingTaken}
		}
		return chat.Verdict{Standing: chat.StandingClosed, Reason: "timeout"}
	}
	b.server.Webhook(serve(t, b), secret)
	_, err := b.Post(t.Context(), card("1001"))
	require.NoError(t, err)
	prompt := b.server.Sent(ada.ID)[0]
	_, first, err := b.server.Press(ada, prompt, "Yes")
	require.NoError(t, err)
	require.NoError(t, b.server.AwaitTaken(t.Context()))
	told, _ := b.server.Answer(first)
	require.Equal(t, "Recorded", told)

	_, second, err := b.server.Press(ada, prompt, "No")
	require.NoError(t, err)
	require.NoError(t, b.server.AwaitTaken(t.Context()))
	told, _ = b.server.Answer(second)
	require.Equal(t, "This question is closed: timeout", told)
}

// The decision is recorded although Telegram refuses the answer to the press: that is final.
func TestD09PressTooOld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Expire("q1")
	press := map[string]any{"id": "q1", "from": ada, "data": "y:01J9", "message": map[string]any{"message_id": 1, "chat": telegramtest.Private(ada)}}
	require.Equal(t, 200, b.update(t, 1, "callback_query", press))
	require.Len(t, b.desk.Clicks(), 1)
	require.Len(t, b.server.Calls("answerCallbackQuery"), 1)

	b.server.Break(connectortest.HTML(502), "answerCallbackQuery")
	require.Equal(t, 200, b.update(t, 2, "callback_query", press), "best effort")
}

func TestH01Press(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	press := func(who telegramtest.Person, where telegramtest.Chat) map[string]any {
		return map[string]any{"id": "q1", "from": who, "data": "y:01J9", "message": map[string]any{"message_id": 1, "chat": where}}
	}
	require.Equal(t, 200, b.update(t, 1, "callback_query", press(eve, telegramtest.Private(eve))))
	require.Equal(t, 200, b.update(t, 2, "callback_query", press(eve, telegramtest.Chat{ID: -9, Type: "channel"})), "anyone can read a channel")
	require.Equal(t, 200, b.update(t, 3, "callback_query", press(bot, group)))
	require.Empty(t, b.desk.Clicks())
	require.Equal(t, 200, b.update(t, 4, "callback_query", press(eve, telegramtest.Chat{ID: -100999, Type: "supergroup"})))
	require.Equal(t, "-100999", b.desk.Clicks()[0].Thread.Key, "the chat it was pressed in, for the desk to compare")
	require.Empty(t, b.desk.Clicks()[0].By.Name)
}

func TestD10OwnKeyAsInvocation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card("1001")
	c.Invocation = strings.Repeat("é", 31)
	_, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	b.server.Webhook(serve(t, b), secret)
	_, _, err = b.server.Press(ada, b.server.Sent(ada.ID)[0], "Yes")
	require.NoError(t, err)
	require.NoError(t, b.server.AwaitTaken(t.Context()))
	require.Equal(t, telegram.Digest(c.Invocation), b.desk.Clicks()[0].Invocation)
}

func serve(t *testing.T, b *bench) string {
	t.Helper()
	server := httptest.NewServer(b.Handler())
	t.Cleanup(server.Close)
	return server.URL
}
