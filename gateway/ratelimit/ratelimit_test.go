package ratelimit

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	now := time.Date(2029, 1, 2, 3, 4, 5, 0, time.UTC)
	limit := New(20, func() time.Time { return now })
	for range 20 {
		require.True(t, limit.Allow("a"))
	}
	ok, wait := limit.Take("a")
	require.False(t, ok)
	require.Equal(t, 3*time.Second, wait)
	require.True(t, limit.Allow("b"), "senders do not share an allowance")

	for range 50 { // hammering while refused does not push the next one away
		require.False(t, limit.Allow("a"))
	}
	now = now.Add(3 * time.Second)
	require.True(t, limit.Allow("a"))
	require.False(t, limit.Allow("a"))
	now = now.Add(time.Hour)
	for range 20 {
		require.True(t, limit.Allow("a"))
	}
	require.False(t, limit.Allow("a"))
}

func TestOff(t *testing.T) {
	t.Parallel()
	limit := New(0, nil)
	for range 1000 {
		require.True(t, limit.Allow("a"))
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	limit := New(1, nil)
	limit.size = 3
	for i := range 100 {
		require.True(t, limit.Allow(fmt.Sprint(i)))
	}
	require.Len(t, limit.buckets, 3)
	require.Equal(t, 3, limit.recent.Len())
	require.False(t, limit.Allow("99"), "the latest are remembered")
	require.True(t, limit.Allow("0"), "the oldest is forgotten")
}

func ExampleLimiter() {
	limit := New(1, nil)
	fmt.Println(limit.Allow("1001"), limit.Allow("1001"), limit.Allow("1002"))
	// Output: true false true
}
