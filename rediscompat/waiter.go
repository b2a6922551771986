package rediscompat

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"
)

// block is how long the server lets a waiter wait at a time: whole seconds,
// since older servers round anything else (case E06), and short enough that the
// connections of closed questions are soon free.
const block = 2

// wait hands over what is pushed for q, until q ends.
func (m *Mirror) wait(q *question) {
	complained := false
	for q.ctx.Err() == nil {
		// Source and destination are one list: the element is never out of it (case E05).
		err := m.blocking.Do(q.ctx, "BLMOVE", q.keys.confirm, q.keys.confirm, "LEFT", "LEFT", block).Err()
		readAt := m.now()
		switch {
		case q.ctx.Err() != nil:
			return
		case err == nil:
		case errors.Is(err, redis.Nil):
			continue
		case redis.HasErrorPrefix(err, "WRONGTYPE"):
			if !complained {
				m.log.Warn("redis: a key of another type is in the way, it is ignored", "key", q.keys.confirm)
				complained = true
			}
			pause(q.ctx, m.pace.recheck)
			continue
		default:
			if unreachable(err) {
				m.suspect(err, false)
			} else {
				m.log.Debug("redis: waiting is not possible, looking once in a while", "key", q.keys.confirm, "error", err)
			}
			// Not all at once, when a server returns to thousands of waiters.
			pause(q.ctx, m.pace.recheck/2+rand.N(m.pace.recheck/2))
			readAt = m.now()
		}
		if !m.read(q, readAt) {
			pause(q.ctx, m.pace.recheck)
		}
	}
}

// read hands over the head of the list and removes it. It tells whether it is
// worth while to look again at once.
func (m *Mirror) read(q *question, readAt time.Time) bool {
	var raw string
	mine := false
	err := m.call(q.ctx, "reading a pushed answer", func(ctx context.Context) error {
		now, err := m.holder(ctx, q.keys.awaiting)
		// A key that is gone (evicted, flushed) does not mean that nobody asks: case E08.
		if mine = err == nil && (!now.exists || now.is(q.invocation)); !mine {
			return err
		}
		raw, err = readHead.Run(ctx, m.commands, []string{q.keys.confirm},
			stamp(q.invocation, readAt), m.listTTL(q).Milliseconds()).Text()
		return err
	})
	switch {
	case errors.Is(err, redis.Nil):
		return true // another engine was faster, or there was nothing
	case err != nil || !mine:
		return false
	}
	head := parse(raw, q.invocation, m.now())
	if !head.stale && !m.hand(q, head) {
		return false
	}
	// The element itself is named, with its stamp: a repeat removes nothing else. Where this
	// fails it is handed over again, under the same id.
	err = m.call(context.WithoutCancel(q.ctx), "removing a pushed answer", func(ctx context.Context) error {
		return m.commands.LRem(ctx, q.keys.confirm, 1, raw).Err()
	})
	return err == nil
}

// hand gives an element to Answer until that has it, or the question has ended.
// The element is kept here meanwhile, should the list expire.
func (m *Mirror) hand(q *question, head element) bool {
	answer := Answer{Invocation: q.invocation, Thread: q.thread, ID: head.id, Text: head.text, ReadAt: head.readAt}
	for delay := m.pace.recheck / 4; ; delay = min(2*delay, 5*m.pace.recheck) {
		ctx, cancel := context.WithTimeout(q.ctx, m.pace.patience)
		err := m.params.Answer(ctx, answer)
		cancel()
		if err == nil {
			return true
		}
		if q.ctx.Err() != nil {
			return false
		}
		m.log.Warn("redis: a pushed answer could not be handed over yet", "invocation", q.invocation, "error", err)
		if !pause(q.ctx, delay) {
			return false
		}
	}
}

func (m *Mirror) listTTL(q *question) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(milliseconds(q.timeout), time.Second)
}
