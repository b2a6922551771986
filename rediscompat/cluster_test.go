package rediscompat

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

// E02: the node refuses two slots in one script, so what passes here keeps to one.
// The thread keys are those that change the slot, or look as if they did.
func TestE02ClusterSlots(t *testing.T) {
	t.Parallel()
	server := startCluster(t)
	url := server.url() + "?cluster=true"
	ctx, them := t.Context(), other(t, url)
	node := redis.NewClient(&redis.Options{Addr: server.addr()})
	t.Cleanup(func() { _ = node.Close() })
	require.ErrorContains(t, node.Eval(ctx, "return 1", []string{awaiting, confirm}).Err(), "CROSSSLOT",
		"the two keys of a thread are in two slots")

	for _, prefix := range []string{"", "laravel_database_", "{app}:", "odd{"} {
		for _, key := range []string{"1", "<{tag}@example.test>", "a{}b", "a}b{c", "{", "}", "a{b}c{d}"} {
			w := newWorld()
			p := w.params(url)
			p.Prefix = prefix
			m, err := newMirror(p, brisk)
			require.NoError(t, err)
			t.Cleanup(func() { _ = m.Shutdown() })
			at := chat.Thread{Connector: chat.Email, Key: key}
			keys := m.named(at.String())
			what := prefix + " " + key

			marker, together := m.marker(keys.confirm, "e1")
			slots := [2]int64{them.ClusterKeySlot(ctx, marker).Val(), them.ClusterKeySlot(ctx, keys.confirm).Val()}
			if together {
				require.Equal(t, slots[0], slots[1], what)
			}

			require.NoError(t, m.Open(ctx, at, "inv1", time.Minute), what)
			require.NoError(t, m.Renew(ctx, at, "inv1", time.Minute), what)
			require.NoError(t, them.RPush(ctx, keys.confirm, "yes").Err(), what)
			require.Equal(t, "yes", w.next(t).Text, what)
			require.NoError(t, m.Close(ctx, at, "inv1"), what)
			require.Zero(t, them.Exists(ctx, keys.awaiting).Val()+them.Exists(ctx, keys.confirm).Val(), what)

			require.NoError(t, them.Set(ctx, keys.awaiting, "php", time.Minute).Err(), what)
			for range 2 {
				taken, err := m.Intercept(ctx, at, "", "e1", "yes", false)
				require.NoError(t, err, what)
				require.True(t, taken, what)
			}
			require.Equal(t, []string{"yes"}, them.LRange(ctx, keys.confirm, 0, -1).Val(), what)
			require.NoError(t, them.Del(ctx, keys.awaiting).Err())
			require.NoError(t, them.Del(ctx, keys.confirm).Err())
			require.NoError(t, m.Shutdown())
		}
	}
}

func TestHashedPart(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"plain": "plain", "a{b}c": "b", "a{}b{c}": "a{}b{c}", "a{b": "a{b", "a}b": "a}b", "{{a}}": "{a", "": "",
	} {
		require.Equal(t, want, hashed(key), key)
	}
}
