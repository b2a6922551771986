package rediscompat

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestStampKeepsWhatMatters(t *testing.T) {
	t.Parallel()
	at := time.Date(2029, 1, 2, 3, 4, 5, 678_000, time.UTC)
	raw := stamp("inv1", at) + "yes\nplease"
	first, second := parse(raw, "inv1", at.Add(time.Hour)), parse(raw, "inv1", at.Add(2*time.Hour))
	require.Equal(t, first, second)
	require.Equal(t, "yes\nplease", first.text)
	require.True(t, at.Equal(first.readAt))
	require.False(t, first.stale)
	require.True(t, parse(raw, "inv2", at).stale)
	require.True(t, parse(raw, "inv1", at.Add(-time.Hour)).readAt.Equal(at.Add(-time.Hour)), "never in the future")
	again := stamp("inv1", at)
	require.NotEqual(t, stamp("inv1", at), again)
}

func FuzzParse(f *testing.F) {
	now := time.Unix(1_900_000_000, 0)
	for _, seed := range []string{"", "yes", "countersign-read:", stamp("inv1", now) + "yes", "countersign-read:a:b:1:", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := parse(text, "inv1", now)
		require.True(t, utf8.ValidString(plain.text))
		require.LessOrEqual(t, len(plain.text), longest)
		require.False(t, plain.readAt.After(now))
		require.True(t, strings.HasPrefix(plain.id, "redis:"))
		read := parse(stamp("inv1", now)+text, "inv1", now)
		require.False(t, read.stale)
		require.Equal(t, clip(text), read.text)
	})
}
