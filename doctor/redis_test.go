package doctor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/doctor"
	"github.com/countersignhq/countersign/rediscompat"
	"github.com/countersignhq/countersign/rediscompat/embedded"
)

type redis struct {
	facts rediscompat.Facts
	err   error
}

func (r redis) Facts(context.Context) (rediscompat.Facts, error) { return r.facts, r.err }

func TestRedis(t *testing.T) {
	t.Parallel()
	away := errors.New("connection refused")
	good := rediscompat.Facts{Version: "7.0.15", Policy: "noeviction"}
	for name, test := range map[string]struct {
		check doctor.Redis
		want  []string
		says  string
	}{
		"well":         {doctor.Redis{Server: redis{facts: good}}, []string{"ok redis", "ok memory", "ok prefix"}, "7.0.15"},
		"says nothing": {doctor.Redis{Server: redis{}}, []string{"ok redis", "ok prefix"}, ""},
		"not there":    {doctor.Redis{Server: redis{err: away}, Configured: true}, []string{"fail redis"}, "REDIS_URL"},
		"none":         {doctor.Redis{Server: redis{err: away}}, []string{"off redis"}, "not configured"},
		"no URL":       {doctor.Redis{Err: errors.New("REDIS_URL is not understood")}, []string{"fail url"}, "not understood"},
		"a cache":      {doctor.Redis{Server: redis{facts: rediscompat.Facts{Version: "7.2.0", Policy: "allkeys-lru"}}}, []string{"ok redis", "warn memory", "ok prefix"}, "noeviction"},
		"an old one":   {doctor.Redis{Server: redis{facts: rediscompat.Facts{Version: "6.0.16", Policy: "noeviction"}}}, []string{"ok redis", "warn version", "ok memory", "ok prefix"}, "6.2"},
		"a node":       {doctor.Redis{Server: redis{facts: rediscompat.Facts{Version: "7.0.15", Node: true}}}, []string{"ok redis", "fail cluster", "ok prefix"}, "?cluster=true"},
		"a cluster":    {doctor.Redis{Server: redis{facts: rediscompat.Facts{Version: "7.0.15", Cluster: true}}}, []string{"ok redis", "ok cluster", "ok prefix"}, ""},
		"another's prefix": {doctor.Redis{Server: redis{facts: rediscompat.Facts{Version: "7.0.15", Prefixes: []string{"laravel_", "x:"}}}, Prefix: "mine_"},
			[]string{"ok redis", "warn prefix", "warn prefix"}, "COUNTERSIGN_REDIS_PREFIX=laravel_"},
		"no SCAN": {doctor.Redis{Server: redis{facts: good, err: errors.New("NOPERM")}, Configured: true}, []string{"ok redis", "ok memory", "warn prefix"}, "NOPERM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := examine(t, test.check.Check)
			require.Equal(t, test.want, found.short())
			text := ""
			for _, f := range found {
				text += f.Detail + " → " + f.Mend + "\n"
			}
			require.Contains(t, text, test.says)
		})
	}
}

func TestRedisEmbedded(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(server.Close)
	mirror, err := rediscompat.New(rediscompat.Params{URL: server.URL(), Ours: func(context.Context, string) (bool, error) { return false, nil }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, mirror.Shutdown()) })
	found := examine(t, doctor.Redis{Server: mirror}.Check)
	require.Equal(t, []string{"ok redis", "ok prefix"}, found.short())
}
