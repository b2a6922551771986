package rediscompat

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCheckFindsNothingWrong(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		w := newWorld()
		m := w.mirror(t, url)
		require.NoError(t, m.Open(t.Context(), thread, "inv1", time.Minute))
		warnings, err := m.Check(t.Context())
		require.NoError(t, err)
		require.Empty(t, warnings)
	})
}

func TestE03E08Warnings(t *testing.T) {
	t.Parallel()
	server := startRedis(t, "--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru")
	them, w := other(t, server.url()), newWorld()
	require.NoError(t, them.Set(t.Context(), "laravel_database_awaiting_confirm:slack:T1", "1", time.Minute).Err())
	w.running(t, server.url(), brisk)
	eventually(t, 5*time.Second, "both are said at the start", func() bool {
		return strings.Contains(w.log(), "maxmemory-policy is allkeys-lru") &&
			strings.Contains(w.log(), "COUNTERSIGN_REDIS_PREFIX=laravel_database_")
	})
	require.Equal(t, 1, strings.Count(w.log(), "maxmemory-policy is"))
}

func TestClusterTakenForAServer(t *testing.T) {
	t.Parallel()
	server := startCluster(t)
	warnings, err := newWorld().mirror(t, server.url()).Check(t.Context())
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "?cluster=true")
}

func TestOlderThan(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"6.0.16": true, "5.0": true, "6.2.0": false, "7.0.15": false, "10.1.1": false, "": false, "unknown": false,
	} {
		require.Equal(t, want, olderThan(version, 6, 2), version)
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for address, fine := range map[string]bool{
		"redis://127.0.0.1:6379":                                       true,
		"rediss://user:hunter2@redis.example.test:6380/3":              true,
		"unix:///run/redis.sock":                                       true,
		"redis://a.example.test?cluster=true&addr=b.example.test:6379": true,
		"redis://a.example.test/0?cluster=1":                           true,
		"redis://:hunter2@a.example.test/2?cluster=true":               false,
		"redis://:hunter2@a.example.test?cluster=maybe":                false,
		"redis://:hunter2/x@a.example.test":                            false,
		"redis://user/hunter2@a.example.test":                          false,
		"redis://:hunter2%zz@a.example.test":                           false,
		"redis://:hunter2@a.example.test:port/0":                       false,
		"http://:hunter2@a.example.test":                               false,
		"redis://:hunter2@a.example.test?no_such_option=hunter2":       false,
		"hunter2": false,
		"":        false,
	} {
		commands, blocking, err := clients(address, time.Second)
		require.Equal(t, fine, err == nil, address)
		if fine {
			require.NoError(t, commands.Close())
			require.NoError(t, blocking.Close())
			continue
		}
		require.ErrorContains(t, err, "REDIS_URL")
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := New(Params{URL: "redis://127.0.0.1:1"})
	require.Error(t, err, "Ours is missing")
}

// A wrong password is said, the password is not.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	server := startRedis(t, "--requirepass", "right")
	w := newWorld()
	m := w.mirror(t, strings.Replace(server.url(), "//", "//:hunter2@", 1))
	err := m.Open(t.Context(), thread, "inv1", time.Minute)
	require.ErrorContains(t, err, "WRONGPASS")
	require.NotContains(t, err.Error()+w.log(), "hunter2")
}
