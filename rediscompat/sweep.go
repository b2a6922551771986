package rediscompat

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// sweep removes keys of invocations of ours that have ended, which a process
// left that was killed. They would expire anyway, so the search is bounded.
func (r *reconciler) sweep(ctx context.Context, known map[string]bool, urgent bool) {
	if now := r.now(); urgent || now.Sub(r.swept) >= r.pace.sweep {
		r.swept = now
		r.findSuspects(ctx, known)
	}
	names := make([]string, 0, len(r.suspects))
	for key := range r.suspects {
		names = append(names, key)
	}
	for part := range slices.Chunk(names, batch) {
		found, err := r.looks(ctx, part)
		if err != nil {
			return
		}
		for i, key := range part {
			value := found[i].value
			if !found[i].exists || known[value] || value != r.suspects[key] {
				delete(r.suspects, key)
				continue
			}
			if !r.settled(key, value) {
				continue
			}
			// What follows the name is used as it is, never taken apart (case E01).
			keys := r.named(key[len(r.params.Prefix+awaitingName):])
			if r.clear(ctx, keys, value) == nil {
				delete(r.suspects, key)
			}
		}
	}
}

func (r *reconciler) findSuspects(ctx context.Context, known map[string]bool) {
	if r.suspects == nil {
		r.suspects = map[string]string{}
	}
	var keys []string
	err := r.scan(ctx, literal(r.params.Prefix+awaitingName)+"*", func(found []string) { keys = append(keys, found...) })
	if err != nil {
		return
	}
	for part := range slices.Chunk(keys, batch) {
		found, err := r.looks(ctx, part)
		if err != nil {
			return
		}
		for i, key := range part {
			value := found[i].value
			if value == "" || known[value] {
				continue
			}
			if ours, err := r.ours(ctx, value); err == nil && ours {
				r.suspects[key] = value
			}
		}
	}
}

// scan looks for keys, on every node, in a bounded number of steps.
func (m *Mirror) scan(ctx context.Context, pattern string, found func([]string)) error {
	const steps, count = 50, 1000
	node := func(ctx context.Context, client redis.Cmdable) error {
		cursor := uint64(0)
		for range steps {
			err := m.call(ctx, "searching redis for keys", func(ctx context.Context) error {
				keys, next, err := client.Scan(ctx, cursor, pattern, count).Result()
				if err == nil {
					cursor = next
					found(keys)
				}
				return err
			})
			if err != nil || cursor == 0 {
				return err
			}
		}
		return nil
	}
	if cluster, ok := m.commands.(*redis.ClusterClient); ok {
		return eachMaster(ctx, cluster, node)
	}
	return node(ctx, m.commands)
}
