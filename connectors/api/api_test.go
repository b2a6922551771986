package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

func TestSender(t *testing.T) {
	t.Parallel()
	var sender Sender
	require.Equal(t, chat.Traits{Name: "api", Asks: false, DeletesOutbound: false}, sender.Traits())
	_, err := sender.Post(t.Context(), chat.Card{Text: "⚠️"})
	var failure *chat.Error
	require.ErrorAs(t, err, &failure)
	require.False(t, failure.Temporary)
	require.NoError(t, sender.Edit(t.Context(), chat.Receipt{}, chat.Card{}))
	require.NoError(t, sender.Reply(t.Context(), chat.Reply{Text: "a"}, nil))
}
