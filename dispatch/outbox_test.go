package dispatch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

func TestMessagesOfABusyConversationShareASignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent, goOn := [][]string{}, make(chan struct{})
		errAway := errors.New("away")
		o := &outbox{waiting: map[chat.Thread][]*parcel{}, send: func(_ context.Context, thread chat.Thread, messages []chat.Message) error {
			batch := []string{}
			for _, m := range messages {
				batch = append(batch, m.EventID)
			}
			sent = append(sent, batch)
			<-goOn
			if thread.Key == "lost" {
				return errAway
			}
			return nil
		}}
		busy := chat.Thread{Connector: chat.Slack, Key: "C1:1.1"}
		answers := make([]error, 20)
		for n := range answers {
			go func() { answers[n] = o.deliver(t.Context(), chat.Message{Thread: busy, EventID: fmt.Sprint(n)}) }()
			synctest.Wait() // in this order
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, o.deliver(gone, chat.Message{Thread: busy, EventID: "gone"}), context.Canceled)
		require.Len(t, sent, 1, "one at a time")
		close(goOn)
		synctest.Wait()
		require.Equal(t, []string{"0"}, sent[0])
		require.Len(t, sent[1], maxBatch)
		require.Equal(t, "1", sent[1][0])
		require.Equal(t, []string{"17", "18", "19", "gone"}, sent[2])
		for _, err := range answers {
			require.NoError(t, err)
		}
		require.Empty(t, o.waiting)

		lost := chat.Thread{Connector: chat.Slack, Key: "lost"}
		require.ErrorIs(t, o.deliver(t.Context(), chat.Message{Thread: lost}), errAway)
		require.NoError(t, o.deliver(t.Context(), chat.Message{Thread: busy}), "another conversation")
	})
}
