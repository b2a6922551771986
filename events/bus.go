package events

import (
	"context"
	"sync"

	"github.com/countersignhq/countersign/gateway"
)

// Lost is the kind of the event that a reader gets in place of those it was too slow for.
const Lost = "lost"

// Buffer is how many events wait for a slow reader.
const Buffer = 64

// Bus hands each published event to every subscriber. It is safe for concurrent use.
type Bus struct {
	buffer int

	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
}

var _ gateway.Events = (*Bus)(nil)

type subscriber struct {
	feed chan gateway.Event
	// lost tells that events were dropped which the reader has not been told of.
	lost bool
}

// New returns a Bus.
func New() *Bus {
	return &Bus{buffer: Buffer, subscribers: make(map[*subscriber]struct{})}
}

// Publish hands an event to every subscriber and never waits for one.
func (b *Bus) Publish(event gateway.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subscribers {
		s.send(event)
	}
}

// Subscribe returns a feed that is closed once ctx has ended. A reader that falls more
// than Buffer events behind loses events, and gets one of kind Lost in their place.
func (b *Bus) Subscribe(ctx context.Context) <-chan gateway.Event {
	s := &subscriber{feed: make(chan gateway.Event, b.buffer)}
	b.mu.Lock()
	b.subscribers[s] = struct{}{}
	b.mu.Unlock()
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subscribers, s)
		close(s.feed)
	})
	return s.feed
}

// Listeners returns how many are subscribed.
func (b *Bus) Listeners() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.subscribers)
}

func (s *subscriber) send(event gateway.Event) {
	switch {
	case len(s.feed) < cap(s.feed)-1:
		s.lost = false
		s.feed <- event
	case !s.lost: // the last free place is for Lost, so that it comes before anything later
		s.lost = true
		s.feed <- gateway.Event{Kind: Lost, At: event.At}
	}
}
