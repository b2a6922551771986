package rediscompat

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"
)

// ErrAway means that Redis was away a moment ago, so that it was not asked.
var ErrAway = errors.New("redis cannot be reached; the mirror is rebuilt when it is back")

// breaker keeps a dead Redis from costing anything: while it is open, calls fail
// at once, and only a probe in the background looks whether Redis is back.
type breaker struct {
	mu      sync.Mutex
	open    bool
	probing bool
	told    bool // the outage is in the log
}

func (b *breaker) allows() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.open
}

// call runs one short exchange with Redis, bounded in time. what says what was
// being done. redis.Nil comes back as it is.
func (m *Mirror) call(ctx context.Context, what string, do func(context.Context) error) error {
	if !m.breaker.allows() {
		return fmt.Errorf("%s: %w", what, ErrAway)
	}
	bounded, cancel := context.WithTimeout(ctx, 2*m.pace.attempt)
	defer cancel()
	err := do(bounded)
	if err == nil || errors.Is(err, redis.Nil) {
		return err
	}
	if unreachable(err) {
		// Where the caller's own time was up, Redis need not be the culprit.
		m.suspect(err, ctx.Err() == nil)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// suspect starts the probe; sure opens the breaker without waiting for it.
func (m *Mirror) suspect(cause error, sure bool) {
	m.breaker.mu.Lock()
	defer m.breaker.mu.Unlock()
	if sure {
		m.breaker.open = true
		m.tell(cause)
	}
	if !m.breaker.probing {
		m.breaker.probing = true
		m.background(m.probe)
	}
}

// tell logs an outage once; it is called with the breaker's lock held.
func (m *Mirror) tell(cause error) {
	if m.breaker.told {
		return
	}
	m.breaker.told = true
	m.log.Warn("redis is away: questions are asked and answered without it, programs that use its keys do not see them",
		"error", cause)
}

func (m *Mirror) probe() {
	for {
		err := m.reach()
		m.breaker.mu.Lock()
		if err == nil {
			if m.breaker.told {
				m.log.Info("redis is back: rebuilding the mirror")
			}
			m.breaker.open, m.breaker.probing, m.breaker.told = false, false, false
			m.breaker.mu.Unlock()
			select {
			case m.returned <- struct{}{}:
			default: // a pass is due anyway
			}
			return
		}
		if m.ctx.Err() == nil {
			m.breaker.open = true
			m.tell(err)
		}
		m.breaker.mu.Unlock()
		if !pause(m.ctx, m.pace.probe) {
			return
		}
	}
}

func (m *Mirror) reach() error {
	ctx, cancel := context.WithTimeout(m.ctx, 2*m.pace.attempt)
	defer cancel()
	return m.commands.Ping(ctx).Err()
}

// Ping tells whether Redis can be used now: nil, or what is wrong. While it is
// known to be away the answer costs nothing.
func (m *Mirror) Ping(ctx context.Context) error {
	return m.call(ctx, "pinging redis", func(ctx context.Context) error { return m.commands.Ping(ctx).Err() })
}

// unreachable tells failures of the way to Redis from its replies. Of these only
// LOADING counts: a server that reads its file is not back yet.
func unreachable(err error) bool {
	var reply redis.Error
	switch {
	case errors.As(err, &reply):
		return redis.HasErrorPrefix(err, "LOADING")
	case errors.Is(err, redis.ErrClosed), errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, context.Canceled):
		return false
	default:
		return true
	}
}
