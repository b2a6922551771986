package rediscompat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Check looks for what keeps the mirror from being of use, and returns it in
// words: a memory policy that throws keys away (case E08), programs that use
// another prefix (case E03), a cluster that is spoken to as one server, a server
// without BLMOVE. The error says only that Redis could not be asked.
func (m *Mirror) Check(ctx context.Context) ([]string, error) {
	if err := m.Ping(ctx); err != nil {
		return nil, err
	}
	var warnings []string
	info := m.info(ctx)
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		warnings = append(warnings, fmt.Sprintf("maxmemory-policy is %s, so pending questions can be thrown away; "+
			"set it to noeviction, or use a server that is not a cache", policy))
	}
	if _, cluster := m.commands.(*redis.ClusterClient); !cluster && info["cluster_enabled"] == "1" {
		warnings = append(warnings, `the server is a node of a cluster; add "?cluster=true" to REDIS_URL`)
	}
	if version := info["redis_version"]; version != "" && olderThan(version, 6, 2) {
		warnings = append(warnings, "version "+version+" is older than 6.2; pushed answers are looked for once a second")
	}
	others, err := m.otherPrefixes(ctx)
	for _, prefix := range others {
		warnings = append(warnings, fmt.Sprintf("keys *%s* exist under the prefix %q, ours is %q; "+
			"if they belong to a program that shares conversations, set COUNTERSIGN_REDIS_PREFIX=%s",
			awaitingName, prefix, m.params.Prefix, prefix))
	}
	return warnings, err
}

// info reads the sections that Check needs. What a server does not tell (some
// hosted ones, and the embedded one) is not warned of.
func (m *Mirror) info(ctx context.Context) map[string]string {
	facts := map[string]string{}
	for _, section := range []string{"server", "memory", "cluster"} {
		var text string
		err := m.call(ctx, "asking redis about itself", func(ctx context.Context) (err error) {
			text, err = m.commands.Info(ctx, section).Result()
			return err
		})
		if err != nil {
			m.log.Debug("redis does not tell about itself", "section", section, "error", err)
			continue
		}
		for line := range strings.Lines(text) {
			if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
				facts[name] = value
			}
		}
	}
	return facts
}

func (m *Mirror) otherPrefixes(ctx context.Context) ([]string, error) {
	const most = 5
	others := map[string]bool{}
	err := m.scan(ctx, "*"+awaitingName+"*", func(keys []string) {
		for _, key := range keys {
			prefix, _, _ := strings.Cut(key, awaitingName)
			if !strings.HasPrefix(key, m.params.Prefix+awaitingName) && len(others) < most {
				others[prefix] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(others)), err
}

func olderThan(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errA == nil && errB == nil && (a < major || a == major && b < minor)
}

// eachMaster runs do on one master after the other.
func eachMaster(
	ctx context.Context, cluster *redis.ClusterClient, do func(context.Context, redis.Cmdable) error,
) error {
	var one sync.Mutex
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		return do(ctx, node)
	})
}
