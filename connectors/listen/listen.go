package listen

import (
	"context"
	"errors"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// Sleep waits; the error is that of a context that ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Beat calls tell every so often, from a goroutine of its own, until ctx ends or stop is
// called; stop waits for a call that is under way.
func Beat(ctx context.Context, every time.Duration, tell func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				tell()
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// Backoff are waits that double from First up to Most.
type Backoff struct {
	First, Most time.Duration

	next time.Duration
}

// Wait is the next one.
func (b *Backoff) Wait() time.Duration {
	wait := max(b.next, b.First)
	b.next = min(2*wait, b.Most)
	return wait
}

// Reset begins again with the first one.
func (b *Backoff) Reset() { b.next = 0 }

// ErrRefused is what Handover.Give returns for what was refused too often.
var ErrRefused = errors.New("it was refused again and again")

// Handover is how something that was received is handed on.
type Handover struct {
	Backoff Backoff
	// Refusals are how many refusals of its own the receiver may give.
	Refusals int
	// Lasting tells such a refusal from a failure that passes, which is waited out however
	// long it takes; optional: Refusal.
	Lasting func(error) bool
	// Again hears of each failure before the next try; optional.
	Again func(err error, wait time.Duration)
}

// Refusal tells whether an error of a chat.Desk is its own word, rather than that nobody
// could be reached in time.
func Refusal(err error) bool {
	return !errors.Is(err, chat.ErrUnreachable) && !errors.Is(err, context.DeadlineExceeded)
}

// Give calls give until it succeeds. The error is that of ctx, or ErrRefused around the last refusal.
func (h Handover) Give(ctx context.Context, give func() error) error {
	lasting := h.Lasting
	if lasting == nil {
		lasting = Refusal
	}
	for refusals := 0; ; {
		err := give()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if lasting(err) {
			if refusals++; refusals >= h.Refusals {
				return errors.Join(ErrRefused, err)
			}
		}
		wait := h.Backoff.Wait()
		if h.Again != nil {
			h.Again(err, wait)
		}
		if err := Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
