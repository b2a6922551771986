package rediscompat

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

func TestPushedAnswers(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.mirror(t, url)
		require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
		texts := []string{"yes", "yes", " ", "no\nbecause", "countersign-read:nonsense", "\xff", strings.Repeat("ä", longest)}
		ids := map[string]bool{}
		before := time.Now()
		for _, text := range texts {
			require.NoError(t, them.RPush(ctx, confirm, text).Err())
		}
		for _, text := range texts {
			a := w.next(t)
			require.Equal(t, clip(text), a.Text)
			require.Equal(t, "inv1", a.Invocation)
			require.Equal(t, thread, a.Thread)
			require.WithinRange(t, a.ReadAt, before.Add(-time.Millisecond), time.Now())
			require.False(t, ids[a.ID], "two pushes are two answers")
			ids[a.ID] = true
		}
		eventually(t, 5*time.Second, "the list is emptied", func() bool { return them.Exists(ctx, confirm).Val() == 0 })
		require.Empty(t, w.answers)
	})
}

// A process that dies between Answer and the removal hands the element over
// again, as the same one.
func TestCrashBetweenAnswerAndRemoval(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them := t.Context(), other(t, url)
		first, reached := newWorld(), make(chan Answer, 1)
		first.refuse = func(ctx context.Context, a Answer) error {
			reached <- a // durable, but the process does not live to hear it
			<-ctx.Done()
			return ctx.Err()
		}
		dying, err := newMirror(first.params(url), brisk)
		require.NoError(t, err)
		require.NoError(t, dying.Open(ctx, thread, "inv1", time.Minute))
		require.NoError(t, them.RPush(ctx, confirm, "done", "done").Err())
		handed := <-reached
		require.NoError(t, dying.Shutdown())
		require.EqualValues(t, 2, them.LLen(ctx, confirm).Val())
		require.InDelta(t, 60, them.TTL(ctx, confirm).Val().Seconds(), 2, "expires when nobody comes back")

		second := newWorld()
		second.ask(Pending{Thread: thread, Invocation: "inv1", Expires: time.Now().Add(time.Minute), Timeout: time.Minute})
		second.running(t, url, brisk)
		again := second.next(t)
		require.Equal(t, handed.ID, again.ID)
		require.True(t, handed.ReadAt.Equal(again.ReadAt), "the first reading counts")
		require.NotEqual(t, handed.ID, second.next(t).ID, "the second push is an answer of its own")
		eventually(t, 5*time.Second, "the list is emptied", func() bool { return them.Exists(ctx, confirm).Val() == 0 })
	})
}

// E05: a connection that dies just after Redis has answered loses nothing.
func TestE05CutAfterTheReply(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	var left atomic.Int32
	left.Store(3)
	proxy := startCutter(t, server.addr(), func(reply []byte) bool {
		return bytes.Contains(reply, []byte("yes")) && left.Add(-1) >= 0
	})
	m := w.mirror(t, proxy.url())
	require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
	require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
	require.Equal(t, "yes", w.next(t).Text)
	require.Len(t, proxy.cuts, 3)
	eventually(t, 5*time.Second, "the list is emptied", func() bool { return them.Exists(ctx, confirm).Val() == 0 })
	w.silent(t, 200*time.Millisecond)
}

func TestTwoEnginesAgree(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them := t.Context(), other(t, url)
		one, two := newWorld(), newWorld()
		p := Pending{Thread: thread, Invocation: "inv1", Timeout: time.Minute}
		one.ask(p)
		two.ask(p)
		require.NoError(t, one.running(t, url, brisk).Open(ctx, thread, "inv1", time.Minute))
		two.running(t, url, brisk)
		const pushes = 20
		distinct := map[string]Answer{}
		for i := range pushes {
			require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
			eventually(t, 10*time.Second, fmt.Sprintf("push %d is taken", i), func() bool { return them.LLen(ctx, confirm).Val() == 0 })
		}
		for _, w := range []*world{one, two} {
			for len(w.answers) > 0 {
				a := <-w.answers
				if known, seen := distinct[a.ID]; seen {
					require.True(t, known.ReadAt.Equal(a.ReadAt))
				}
				distinct[a.ID] = a
			}
		}
		require.Len(t, distinct, pushes, "each push once, whoever handed it over")
	})
}

func TestTemporalAwayWhileAnswering(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		var calls atomic.Int32
		ids := make(chan string, 10)
		w.refuse = func(_ context.Context, a Answer) error {
			ids <- a.ID
			if calls.Add(1) < 4 {
				return errTemporal
			}
			return nil
		}
		require.NoError(t, w.mirror(t, url).Open(ctx, thread, "inv1", time.Minute))
		require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
		a := w.next(t)
		for range 4 {
			require.Equal(t, a.ID, <-ids)
		}
		require.Greater(t, time.Since(a.ReadAt), 150*time.Millisecond, "the reading counts, not the handing over")
	})
}

func TestAnotherProgramsAnswerIsNotOurs(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		require.NoError(t, w.mirror(t, url).Open(ctx, thread, "inv1", time.Minute))
		require.NoError(t, them.Set(ctx, awaiting, "php", time.Minute).Err())
		require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
		w.silent(t, 300*time.Millisecond)
		require.Equal(t, []string{"yes"}, them.LRange(ctx, confirm, 0, -1).Val())
		require.NoError(t, them.Set(ctx, awaiting, "inv1", time.Minute).Err())
		require.Equal(t, "yes", w.next(t).Text)
	})
}

func TestLeftoverOfAnotherQuestionIsDropped(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		require.NoError(t, w.mirror(t, url).Open(ctx, thread, "inv2", time.Minute))
		require.NoError(t, them.RPush(ctx, confirm, stamp("inv1", time.Now())+"yes", "mine").Err())
		require.Equal(t, "mine", w.next(t).Text)
		eventually(t, 5*time.Second, "the list is emptied", func() bool { return them.Exists(ctx, confirm).Val() == 0 })
	})
}

func TestKeyOfAnotherTypeIsIgnored(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.mirror(t, url)
		require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
		require.NoError(t, them.Set(ctx, confirm, "yes", 0).Err())
		w.silent(t, 300*time.Millisecond)
		require.NoError(t, them.Del(ctx, confirm).Err())
		require.NoError(t, them.RPush(ctx, confirm, "now").Err())
		require.Equal(t, "now", w.next(t).Text)

		require.NoError(t, them.Del(ctx, awaiting).Err())
		require.NoError(t, them.HSet(ctx, awaiting, "f", "v").Err())
		require.NoError(t, m.Renew(ctx, thread, "inv1", time.Minute))
		require.NoError(t, m.Close(ctx, thread, "inv1"))
		require.EqualValues(t, 1, them.Exists(ctx, awaiting).Val())
		require.NoError(t, m.Open(ctx, thread, "inv2", time.Minute), "Open overwrites whatever is there")
		require.Equal(t, "inv2", them.Get(ctx, awaiting).Val())
	})
}

// E06: blocked waiters do not hold up the end of the process, nor does a
// connection time out while it waits for longer than any other reply may take.
func TestE06WaitsLongAndEndsAtOnce(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	m, err := newMirror(w.params(server.url()), usual)
	require.NoError(t, err)
	require.NoError(t, m.Open(ctx, thread, "inv1", time.Minute))
	server.Signal(syscall.SIGSTOP)
	w.silent(t, 5*time.Second) // longer than two of the server's own timeouts
	server.Signal(syscall.SIGCONT)
	require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
	require.Equal(t, "yes", w.next(t).Text)
	require.NotContains(t, w.log(), "redis is away", "no connection was given up")
	start := time.Now()
	require.NoError(t, m.Shutdown())
	require.Less(t, time.Since(start), time.Second)
}

func TestManyQuestions(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	m := w.mirror(t, server.url())
	const many = 1000
	threads := make([]chat.Thread, many)
	for i := range threads {
		threads[i] = chat.Thread{Connector: chat.Email, Key: "p" + strconv.Itoa(i) + "@example.test"}
		require.NoError(t, m.Open(ctx, threads[i], fmt.Sprintf("inv%d", i), time.Minute))
	}
	start := time.Now()
	for i := range threads {
		require.NoError(t, them.RPush(ctx, "confirm:"+threads[i].String(), "yes").Err())
	}
	got := map[string]bool{}
	for range threads {
		got[w.next(t).Invocation] = true
	}
	require.Len(t, got, many)
	t.Logf("%d waiting questions answered in %s", many, time.Since(start))
	for i := range threads {
		require.NoError(t, m.Close(ctx, threads[i], fmt.Sprintf("inv%d", i)))
	}
	require.Zero(t, them.DBSize(ctx).Val())
}

// Where no connection is left to wait on, answers still arrive.
func TestWithoutAConnectionToWaitOn(t *testing.T) {
	t.Parallel()
	server := startRedis(t, "--rename-command", "BLMOVE", "") // a server older than 6.2
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	require.NoError(t, w.mirror(t, server.url()).Open(ctx, thread, "inv1", time.Minute))
	require.NoError(t, them.RPush(ctx, confirm, "yes").Err())
	require.Equal(t, "yes", w.next(t).Text)
}
