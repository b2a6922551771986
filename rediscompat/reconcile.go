package rediscompat

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// gone is in how many passes Temporal must not know a question before its keys go:
	// what Temporal lists can lag behind what was just opened.
	gone = 3
	// closedFor is how long such a list may still hold what was closed here.
	closedFor = time.Minute
	// batch is how many keys are looked at in one exchange.
	batch = 200
)

// Run keeps the mirror true until ctx ends: every few seconds, and at once when
// Redis returns, it compares the keys with what Temporal says is pending. It
// returns nil, or an error when the Mirror cannot run at all. Call it once, in
// each process that opens questions; when it returns the waiters have ended.
func (m *Mirror) Run(ctx context.Context) error {
	if m.params.Pending == nil || m.params.Answer == nil {
		return errors.New("redis mirror: Params.Pending and Params.Answer are needed to run")
	}
	defer m.halt()
	m.log.Info("redis mirror: other programs must use the same prefix", "prefix", m.params.Prefix)
	r := &reconciler{Mirror: m}
	// After a start as after an outage the keys may be missing for no better reason.
	for urgent := true; ; {
		r.pass(ctx, urgent)
		select {
		case <-ctx.Done():
			return nil
		case <-m.ctx.Done():
			return errors.New("redis mirror: it was shut down while it ran")
		case <-m.returned:
			urgent = true
		case <-time.After(m.pace.reconcile):
			urgent = false
		}
	}
}

// reconciler is what Run remembers from pass to pass.
type reconciler struct {
	*Mirror
	seen     map[string]sight  // by awaiting key: what looked wrong in the last pass
	looking  map[string]sight  // the same for this pass
	suspects map[string]string // by awaiting key: the invocation of ours that seems to have ended
	swept    time.Time
	checked  bool
	deaf     bool // Pending fails; said so
}

// sight is a state that looked wrong, and since when.
type sight struct {
	value string // of the awaiting key; empty for a missing one
	since time.Time
}

// settled tells whether a state that looks wrong has looked so for a while. One
// look is not enough: the list of pending questions is a moment old, and another
// engine may have opened or closed one since.
func (r *reconciler) settled(key, value string) bool {
	now := r.now()
	first, known := r.seen[key]
	if !known || first.value != value {
		first = sight{value: value, since: now}
	}
	r.looking[key] = first
	return now.Sub(first.since) >= r.pace.again
}

func (r *reconciler) pass(ctx context.Context, urgent bool) {
	if !r.breaker.allows() {
		return
	}
	if !r.checked {
		r.report(ctx)
	}
	r.looking = map[string]sight{}
	defer func() { r.seen = r.looking }()
	r.repeatCloses(ctx)
	pending, fresh := r.pending(ctx)
	known := r.take(pending, fresh)
	if fresh {
		r.sweep(ctx, known, urgent)
	}
	if err := r.mend(ctx, pending, known, urgent); err != nil && ctx.Err() == nil {
		r.log.Debug("redis mirror: the comparison was cut short", "error", err)
	}
}

// report tells once what is wrong with the server.
func (r *reconciler) report(ctx context.Context) {
	warnings, err := r.Check(ctx)
	if err != nil {
		return
	}
	r.checked = true
	for _, warning := range warnings {
		r.log.Warn("redis: " + warning)
	}
}

func (r *reconciler) repeatCloses(ctx context.Context) {
	r.mu.Lock()
	repeat := make([]*question, 0, len(r.unclosed))
	for invocation, thread := range r.unclosed {
		repeat = append(repeat, &question{invocation: invocation, thread: thread, keys: r.named(thread.String())})
	}
	for invocation, at := range r.closed {
		if _, open := r.unclosed[invocation]; !open && r.now().Sub(at) > closedFor {
			delete(r.closed, invocation)
		}
	}
	r.mu.Unlock()
	for _, q := range repeat {
		if r.clear(ctx, q.keys, q.invocation) != nil {
			return
		}
		r.mu.Lock()
		delete(r.unclosed, q.invocation)
		r.mu.Unlock()
	}
}

// pending asks Temporal; while that is away, what this process knows must do.
func (r *reconciler) pending(ctx context.Context) (pending []Pending, fresh bool) {
	bounded, cancel := context.WithTimeout(ctx, r.pace.patience)
	defer cancel()
	pending, err := r.params.Pending(bounded)
	if err == nil {
		r.deaf = false
		return pending, true
	}
	if !r.deaf && ctx.Err() == nil {
		r.deaf = true
		r.log.Warn("redis mirror: what is pending cannot be learned, going by what is known here", "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	pending = nil
	for _, q := range r.questions {
		pending = append(pending, Pending{Thread: q.thread, Invocation: q.invocation, Expires: q.expires, Timeout: q.timeout})
	}
	return pending, false
}

// take compares what is pending with what is known here, and returns all that
// may be pending. Questions that Temporal has not known for some passes go.
func (r *reconciler) take(pending []Pending, fresh bool) map[string]bool {
	known := make(map[string]bool, len(pending))
	for _, p := range pending {
		known[p.Invocation] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for invocation, q := range r.questions {
		switch {
		case known[invocation]:
			q.missed = 0
		case !fresh:
		default:
			if q.missed++; q.missed >= gone {
				r.untrack(invocation)
				r.unclosed[invocation] = q.thread
				continue
			}
		}
		known[invocation] = true
	}
	return known
}

// look is what Redis says about one awaiting_confirm key.
type look struct {
	holder
	ttl     time.Duration // negative: none
	strange bool          // not a string
}

func looked(value *redis.StringCmd, ttl *redis.DurationCmd) (look, error) {
	h, err := held(value)
	if err != nil {
		return look{}, err
	}
	left, err := ttl.Result()
	return look{holder: h, ttl: left, strange: h.exists && value.Err() != nil}, err
}

// looks reads keys in one exchange.
func (r *reconciler) looks(ctx context.Context, keys []string) ([]look, error) {
	found := make([]look, len(keys))
	err := r.call(ctx, "comparing with redis", func(ctx context.Context) error {
		pipe := r.commands.Pipeline()
		values, ttls := make([]*redis.StringCmd, len(keys)), make([]*redis.DurationCmd, len(keys))
		for i, key := range keys {
			values[i], ttls[i] = pipe.Get(ctx, key), pipe.PTTL(ctx, key)
		}
		_, _ = pipe.Exec(ctx) // each reply has its own error
		for i := range keys {
			var err error
			if found[i], err = looked(values[i], ttls[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}
