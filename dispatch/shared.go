package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// readLimit bounds one read that several callers share.
const readLimit = time.Minute

// shared does one expensive read for all who ask for it at the same time, so that a hundred open
// pages cost as much as one. Nobody is given what was read before they asked: who comes while a
// read is running shares the next one. The zero value is ready.
type shared[T any] struct {
	mu      sync.Mutex
	running bool
	next    *round[T]
}

type round[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// do returns what read returns, or the error of ctx; the value belongs to all callers.
func (s *shared[T]) do(ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	s.mu.Lock()
	if s.next == nil {
		s.next = &round[T]{done: make(chan struct{})}
	}
	mine := s.next
	if !s.running {
		s.running = true
		// It goes on without the caller who happened to come first.
		go s.rounds(context.WithoutCancel(ctx), read)
	}
	s.mu.Unlock()
	select {
	case <-mine.done:
		return mine.value, mine.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("wait for a shared read: %w", ctx.Err())
	}
}

func (s *shared[T]) rounds(ctx context.Context, read func(context.Context) (T, error)) {
	for {
		s.mu.Lock()
		now := s.next
		s.next = nil
		s.running = now != nil
		s.mu.Unlock()
		if now == nil {
			return
		}
		limited, cancel := context.WithTimeout(ctx, readLimit)
		now.value, now.err = read(limited)
		cancel()
		close(now.done)
	}
}
