package connectortest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// Desk is a chat.Desk that records what it is given. The zero value takes everything.
type Desk struct {
	// Verdict answers clicks; nil: taken.
	Verdict func(chat.Click) chat.Verdict

	mu       sync.Mutex
	failures []error
	messages []chat.Message
	clicks   []chat.Click
	changed  chan struct{}
}

// Fail lets the next calls return these errors, one each. What is refused is not recorded.
func (d *Desk) Fail(errs ...error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failures = append(d.failures, errs...)
}

// Deliver implements chat.Desk.
func (d *Desk) Deliver(ctx context.Context, m chat.Message) error {
	return d.record(ctx, func() { d.messages = append(d.messages, m) })
}

// Click implements chat.Desk.
func (d *Desk) Click(ctx context.Context, c chat.Click) (chat.Verdict, error) {
	if err := d.record(ctx, func() { d.clicks = append(d.clicks, c) }); err != nil {
		return chat.Verdict{}, err
	}
	if d.Verdict != nil {
		return d.Verdict(c), nil
	}
	return chat.Verdict{Standing: chat.StandingTaken}, nil
}

func (d *Desk) record(ctx context.Context, add func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	defer d.notify()
	if len(d.failures) > 0 {
		err := d.failures[0]
		d.failures = d.failures[1:]
		return err
	}
	add()
	return nil
}

func (d *Desk) notify() {
	if d.changed != nil {
		close(d.changed)
		d.changed = nil
	}
}

// Messages taken so far.
func (d *Desk) Messages() []chat.Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.messages)
}

// Clicks taken so far.
func (d *Desk) Clicks() []chat.Click {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.clicks)
}

// Pending is the number of planned failures that have not happened yet.
func (d *Desk) Pending() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.failures)
}

// Await waits until condition holds; it is looked at after each call of the Desk.
// false: it did not within the time.
func (d *Desk) Await(within time.Duration, condition func() bool) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		d.mu.Lock()
		if d.changed == nil {
			d.changed = make(chan struct{})
		}
		changed := d.changed
		d.mu.Unlock()
		if condition() {
			return true
		}
		select {
		case <-changed:
		case <-deadline.C:
			return condition()
		}
	}
}
