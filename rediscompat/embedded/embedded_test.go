package embedded_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/rediscompat/embedded"
)

func start(t *testing.T) *redis.Client {
	t.Helper()
	server, err := embedded.Start("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(server.Close)
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestTimesToLivePass(t *testing.T) {
	t.Parallel()
	client := start(t)
	require.NoError(t, client.Set(t.Context(), "short", 1, 400*time.Millisecond).Err())
	require.NoError(t, client.Set(t.Context(), "long", 1, time.Minute).Err())
	begun := time.Now()
	require.Eventually(t, func() bool { return client.Exists(t.Context(), "short").Val() == 0 }, 5*time.Second, 10*time.Millisecond)
	require.InDelta(t, 0.4, time.Since(begun).Seconds(), 0.3)
	require.InDelta(t, 60-time.Since(begun).Seconds(), client.PTTL(t.Context(), "long").Val().Seconds(), 0.3)
}

// What package rediscompat relies on: the element stays, and so does the list's time to live.
func TestMovingOntoItself(t *testing.T) {
	t.Parallel()
	client := start(t)
	got := make(chan string, 1)
	go func() { got <- client.BLMove(t.Context(), "list", "list", "left", "left", 5*time.Second).Val() }()
	require.NoError(t, client.RPush(t.Context(), "list", "a", "b").Err())
	require.Equal(t, "a", <-got)
	require.NoError(t, client.Expire(t.Context(), "list", time.Minute).Err())
	require.Equal(t, "a", client.BLMove(t.Context(), "list", "list", "left", "left", time.Second).Val())
	require.Equal(t, []string{"a", "b"}, client.LRange(t.Context(), "list", 0, -1).Val())
	require.InDelta(t, 60, client.TTL(t.Context(), "list").Val().Seconds(), 1)
}

func TestBusyPort(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	_, err = embedded.Start(listener.Addr().String())
	require.ErrorContains(t, err, "used by another program")
	require.ErrorContains(t, err, "COUNTERSIGN_REDIS_PORT")
	_, err = embedded.Start("no address")
	require.ErrorContains(t, err, "embedded redis")
}

func TestCloseFreesThePort(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start("127.0.0.1:0")
	require.NoError(t, err)
	server.Close()
	server.Close()
	again, err := embedded.Start(server.Addr())
	require.NoError(t, err)
	again.Close()
}

func ExampleStart() {
	server, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	fmt.Println(server.URL() != "")
	// Output: true
}
