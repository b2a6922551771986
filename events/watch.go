package events

import (
	"context"
	"time"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

// The kinds of event that Watch makes.
const (
	Asked  = "asked"
	Closed = "closed"
)

// Watch publishes what changes in the list of pending questions, asked and closed, until
// ctx ends. It is for a gateway whose engine is another process; there is nothing to
// publish where the activities publish to the same Bus. The list is read every so often,
// and only while somebody listens. A list that cannot be read changes nothing.
func (b *Bus) Watch(ctx context.Context, pending func(context.Context) ([]contract.State, error), every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	watch := watch{pending: pending, publish: b.Publish}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			if b.Listeners() == 0 {
				watch.known = nil // what a new reader finds open is not news
				continue
			}
			watch.look(ctx, now)
		}
	}
}

type watch struct {
	pending func(context.Context) ([]contract.State, error)
	publish func(gateway.Event)
	// known is what was open at the last look; nil before the first one.
	known map[string]contract.State
}

func (w *watch) look(ctx context.Context, now time.Time) {
	states, err := w.pending(ctx)
	if err != nil {
		return
	}
	open := make(map[string]contract.State, len(states))
	for _, state := range states {
		open[state.ID] = state
		if _, ok := w.known[state.ID]; !ok && w.known != nil {
			w.publish(event(Asked, state, now))
		}
	}
	for id, state := range w.known {
		if _, ok := open[id]; !ok {
			w.publish(event(Closed, state, now))
		}
	}
	w.known = open
}

func event(kind string, state contract.State, at time.Time) gateway.Event {
	event := gateway.Event{Kind: kind, Invocation: state.ID, Thread: state.Thread, At: at.UTC()}
	switch {
	case state.Approval != nil:
		event.Text = state.Approval.Prompt
		// The question may have been routed to another conversation than the call's.
		event.Thread.Connector, event.Thread.Key = state.Approval.Connector, state.Approval.ThreadKey
	case state.Handoff != nil:
		event.Text = state.Handoff.Reason
	}
	return event
}
