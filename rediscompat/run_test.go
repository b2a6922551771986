package rediscompat

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

// persistent options make a server keep its keys over kill -9.
var persistent = []string{"--appendonly", "yes", "--appendfsync", "always"}

// rebuilt is the promise of CONTRACT §5.
const rebuilt = 10 * time.Second

func TestMirrorIsRebuiltAfterKill(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	elsewhere := chat.Thread{Connector: chat.Slack, Key: "C1:17.2"}
	expires := time.Now().Add(60 * time.Second)
	w.ask(
		Pending{Thread: thread, Invocation: "inv1", Expires: expires, Timeout: 120 * time.Second},
		Pending{Thread: elsewhere, Invocation: "inv2", Timeout: 120 * time.Second}, // opened by another engine
	)
	m := w.running(t, server.url(), usual)
	require.NoError(t, m.Open(ctx, thread, "inv1", 120*time.Second))

	server.Kill()
	eventually(t, 2*time.Second, "the outage is noticed by the waiter", func() bool { return m.Ping(ctx) != nil })
	third := chat.Thread{Connector: chat.Web, Key: "s1"}
	require.ErrorIs(t, m.Open(ctx, third, "inv3", time.Minute), ErrAway, "asked while Redis is down")
	w.ask(
		Pending{Thread: thread, Invocation: "inv1", Expires: expires, Timeout: 120 * time.Second},
		Pending{Thread: elsewhere, Invocation: "inv2", Timeout: 120 * time.Second},
		Pending{Thread: third, Invocation: "inv3", Timeout: time.Minute},
	)
	server.Start()
	eventually(t, rebuilt, "the mirror is rebuilt", func() bool {
		return them.Get(ctx, awaiting).Val() == "inv1" &&
			them.Get(ctx, "awaiting_confirm:slack:C1:17.2").Val() == "inv2" &&
			them.Get(ctx, "awaiting_confirm:web:s1").Val() == "inv3"
	})
	require.InDelta(t, time.Until(expires).Seconds(), them.TTL(ctx, awaiting).Val().Seconds(), 1.5, "the time left")
	require.InDelta(t, 120, them.TTL(ctx, "awaiting_confirm:slack:C1:17.2").Val().Seconds(), 2)
	for _, key := range []string{confirm, "confirm:slack:C1:17.2", "confirm:web:s1"} {
		require.NoError(t, them.RPush(ctx, key, "yes").Err())
	}
	got := map[string]bool{}
	for range 3 {
		got[w.next(t).Invocation] = true
	}
	require.Len(t, got, 3)
}

// With Temporal away too, what this process knows is enough.
func TestMirrorIsRebuiltWithoutTemporal(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	m := w.running(t, server.url(), usual)
	w.ask(Pending{Thread: thread, Invocation: "inv1", Timeout: time.Minute})
	require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
	require.NoError(t, m.Renew(ctx, thread, "inv1", time.Minute))
	w.leave(true)
	server.Kill()
	eventually(t, 2*time.Second, "the outage is noticed", func() bool { return m.Ping(ctx) != nil })
	server.Start()
	eventually(t, rebuilt, "the mirror is rebuilt", func() bool { return them.Get(ctx, awaiting).Val() == "inv1" })
}

func TestStaleListIsDeletedBeforeALateOpening(t *testing.T) {
	t.Parallel()
	server := startRedis(t, persistent...)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
	server.Kill()
	m := w.running(t, server.url(), brisk)
	require.Error(t, m.Open(ctx, thread, "inv1", time.Minute))
	w.ask(Pending{Thread: thread, Invocation: "inv1", Timeout: time.Minute})
	server.Start()
	eventually(t, rebuilt, "the question is announced", func() bool { return them.Get(ctx, awaiting).Val() == "inv1" })
	w.silent(t, 300*time.Millisecond)
	require.Zero(t, them.Exists(ctx, confirm).Val())
}

func TestCloseWhileRedisIsDownIsRepeated(t *testing.T) {
	t.Parallel()
	server := startRedis(t, persistent...)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	m := w.running(t, server.url(), brisk)
	require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
	server.Kill()
	require.Error(t, m.Close(ctx, thread, "inv1"))
	server.Start()
	eventually(t, rebuilt, "the key goes", func() bool { return them.Exists(ctx, awaiting).Val() == 0 && m.Ping(ctx) == nil })
}

// The calls of the hot path are bounded when Redis dies or hangs, and cost
// nothing once that is known.
func TestDeadRedisCostsNothing(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(*realRedis){
		"killed": func(r *realRedis) { r.Kill() },
		"hung":   func(r *realRedis) { r.Signal(syscall.SIGSTOP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRedis(t)
			ctx, w := t.Context(), newWorld()
			m, err := newMirror(w.params(server.url()), usual)
			require.NoError(t, err)
			t.Cleanup(func() { _ = m.Shutdown() })
			eventually(t, 5*time.Second, "it is used", func() bool { return m.Ping(ctx) == nil })
			harm(server)
			start := time.Now()
			require.Error(t, m.Open(ctx, thread, "inv1", time.Minute))
			require.Less(t, time.Since(start), 1500*time.Millisecond)
			start = time.Now()
			for range 100 {
				require.ErrorIs(t, m.Renew(ctx, thread, "inv1", time.Minute), ErrAway)
				require.ErrorIs(t, m.Close(ctx, thread, "inv1"), ErrAway)
				taken, err := m.Intercept(ctx, thread, "", "e1", "hello", false)
				require.ErrorIs(t, err, ErrAway)
				require.False(t, taken)
			}
			require.Less(t, time.Since(start), 100*time.Millisecond)
			if name == "hung" {
				server.Signal(syscall.SIGCONT)
			} else {
				server.Start()
			}
			eventually(t, rebuilt, "it is used again", func() bool { return m.Ping(ctx) == nil })
		})
	}
}

func TestRunRepairs(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.running(t, url, brisk)
		expires := time.Now().Add(50 * time.Second)
		w.ask(Pending{Thread: thread, Invocation: "inv2", Expires: expires, Timeout: time.Minute})
		require.NoError(t, m.Open(ctx, thread, "inv2", time.Minute))
		left := func() float64 { return time.Until(expires).Seconds() }
		right := func() bool {
			ttl := them.PTTL(ctx, awaiting).Val().Seconds()
			return them.Get(ctx, awaiting).Val() == "inv2" && ttl > left()-2 && ttl < left()+2
		}
		eventually(t, rebuilt, "the time left is set", right)
		for name, harm := range map[string]func() error{
			"E07 SET took the TTL away": func() error { return them.Set(ctx, awaiting, "inv2", 0).Err() },
			"a TTL that is too short":   func() error { return them.Expire(ctx, awaiting, 20*time.Second).Err() },
			"E08 evicted":               func() error { return them.Del(ctx, awaiting).Err() },
			"an ended question of ours": func() error { return them.Set(ctx, awaiting, "inv1", time.Minute).Err() },
		} {
			require.NoError(t, harm())
			eventually(t, rebuilt, name, right)
		}
		require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
		require.Equal(t, "inv2", w.next(t).Invocation)
	})
}

func TestE08FlushWhileWaiting(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.running(t, url, usual)
		w.ask(Pending{Thread: thread, Invocation: "inv1", Expires: time.Now().Add(time.Minute), Timeout: time.Minute})
		require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
		require.NoError(t, them.FlushDB(ctx).Err())
		require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
		require.Equal(t, "yes", w.next(t).Text, "a missing key does not mean that nobody asks")
		eventually(t, rebuilt, "the key comes back", func() bool { return them.Get(ctx, awaiting).Val() == "inv1" })
	})
}

// E09: after a failover the server may refuse writes for a while.
func TestE09ReadOnly(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	m := w.running(t, server.url(), brisk)
	require.NoError(t, them.SlaveOf(ctx, "127.0.0.1", "1").Err())
	start := time.Now()
	require.ErrorContains(t, m.Open(ctx, thread, "inv1", time.Minute), "READONLY")
	require.Less(t, time.Since(start), 1500*time.Millisecond)
	w.ask(Pending{Thread: thread, Invocation: "inv1", Timeout: time.Minute})
	require.NoError(t, them.SlaveOf(ctx, "NO", "ONE").Err())
	eventually(t, rebuilt, "the key is set", func() bool { return them.Get(ctx, awaiting).Val() == "inv1" })
	require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
	require.Equal(t, "yes", w.next(t).Text)
}

func TestForeignQuestionIsLeftAlone(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		require.NoError(t, them.Set(ctx, awaiting, "php", 0).Err())
		require.NoError(t, them.RPush(ctx, confirm, "theirs").Err())
		w.ask(Pending{Thread: thread, Invocation: "inv1", Timeout: time.Minute})
		w.running(t, url, brisk)
		w.silent(t, 4*brisk.reconcile)
		require.Equal(t, "php", them.Get(ctx, awaiting).Val())
		require.Equal(t, []string{"theirs"}, them.LRange(ctx, confirm, 0, -1).Val())
	})
}

// Keys that a killed process left are removed; those of others, of running
// questions, and of threads that look alike are not.
func TestKeysOfEndedInvocationsAreRemoved(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		pending := chat.Thread{Connector: chat.Telegram, Key: "1"}
		w.ask(Pending{Thread: pending, Invocation: "inv-pending", Timeout: time.Minute})
		for key, value := range map[string]string{
			"awaiting_confirm:telegram:1":    "inv-pending",
			"awaiting_confirm:telegram:2":    "inv-ended",
			"awaiting_confirm:email:a:b@{c}": "inv-ended-too",
			"awaiting_confirm:telegram:3":    "php",
			"x_awaiting_confirm:telegram:2":  "inv-under-another-prefix",
		} {
			require.NoError(t, them.Set(ctx, key, value, time.Minute).Err())
		}
		for _, key := range []string{"confirm:telegram:2", "confirm:email:a:b@{c}", "confirm:telegram:3"} {
			require.NoError(t, them.RPush(ctx, key, "old").Err())
		}
		w.running(t, url, brisk)
		eventually(t, rebuilt, "the ended ones go", func() bool {
			gone := int64(0)
			for _, key := range []string{
				"awaiting_confirm:telegram:2", "confirm:telegram:2", "awaiting_confirm:email:a:b@{c}", "confirm:email:a:b@{c}",
			} {
				gone += them.Exists(ctx, key).Val()
			}
			return gone == 0
		})
		for _, key := range []string{
			"awaiting_confirm:telegram:1", "awaiting_confirm:telegram:3", "confirm:telegram:3", "x_awaiting_confirm:telegram:2",
		} {
			require.EqualValues(t, 1, them.Exists(ctx, key).Val(), key)
		}
	})
}

// A question whose process closed it is not brought back by a list that is a moment old.
func TestClosedQuestionStaysClosed(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.running(t, url, brisk)
		w.ask(Pending{Thread: thread, Invocation: "inv1", Timeout: time.Minute})
		require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
		require.NoError(t, m.Close(ctx, thread, "inv1"))
		require.Never(t, func() bool { return them.Exists(ctx, awaiting).Val() != 0 }, 4*brisk.reconcile, 10*time.Millisecond)

		// One that another process closed goes once Temporal no longer lists it.
		require.NoError(t, m.Open(ctx, thread, "inv2", time.Minute))
		w.ask()
		eventually(t, rebuilt, "the key goes", func() bool { return them.Exists(ctx, awaiting).Val() == 0 })
	})
}

func TestRunNeedsItsPorts(t *testing.T) {
	t.Parallel()
	p := newWorld().params("redis://127.0.0.1:1")
	p.Pending = nil
	m, err := New(p)
	require.NoError(t, err)
	require.Error(t, m.Run(context.Background()))
	require.NoError(t, m.Shutdown())
}
