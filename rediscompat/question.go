package rediscompat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/countersignhq/countersign/chat"
)

// remembered bounds what is kept about closed questions while Redis is away; for
// the rest the keys' time to live must do.
const remembered = 10_000

// question is a pending question of ours as this process knows it. Its fields
// are read and written with Mirror.mu held, but for those that never change.
type question struct {
	thread     chat.Thread // never changes, as keys and invocation
	keys       pair
	invocation string

	expires time.Time     // zero: not delivered yet
	timeout time.Duration // the whole time, and the list's time to live
	begun   time.Time     // known here since
	missed  int           // passes in which Temporal did not know it
	// armed: the keys were set, or found set, for this question. What lies in the list
	// before that is somebody else's, so the waiter starts only then.
	armed bool
	ctx   context.Context
	end   context.CancelFunc
}

// Open announces that invocation waits for an answer in thread: a stale list is
// deleted first, then awaiting_confirm is set for ttl, and a waiter starts. It
// overwrites whoever waited there. Called again it only renews ttl, so that a
// reply that is already there is not lost.
//
// An error is a reason for a warning only: Run makes good for it.
func (m *Mirror) Open(ctx context.Context, thread chat.Thread, invocation string, ttl time.Duration) error {
	keys, err := m.check(thread, invocation, ttl)
	if err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.closed, invocation)
	delete(m.unclosed, invocation)
	q := m.track(keys, Pending{Thread: thread, Invocation: invocation, Timeout: ttl})
	m.mu.Unlock()
	err = m.call(ctx, "announcing the question in redis", func(ctx context.Context) error {
		now, err := m.holder(ctx, keys.awaiting)
		if err != nil {
			return err
		}
		if !now.is(invocation) {
			if err := m.commands.Del(ctx, keys.confirm).Err(); err != nil {
				return err
			}
		}
		return m.commands.Set(ctx, keys.awaiting, invocation, milliseconds(ttl)).Err()
	})
	if err == nil {
		m.arm(q)
	}
	return err
}

// Renew gives the keys of invocation ttl from now on, if they are still its own.
// An error is a reason for a warning only.
func (m *Mirror) Renew(ctx context.Context, thread chat.Thread, invocation string, ttl time.Duration) error {
	keys, err := m.check(thread, invocation, ttl)
	if err != nil {
		return err
	}
	m.mu.Lock()
	if q := m.questions[invocation]; q != nil {
		q.expires, q.timeout = m.now().Add(ttl), ttl
	}
	m.mu.Unlock()
	return m.call(ctx, "renewing the question in redis", func(ctx context.Context) error {
		return renewOwn.Run(ctx, m.commands, []string{keys.awaiting}, invocation, milliseconds(ttl).Milliseconds()).Err()
	})
}

// Close ends the mirror of a question: confirm goes first, then awaiting_confirm.
// Where awaiting_confirm names another question by now, both are left to that one.
// Without Redis it returns an error, a reason for a warning only, and Run repeats it.
func (m *Mirror) Close(ctx context.Context, thread chat.Thread, invocation string) error {
	keys, err := m.check(thread, invocation, time.Second)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.untrack(invocation)
	if len(m.closed) < remembered {
		m.closed[invocation] = m.now()
	}
	m.mu.Unlock()
	err = m.clear(ctx, keys, invocation)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		delete(m.unclosed, invocation)
	} else if len(m.unclosed) < remembered {
		m.unclosed[invocation] = thread
	}
	return err
}

// clear deletes both keys unless another question has them. A key that has
// already expired leaves the list without an owner, so that goes too.
func (m *Mirror) clear(ctx context.Context, keys pair, invocation string) error {
	return m.call(ctx, "closing the question in redis", func(ctx context.Context) error {
		now, err := m.holder(ctx, keys.awaiting)
		if err != nil || now.exists && !now.is(invocation) {
			return err
		}
		// Two steps, since the keys may lie in two slots: whoever overwrites awaiting_confirm
		// between them and has an answer pushed at once loses that answer, and asks on.
		if err := m.commands.Del(ctx, keys.confirm).Err(); err != nil {
			return err
		}
		return deleteOwn.Run(ctx, m.commands, []string{keys.awaiting}, invocation).Err()
	})
}

func (m *Mirror) check(thread chat.Thread, invocation string, ttl time.Duration) (pair, error) {
	switch {
	case invocation == "":
		return pair{}, errors.New("redis mirror: the invocation is missing")
	case ttl <= 0:
		return pair{}, fmt.Errorf("redis mirror: no time is left (%s)", ttl)
	}
	return m.keys(thread)
}

// track notes a question, or what is new about it. It is called with mu held.
func (m *Mirror) track(keys pair, p Pending) *question {
	q := m.questions[p.Invocation]
	if q == nil {
		q = &question{thread: p.Thread, keys: keys, invocation: p.Invocation, begun: m.now()}
		q.ctx, q.end = context.WithCancel(m.ctx)
		m.questions[p.Invocation] = q
	}
	if !p.Expires.IsZero() || q.expires.IsZero() {
		q.expires, q.timeout = p.Expires, p.Timeout
	}
	q.missed = 0
	return q
}

// untrack ends the waiter. It is called with mu held.
func (m *Mirror) untrack(invocation string) {
	if q := m.questions[invocation]; q != nil {
		q.end()
		delete(m.questions, invocation)
	}
}

// arm starts the waiter, once the keys are known to be the question's.
func (m *Mirror) arm(q *question) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if q.armed || q.ctx.Err() != nil {
		return
	}
	q.armed = true
	if m.params.Answer != nil {
		m.spawn(func() { m.wait(q) })
	}
}

// ours tells whether a value is an invocation of ours, running or ended.
func (m *Mirror) ours(ctx context.Context, value string) (bool, error) {
	if value == "" {
		return false, nil
	}
	ours, err := m.params.Ours(ctx, value)
	if err != nil {
		return false, fmt.Errorf("asking whether the question in redis is ours: %w", err)
	}
	return ours, nil
}

// holder is what an awaiting_confirm key says.
type holder struct {
	value  string // empty also for a key that is no string
	exists bool
}

func (h holder) is(invocation string) bool { return h.exists && h.value == invocation }

func (m *Mirror) holder(ctx context.Context, awaiting string) (holder, error) {
	return held(m.commands.Get(ctx, awaiting))
}

func held(reply *redis.StringCmd) (holder, error) {
	value, err := reply.Result()
	switch {
	case err == nil:
		return holder{value: value, exists: true}, nil
	case errors.Is(err, redis.Nil):
		return holder{}, nil
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return holder{exists: true}, nil
	default:
		return holder{}, err
	}
}

// milliseconds rounds up to what Redis can keep.
func milliseconds(d time.Duration) time.Duration {
	return max((d + time.Millisecond - 1).Truncate(time.Millisecond), time.Millisecond)
}
