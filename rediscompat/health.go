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

// Facts are what the server tells about itself, as far as the mirror depends on it.
// Some hosted ones, and the embedded one, do not tell all of it; what is not told is
// the zero value, and nothing to worry about.
type Facts struct {
	Version string
	// Policy is maxmemory-policy; any but noeviction throws keys away (case E08).
	Policy string
	// Cluster tells that REDIS_URL names one, Node that it names one of a cluster as
	// if it were a server alone.
	Cluster, Node bool
	// Prefixes are others under which somebody waits for answers (case E03), a few at most.
	Prefixes []string
}

// Evicts tells whether pending questions can be thrown away.
func (f Facts) Evicts() bool { return f.Policy != "" && f.Policy != "noeviction" }

// Old tells that the server has no BLMOVE: pushed answers are looked for once a second.
func (f Facts) Old() bool { return f.Version != "" && olderThan(f.Version, 6, 2) }

// Facts asks the server. The error says only that Redis could not be asked; the facts
// that were learnt before it are there.
func (m *Mirror) Facts(ctx context.Context) (Facts, error) {
	if err := m.Ping(ctx); err != nil {
		return Facts{}, err
	}
	info := m.info(ctx)
	_, cluster := m.commands.(*redis.ClusterClient)
	prefixes, err := m.otherPrefixes(ctx)
	return Facts{
		Version: info["redis_version"], Policy: info["maxmemory_policy"],
		Cluster: cluster, Node: !cluster && info["cluster_enabled"] == "1", Prefixes: prefixes,
	}, err
}

// Check returns in words what keeps the mirror from being of use. The error says only
// that Redis could not be asked.
func (m *Mirror) Check(ctx context.Context) ([]string, error) {
	facts, err := m.Facts(ctx)
	var warnings []string
	if facts.Evicts() {
		warnings = append(warnings, fmt.Sprintf("maxmemory-policy is %s, so pending questions can be thrown away; "+
			"set it to noeviction, or use a server that is not a cache", facts.Policy))
	}
	if facts.Node {
		warnings = append(warnings, `the server is a node of a cluster; add "?cluster=true" to REDIS_URL`)
	}
	if facts.Old() {
		warnings = append(warnings, "version "+facts.Version+" is older than 6.2; pushed answers are looked for once a second")
	}
	for _, prefix := range facts.Prefixes {
		warnings = append(warnings, fmt.Sprintf("keys *%s* exist under the prefix %q, ours is %q; "+
			"if they belong to a program that shares conversations, set COUNTERSIGN_REDIS_PREFIX=%s",
			awaitingName, prefix, m.params.Prefix, prefix))
	}
	return warnings, err
}

// info reads the sections that Facts needs.
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
