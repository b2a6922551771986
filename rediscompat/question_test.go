package rediscompat

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

func TestKeysOfAQuestion(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.mirror(t, url)
		require.NoError(t, them.RPush(ctx, confirm, "yes").Err(), "a stale list of another question")

		require.NoError(t, m.Open(ctx, thread, "inv1", 120*time.Second))
		require.Equal(t, "inv1", them.Get(ctx, awaiting).Val())
		require.InDelta(t, 120, them.TTL(ctx, awaiting).Val().Seconds(), 1)
		require.Zero(t, them.Exists(ctx, confirm).Val())
		w.silent(t, 50*time.Millisecond)

		require.NoError(t, m.Renew(ctx, thread, "inv1", 300*time.Second))
		require.InDelta(t, 300, them.TTL(ctx, awaiting).Val().Seconds(), 1)
		require.NoError(t, m.Renew(ctx, thread, "inv0", 900*time.Second), "not its own: nothing happens")
		require.InDelta(t, 300, them.TTL(ctx, awaiting).Val().Seconds(), 1)

		for range 2 {
			require.NoError(t, m.Close(ctx, thread, "inv1"))
			require.Zero(t, them.Exists(ctx, awaiting).Val()+them.Exists(ctx, confirm).Val())
		}
		require.NoError(t, m.Renew(ctx, thread, "inv1", time.Minute))
		require.Zero(t, them.Exists(ctx, awaiting).Val(), "a late renewal brings nothing back")
	})
}

func TestOpenAgainLosesNoReply(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		require.NoError(t, w.mirror(t, url).Open(ctx, thread, "inv1", time.Minute))
		// Nobody reads: the process died. Then its activity is repeated elsewhere.
		deaf := w.params(url)
		deaf.Answer = nil
		m, err := newMirror(deaf, brisk)
		require.NoError(t, err)
		t.Cleanup(func() { _ = m.Shutdown() })
		require.NoError(t, m.Open(ctx, thread, "inv2", time.Minute))
		require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
		require.NoError(t, m.Open(ctx, thread, "inv2", time.Minute))
		require.Equal(t, []string{"yes"}, them.LRange(ctx, confirm, 0, -1).Val())
	})
}

func TestCloseLeavesTheNextQuestionAlone(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.mirror(t, url)
		for _, next := range []string{"inv2", "a PHP process"} {
			require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
			require.NoError(t, them.Set(ctx, awaiting, next, time.Minute).Err())
			require.NoError(t, them.RPush(ctx, confirm, "theirs").Err())
			require.NoError(t, m.Close(ctx, thread, "inv1"))
			require.Equal(t, next, them.Get(ctx, awaiting).Val())
			require.Equal(t, []string{"theirs"}, them.LRange(ctx, confirm, 0, -1).Val(), "never read, never deleted")
		}
		require.Empty(t, w.answers)
	})
}

// At the timeout awaiting_confirm has often expired before the question is closed.
func TestCloseAfterExpiryRemovesTheList(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		require.NoError(t, them.RPush(ctx, confirm, "late").Err())
		require.NoError(t, w.mirror(t, url).Close(ctx, thread, "inv1"))
		require.Zero(t, them.Exists(ctx, confirm).Val())
	})
}

// E10: that a key expires is no event; only Temporal's timer ends a question.
func TestE10ExpiryDecidesNothing(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.mirror(t, url)
		require.NoError(t, m.Open(ctx, thread, "inv1", 300*time.Millisecond))
		eventually(t, 5*time.Second, "the key expires by itself", func() bool { return them.Exists(ctx, awaiting).Val() == 0 })
		w.silent(t, 100*time.Millisecond)
		require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
		require.Equal(t, "yes", w.next(t).Text, "whether it is late is judged by whoever has the deadline")
	})
}

func TestE01KeysOfThreads(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.params("redis://127.0.0.1:1")
	p.Prefix = "laravel_database_"
	m, err := New(p)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Shutdown() })

	keys, err := m.keys(chat.Thread{Connector: chat.Slack, Key: "C1:1.2"})
	require.NoError(t, err)
	require.Equal(t, pair{"laravel_database_awaiting_confirm:slack:C1:1.2", "laravel_database_confirm:slack:C1:1.2"}, keys)
	for _, bad := range []chat.Thread{{Connector: "slack:C1", Key: "1.2"}, {Key: "1"}, {Connector: chat.Web}} {
		_, err := m.keys(bad)
		require.ErrorContains(t, err, "is no thread")
	}
	require.Error(t, m.Open(t.Context(), thread, "", time.Second))
	require.Error(t, m.Open(t.Context(), thread, "inv1", 0))
}
