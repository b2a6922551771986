package harness

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is a real redis-server that keeps nothing on a disk.
type Redis struct {
	// Client is another program's: for keys and pushes.
	*redis.Client
	port    int
	process *Process
}

// NewRedis starts a server for one test.
func NewRedis(t testing.TB) *Redis {
	t.Helper()
	r := &Redis{port: Port(t)}
	r.Client = redis.NewClient(&redis.Options{Addr: Address(r.port), MaxRetries: 3})
	t.Cleanup(func() { _ = r.Close() })
	r.Start(t)
	return r
}

// DeadRedis is the URL of a server that is not there.
func DeadRedis(t testing.TB) string {
	t.Helper()
	return "redis://" + Address(Port(t)) + "/0"
}

// URL in the form of REDIS_URL.
func (r *Redis) URL() string { return "redis://" + Address(r.port) + "/0" }

// Start starts it, also again after a Kill, at the same port and empty.
func (r *Redis) Start(t testing.TB) {
	t.Helper()
	r.process = start(t, command{
		name: "redis-server", path: "redis-server", dir: t.TempDir(),
		args: []string{"--port", portText(r.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"},
	})
	Eventually(t, "Redis answers", func() bool { return r.Ping(t.Context()).Err() == nil })
}

// Kill is kill -9.
func (r *Redis) Kill() { r.process.Kill() }

// Keys are all that are there, less the markers of messages that were given away.
func (r *Redis) Keys(t testing.TB, pattern string) []string {
	t.Helper()
	keys, err := r.Client.Keys(t.Context(), pattern).Result()
	if err != nil {
		t.Fatalf("list the keys: %v", err)
	}
	return keys
}

// Gone waits until both keys of a thread are gone.
func (r *Redis) Gone(t testing.TB, thread string) {
	t.Helper()
	Until(t, "the keys of "+thread+" are deleted", func() ([]string, bool) {
		keys := r.Keys(t, "*confirm:"+thread)
		return keys, len(keys) == 0
	})
}

// Awaiting waits until awaiting_confirm of a thread has this value and returns its time to live.
func (r *Redis) Awaiting(t testing.TB, thread, value string) time.Duration {
	t.Helper()
	key := "awaiting_confirm:" + thread
	Until(t, key+" is "+value, func() (string, bool) {
		got, err := r.Get(t.Context(), key).Result()
		return got, err == nil && got == value
	})
	return r.PTTL(t.Context(), key).Val()
}
