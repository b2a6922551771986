package slack_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

// listening runs Poll until the test ends.
func listening(t *testing.T, change ...func(*bench)) (*bench, *atomic.Int32) {
	t.Helper()
	b := newBench(t, func(p *slack.Params) { p.Mode, p.SigningSecret = slack.Socket, "" })
	b.Hasten()
	b.server.Resend = 50 * time.Millisecond
	for _, c := range change {
		c(b)
	}
	beats := &atomic.Int32{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Poll(ctx, "", func(string) { beats.Add(1) }) }()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
	return b, beats
}

func (b *bench) arrives(t *testing.T, n int) []chat.Message {
	t.Helper()
	require.True(t, b.desk.Await(10*time.Second, func() bool { return len(b.desk.Messages()) >= n }))
	return b.desk.Messages()
}

func TestSocket(t *testing.T) {
	t.Parallel()
	b, beats := listening(t)
	b.server.Say(dm, ada, "hello")
	require.Equal(t, "hello", b.arrives(t, 1)[0].Text)
	question, _ := b.asks(t, "C01:1700000000.000100")
	require.NoError(t, b.server.Press(bob, question, "Yes"))
	require.True(t, b.desk.Await(10*time.Second, func() bool { return len(b.desk.Clicks()) == 1 }))
	require.NoError(t, b.server.AwaitTaken(t.Context()))
	require.Positive(t, beats.Load())
}

func TestSocketAcknowledgesOnlyWhatWasTaken(t *testing.T) {
	t.Parallel()
	b, _ := listening(t, func(b *bench) { b.desk.Fail(chat.ErrUnreachable, chat.ErrUnreachable) })
	b.server.Say(dm, ada, "yes")
	b.arrives(t, 1)
	require.NoError(t, b.server.AwaitTaken(t.Context()))
	require.Zero(t, b.desk.Pending())
	b.only(t)
}

func TestSocketLeavesAsideWhatIsNothing(t *testing.T) {
	t.Parallel()
	b, _ := listening(t)
	b.server.Say(dm, ada, "yes", slacktest.With("subtype", "message_changed"))
	b.server.Say(dm, ada, "yes", slacktest.With("type", "an_event_that_the_library_does_not_know"))
	b.server.Send(slacktest.Events, map[string]any{"type": "nothing"})
	b.server.Send(slacktest.Interactive, map[string]any{"type": "shortcut"})
	require.NoError(t, b.server.AwaitTaken(t.Context()), "acknowledged, or it would come for ever")
	b.server.Raw("not an envelope")
	b.server.Raw(map[string]any{"type": "unheard_of"})
	b.server.Say(dm, ada, "last")
	require.Equal(t, "last", b.arrives(t, 1)[0].Text)
	b.only(t)
}

func TestSocketReopens(t *testing.T) {
	t.Parallel()
	b, _ := listening(t)
	require.NoError(t, b.server.AwaitSocket(t.Context()))
	b.server.Hangup()
	b.server.Say(dm, ada, "one")
	b.arrives(t, 1)
	b.server.Break(connectortest.HTML(502), "apps.connections.open")
	b.server.Raw(map[string]any{"type": "disconnect", "reason": "refresh_requested"})
	b.server.Say(dm, ada, "two")
	require.Equal(t, "two", b.arrives(t, 2)[1].Text)
	require.NoError(t, b.server.AwaitTaken(t.Context()))
}

// Messages of one conversation keep their order; another's large file holds up nobody.
func TestSocketOrder(t *testing.T) {
	t.Parallel()
	b, _ := listening(t)
	require.NoError(t, b.server.AwaitSocket(t.Context()))
	b.server.Break(connectortest.Fault{Kind: connectortest.Stalled}, "file")
	b.server.Say("D02", bob, "", slacktest.With("files", []any{b.server.Upload("film.mkv", "video/x", []byte("x"))}))
	for _, text := range []string{"1", "2", "3", "4", "5"} {
		b.server.Say(dm, ada, text)
		require.True(t, b.desk.Await(10*time.Second, func() bool {
			got := b.desk.Messages()
			return len(got) > 0 && got[len(got)-1].Text == text
		}))
	}
}

func TestPollWithAWrongToken(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "xapp-wrong-wrong-wrong"} {
		b := newBench(t, func(p *slack.Params) { p.AppToken = token })
		err := b.Poll(t.Context(), "", nil)
		require.False(t, classified(t, err).Temporary)
		require.NotContains(t, err.Error(), "wrong-wrong")
	}
	b := newBench(t)
	b.server.Break(connectortest.Fault{
		Kind: connectortest.Answer, Status: 200, Type: "application/json", Body: `{"ok":false,"error":"missing_scope","needed":"connections:write"}`,
	}, "apps.connections.open")
	err := b.Poll(t.Context(), "", nil)
	require.ErrorContains(t, err, "connections:write")
	require.False(t, classified(t, err).Temporary, "what the library would try for ever")
}
