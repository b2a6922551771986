package telegram_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

const (
	oldGroup = int64(-55)
	newGroup = int64(-100777)
)

// A question is open while its group becomes a supergroup.
func TestSupergroupWhileAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gateway := httptest.NewServer(b.Handler())
	t.Cleanup(gateway.Close)
	b.server.Webhook(gateway.URL, secret)
	receipt, err := b.Post(t.Context(), card("-55"))
	require.NoError(t, err)
	prompt := b.server.Sent(oldGroup)[0]
	b.server.Upgrade(ada, oldGroup, newGroup)

	b.server.Say(telegramtest.Chat{ID: newGroup, Type: "supergroup"}, ada, "yes")
	_, _, err = b.server.Press(ada, prompt, "Yes")
	require.NoError(t, err)
	require.NoError(t, b.server.AwaitTaken(t.Context()))
	got := b.desk.Messages()
	require.Len(t, got, 1, "the service messages are nobody's word")
	require.Equal(t, thread("-100777"), got[0].Thread, "a text belongs to the new conversation")
	require.Len(t, b.desk.Clicks(), 1)
	require.Equal(t, thread("-55"), b.desk.Clicks()[0].Thread, "a button under the old message still answers it")
	require.Contains(t, b.log.String(), "group=-55 supergroup=-100777")

	// A message of the bot in the supergroup has the number of the question by chance.
	for b.server.Compose(telegramtest.Chat{ID: newGroup}, ada, "")["message_id"].(int64) < prompt.ID-1 {
	}
	closed := card("-55")
	closed.Closed = "✅ Approved by ada."
	require.NoError(t, b.Edit(t.Context(), receipt, closed))
	require.Len(t, b.server.Calls("editMessageText"), 1, "what has the same number there is another message")
	said := b.server.Sent(newGroup)
	require.Len(t, said, 1)
	require.Equal(t, closed.Text+"\n\n"+closed.Closed, said[0].Text)
	require.Empty(t, said[0].Buttons)

	require.NoError(t, b.Edit(t.Context(), receipt, card("-55")), "still open: nothing to say")
	require.Len(t, b.server.Sent(newGroup), 1)
}

// Where no answer could count no question is put, long ones neither.
func TestSupergroupGetsNoQuestionOfTheGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Upgrade(ada, oldGroup, newGroup)
	long := card("-55")
	for len(long.Text) < 5000 {
		long.Text = "x" + long.Text + long.Text
	}
	for _, c := range []chat.Card{card("-55"), long} {
		_, err := b.Post(t.Context(), c)
		var classified *chat.Error
		require.ErrorAs(t, err, &classified)
		require.False(t, classified.Temporary, "undeliverable")
		require.ErrorContains(t, err, "supergroup -100777, which is another conversation")
		require.Empty(t, b.server.Sent(newGroup))
	}
}

func TestReplyFollowsIntoTheSupergroup(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Upgrade(ada, oldGroup, newGroup)
	require.NoError(t, b.Reply(t.Context(), chat.Reply{
		Thread: thread("-55"), To: "-55/1", Text: "done", Files: []chat.File{b.files.put("a.bin", []byte("aaa"))},
	}, progress{}))
	sent := b.server.Sent(newGroup)
	require.Len(t, sent, 2)
	require.Equal(t, "done", sent[0].Text)
	require.Zero(t, sent[0].ReplyTo, "number 1 is another message there")
	require.Equal(t, "aaa", string(sent[1].Content))
}
