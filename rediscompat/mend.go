package rediscompat

import (
	"context"
	"slices"
	"time"
)

// slack is how far a key's time to live may be off before it is set again.
const slack = 1500 * time.Millisecond

// mend makes the keys of what is pending right and sees to it that each has a waiter.
func (r *reconciler) mend(ctx context.Context, pending []Pending, known map[string]bool, urgent bool) error {
	for part := range slices.Chunk(pending, batch) {
		questions := make([]*question, 0, len(part))
		names := make([]string, 0, len(part))
		for _, p := range part {
			if q := r.adopt(p); q != nil {
				questions, names = append(questions, q), append(names, q.keys.awaiting)
			}
		}
		found, err := r.looks(ctx, names)
		if err != nil {
			return err
		}
		for i, q := range questions {
			right, err := r.mendOne(ctx, q, found[i], known, urgent)
			if err != nil {
				return err
			}
			if right {
				r.arm(q)
			}
		}
	}
	return nil
}

// adopt notes what Temporal says, unless the question was closed here just now
// or no time is left.
func (r *reconciler) adopt(p Pending) *question {
	keys, err := r.keys(p.Thread)
	if err != nil || p.Invocation == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, closed := r.closed[p.Invocation]; closed {
		return nil
	}
	if !p.Expires.IsZero() && !p.Expires.After(r.now()) || p.Expires.IsZero() && p.Timeout <= 0 {
		return nil
	}
	delete(r.unclosed, p.Invocation) // Temporal did not list it for a while, and does again
	return r.track(keys, p)
}

// mendOne tells whether the keys are now q's.
func (r *reconciler) mendOne(
	ctx context.Context, q *question, found look, known map[string]bool, urgent bool,
) (bool, error) {
	switch {
	case found.is(q.invocation):
		return true, r.mendTTL(ctx, q, found.ttl)
	case !found.exists:
		// In quiet times another engine may just have closed it.
		if !r.settled(q.keys.awaiting, "") && !urgent {
			return false, nil
		}
		return r.set(ctx, q, func(ctx context.Context, ttl time.Duration) (bool, error) {
			done, err := r.commands.SetNX(ctx, q.keys.awaiting, q.invocation, ttl).Result()
			return done, err
		})
	case known[found.value]:
		return false, nil // a newer question of ours, or an older one that is closing
	}
	ours, err := r.ours(ctx, found.value)
	if err != nil || !ours || !r.settled(q.keys.awaiting, found.value) {
		return false, nil // another program's question has superseded ours, or it is too early to say
	}
	return r.set(ctx, q, func(ctx context.Context, ttl time.Duration) (bool, error) {
		return replace.Run(ctx, r.commands, []string{q.keys.awaiting}, found.value, q.invocation, ttl.Milliseconds()).Bool()
	})
}

// set writes awaiting_confirm by do. The list is stale unless the key was q's
// before: then what is in it was pushed for q.
func (r *reconciler) set(
	ctx context.Context, q *question, do func(context.Context, time.Duration) (bool, error),
) (done bool, err error) {
	r.mu.Lock()
	ttl, armed, over := r.left(q), q.armed, q.ctx.Err() != nil
	r.mu.Unlock()
	if ttl <= 0 || over {
		return false, nil
	}
	err = r.call(ctx, "rebuilding a question in redis", func(ctx context.Context) error {
		if !armed {
			if err := r.commands.Del(ctx, q.keys.confirm).Err(); err != nil {
				return err
			}
		}
		done, err = do(ctx, milliseconds(ttl))
		return err
	})
	if done {
		r.log.Info("redis mirror: a pending question is announced again", "invocation", q.invocation)
		// It may have been closed meanwhile, by this process, before the key was there.
		r.mu.Lock()
		if q.ctx.Err() != nil && r.ctx.Err() == nil {
			r.unclosed[q.invocation] = q.thread
		}
		r.mu.Unlock()
	}
	return done, err
}

// mendTTL sets the time left where it is wrong (SET removes it: case E07).
func (r *reconciler) mendTTL(ctx context.Context, q *question, ttl time.Duration) error {
	r.mu.Lock()
	want, delivered := r.left(q), !q.expires.IsZero()
	r.mu.Unlock()
	off := (ttl - want).Abs() > slack
	if !delivered {
		off = ttl < want/2 // nobody's time is running yet: it only must not expire
	}
	if want <= 0 || ttl >= 0 && !off {
		return nil
	}
	return r.call(ctx, "correcting a time to live", func(ctx context.Context) error {
		return renewOwn.Run(ctx, r.commands, []string{q.keys.awaiting}, q.invocation, milliseconds(want).Milliseconds()).Err()
	})
}

// left is the time a question has. It is called with mu held.
func (m *Mirror) left(q *question) time.Duration {
	if q.expires.IsZero() {
		return q.timeout
	}
	return q.expires.Sub(m.now())
}
