package telegram_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

func TestD01DeskDecidesTheStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	message := b.server.Compose(telegramtest.Private(ada), ada, "yes", document(b.server.Upload("a.csv", []byte("a;b")), "a.csv", 3))
	b.desk.Fail(chat.ErrUnreachable, errors.New("other"))
	require.Equal(t, 503, b.update(t, 7, "message", message))
	require.Equal(t, 503, b.update(t, 7, "message", message))
	require.Equal(t, 200, b.update(t, 7, "message", message))
	require.Equal(t, 200, b.update(t, 7, "message", message), "our answer was lost")
	got := b.desk.Messages()
	require.Len(t, got, 1, "what the desk has it is not handed again")

	// The process dies after the desk had it, before Telegram knew.
	again := newBench(t, func(p *telegram.Params) { p.APIURL, p.Desk, p.Files = b.server.URL(), b.desk, b.files })
	require.Equal(t, 200, again.update(t, 7, "message", message))
	got = b.desk.Messages()
	require.Len(t, got, 2)
	require.Equal(t, got[0].EventID, got[1].EventID, "by which the desk drops it")
	require.Equal(t, got[0].UUID, got[1].UUID)
	require.Equal(t, got[0].Files, got[1].Files)
	require.Equal(t, []string{got[0].Files[0].Path}, b.files.paths(), "no second copy")
	require.Len(t, b.server.Calls("getFile"), 1)
}

func TestD01PressSentAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	press := map[string]any{"id": "q1", "from": ada, "data": "y:01J9", "message": map[string]any{"message_id": 1, "chat": telegramtest.Private(ada)}}
	b.desk.Fail(chat.ErrUnreachable)
	require.Equal(t, 503, b.update(t, 7, "callback_query", press))
	require.Equal(t, 200, b.update(t, 7, "callback_query", press))
	require.Equal(t, 200, b.update(t, 7, "callback_query", press))
	clicks := b.desk.Clicks()
	require.Equal(t, clicks[0].EventID, clicks[1].EventID)
}

func TestD05Conflict(t *testing.T) {
	t.Parallel()
	b := newBench(t, polling)
	b.server.Webhook("http://127.0.0.1:1/left-over", "x")
	for range 3 {
		b.server.Break(connectortest.Fault{
			Kind: connectortest.Answer, Status: 409, Type: "application/json",
			Body: `{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}`,
		}, "getUpdates")
	}
	id := b.server.Say(telegramtest.Private(ada), ada, "yes")
	offsets, stop := b.poll(t, 0)
	until(t, offsets, id+1)
	require.ErrorIs(t, stop(), context.Canceled, "a conflict ends no poller")
	require.Zero(t, b.server.Faults.Left())
	require.Len(t, b.desk.Messages(), 1, "nothing is lost")
	require.Contains(t, b.log.String(), "another program polls this bot")
	require.Len(t, b.server.Calls("deleteWebhook"), 1, "what is left over of a webhook is cleared")
}

func TestD08EditIsNoMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	message := b.server.Compose(telegramtest.Private(ada), ada, "later")
	require.Equal(t, 200, b.update(t, 1, "message", message))
	message["text"], message["edit_date"] = "yes", 1
	require.Equal(t, 200, b.update(t, 2, "edited_message", message))
	require.Equal(t, 200, b.update(t, 3, "edited_channel_post", message))
	got := b.desk.Messages()
	require.Len(t, got, 1)
	require.Equal(t, "later", got[0].Text)
}

func TestH12FirstVersionCounts(t *testing.T) {
	t.Parallel()
	for was, becomes := range map[string]string{"no": "yes", "yes": "no"} {
		b := newBench(t)
		message := b.server.Compose(telegramtest.Private(ada), ada, was)
		require.Equal(t, 200, b.update(t, 1, "message", message))
		message["text"] = becomes
		require.Equal(t, 200, b.update(t, 2, "edited_message", message))
		require.Equal(t, 200, b.update(t, 1, "message", message), "not even under the number of the first one")
		got := b.desk.Messages()
		require.Len(t, got, 1)
		require.Equal(t, was, got[0].Text)
	}
}

func TestD19HTML(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, status := range []int{502, 200, 404} {
		b.server.Break(connectortest.HTML(status), "sendMessage")
		_, err := b.Post(t.Context(), card("1001"))
		var classified *chat.Error
		require.ErrorAs(t, err, &classified, status)
		require.True(t, classified.Temporary, "a page says nothing about the request")
		require.NotContains(t, err.Error(), b.server.Token)
	}
	_, err := b.Post(t.Context(), card("1001"))
	require.NoError(t, err)
	require.Len(t, b.server.Sent(ada.ID), 1)
}

func TestH13NoWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	say := func(update int, options ...telegramtest.Option) {
		t.Helper()
		require.Equal(t, 200, b.say(t, update, telegramtest.Private(ada), ada, "", options...))
	}
	voice := b.server.Upload("v.oga", []byte("OggS"))
	say(1, telegramtest.With("sticker", map[string]any{"file_id": "s", "emoji": "👍"}))
	say(2, telegramtest.With("dice", map[string]any{"emoji": "🎲", "value": 6}))
	require.Equal(t, 200, b.update(t, 3, "message_reaction", map[string]any{
		"chat": telegramtest.Private(ada), "message_id": 1, "user": ada, "date": 1, "old_reaction": []any{},
		"new_reaction": []any{map[string]any{"type": "emoji", "emoji": "👍"}},
	}))
	require.Empty(t, b.desk.Messages(), "not heard at all")

	say(4, telegramtest.With("voice", map[string]any{"file_id": voice, "mime_type": "audio/ogg"}))
	say(5, photo(b.server.Upload("p.jpg", []byte("p")), "")[0])
	got := b.desk.Messages()
	require.Len(t, got, 2)
	for i, name := range []string{"voice.ogg", "photo.jpg"} {
		require.Empty(t, got[i].Text, "a file has no words, and no transcript")
		require.Equal(t, name, got[i].Files[0].Name, "it is stored")
	}
}

func TestAnonymousIsNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	anonymous := telegramtest.Person{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
	require.Equal(t, 200, b.say(t, 1, group, anonymous, "yes", telegramtest.With("sender_chat", group)))
	require.Equal(t, 200, b.say(t, 2, group, ada, "yes", telegramtest.With("sender_chat", map[string]any{"id": -5, "type": "channel"})))
	require.Equal(t, 200, b.update(t, 3, "channel_post", b.server.Compose(telegramtest.Chat{ID: -5, Type: "channel"}, ada, "yes")))
	require.Empty(t, b.desk.Messages())
}
