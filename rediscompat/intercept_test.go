package rediscompat

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

func TestIntercept(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		waiting string // value of awaiting_confirm; "-" for none
		pending string
		text    string
		file    bool
		taken   bool
		pushed  []string
	}{
		{name: "nobody waits", waiting: "-", text: "hi"},
		{name: "another program waits", waiting: "1", text: " Yes\r\nthanks ", taken: true, pushed: []string{" Yes\r\nthanks "}},
		{name: "it waits, ours is pending too", waiting: "1", pending: "inv1", text: "yes", taken: true, pushed: []string{"yes"}},
		{name: "an empty value is a value", waiting: "", text: "yes", taken: true, pushed: []string{"yes"}},
		{name: "our pending question", waiting: "key-of-a-caller", pending: "key-of-a-caller", text: "yes"},
		{name: "an invocation of ours, ended", waiting: "inv1", text: "yes"},
		{name: "an invocation of ours, not the pending one", waiting: "inv1", pending: "inv2", text: "yes"},
		{name: "a caption", waiting: "1", text: "yes", file: true, taken: true, pushed: []string{"yes"}},
		{name: "a file without text", waiting: "1", file: true, taken: true},
		{name: "a file with a blank caption", waiting: "1", text: " \u200b\ufeff\n", file: true, taken: true},
		{name: "neither text nor file", waiting: "1"},
		{name: "blank text without file", waiting: "1", text: " \u2060\t"},
	}
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.mirror(t, url)
		for i, c := range cases {
			at := chat.Thread{Connector: chat.Email, Key: fmt.Sprintf("case%d@example.test", i)}
			waiting, list := "awaiting_confirm:"+at.String(), "confirm:"+at.String()
			if c.waiting != "-" {
				require.NoError(t, them.Set(ctx, waiting, c.waiting, time.Minute).Err())
			}
			for range 3 { // the platform delivers it more than once
				taken, err := m.Intercept(ctx, at, c.pending, "event", c.text, c.file)
				require.NoError(t, err, c.name)
				require.Equal(t, c.taken, taken, c.name)
			}
			require.ElementsMatch(t, c.pushed, them.LRange(ctx, list, 0, -1).Val(), c.name)
			if c.pushed != nil {
				require.InDelta(t, 60, them.TTL(ctx, list).Val().Seconds(), 2, c.name)
			}
			// Once the other program has its answer, a redelivery still is no message.
			require.NoError(t, them.Del(ctx, waiting).Err())
			require.NoError(t, them.Del(ctx, list).Err())
			taken, err := m.Intercept(ctx, at, c.pending, "event", c.text, c.file)
			require.NoError(t, err, c.name)
			require.Equal(t, c.taken, taken, c.name)
			taken, err = m.Intercept(ctx, at, c.pending, "a later event", c.text, c.file)
			require.NoError(t, err, c.name)
			require.False(t, taken, c.name)
			require.Zero(t, them.Exists(ctx, list).Val(), c.name)
		}
	})
}

// The other program really gets it, in the way that it waits.
func TestInterceptWakesTheOtherProgram(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.mirror(t, url)
		require.NoError(t, them.Set(ctx, awaiting, "1", 0).Err())
		got := make(chan []string, 1)
		go func() { got <- other(t, url).BLPop(ctx, 10*time.Second, confirm).Val() }()
		taken, err := m.Intercept(ctx, thread, "", "e1", "yes", false)
		require.NoError(t, err)
		require.True(t, taken)
		require.Equal(t, []string{confirm, "yes"}, <-got)
	})
}

func TestInterceptAmongKeysOfOtherTypes(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		ctx, them, w := t.Context(), other(t, url), newWorld()
		m := w.mirror(t, url)
		require.NoError(t, them.Set(ctx, awaiting, "1", time.Minute).Err())
		require.NoError(t, them.Set(ctx, confirm, "a string", 0).Err())
		taken, err := m.Intercept(ctx, thread, "", "e1", "yes", false)
		require.NoError(t, err)
		require.False(t, taken, "it could not be given away")
		require.Equal(t, "a string", them.Get(ctx, confirm).Val())

		require.NoError(t, them.Del(ctx, awaiting).Err())
		require.NoError(t, them.Del(ctx, confirm).Err())
		require.NoError(t, them.RPush(ctx, awaiting, "1").Err())
		taken, err = m.Intercept(ctx, thread, "", "e2", "yes", false)
		require.NoError(t, err)
		require.False(t, taken)
		require.Contains(t, w.log(), "a key of another type")
	})
}

func TestInterceptWithoutCertainty(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	m := w.mirror(t, server.url())
	require.NoError(t, them.Set(ctx, awaiting, "1", time.Minute).Err())
	_, err := m.Intercept(ctx, thread, "", "", "yes", false)
	require.Error(t, err, "an event without id")
	w.leave(true)
	taken, err := m.Intercept(ctx, thread, "", "e1", "yes", false)
	require.ErrorIs(t, err, errTemporal)
	require.False(t, taken)
	w.leave(false)
	server.Kill()
	taken, err = m.Intercept(ctx, thread, "", "e1", "yes", false)
	require.Error(t, err)
	require.False(t, taken)
}

// A push whose reply is lost is repeated by the client library, and pushes once.
func TestInterceptPushesOnceOverACutConnection(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them, w := t.Context(), other(t, server.url()), newWorld()
	var cut atomic.Bool
	proxy := startCutter(t, server.addr(), func(reply []byte) bool {
		return string(reply) == ":1\r\n" && cut.CompareAndSwap(false, true)
	})
	m := w.mirror(t, proxy.url())
	require.NoError(t, them.Set(ctx, awaiting, "php", time.Minute).Err())
	taken, err := m.Intercept(ctx, thread, "", "e1", "yes", false)
	require.NoError(t, err)
	require.True(t, taken)
	require.Len(t, proxy.cuts, 1)
	require.Equal(t, []string{"yes"}, them.LRange(ctx, confirm, 0, -1).Val())
}
