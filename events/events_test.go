package events

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

func TestEverySubscriberGetsEveryEvent(t *testing.T) {
	t.Parallel()
	bus := New()
	a, b := bus.Subscribe(t.Context()), bus.Subscribe(t.Context())
	for _, id := range []string{"1", "2"} {
		bus.Publish(gateway.Event{Kind: Asked, Invocation: id})
	}
	for _, feed := range []<-chan gateway.Event{a, b} {
		require.Equal(t, "1", (<-feed).Invocation)
		require.Equal(t, "2", (<-feed).Invocation)
	}
}

func TestFeedEndsWithItsContext(t *testing.T) {
	t.Parallel()
	bus := New()
	ctx, cancel := context.WithCancel(t.Context())
	feed := bus.Subscribe(ctx)
	cancel()
	_, open := <-feed
	require.False(t, open)
	require.Zero(t, bus.Listeners())
	bus.Publish(gateway.Event{Kind: Asked}) // to nobody
}

func TestSlowReaderIsTold(t *testing.T) {
	t.Parallel()
	bus := New()
	bus.buffer = 3
	feed := bus.Subscribe(t.Context())
	for _, id := range []string{"1", "2", "3", "4"} {
		bus.Publish(gateway.Event{Kind: Asked, Invocation: id})
	}
	require.Equal(t, "1", (<-feed).Invocation)
	require.Equal(t, "2", (<-feed).Invocation)
	require.Equal(t, Lost, (<-feed).Kind)
	bus.Publish(gateway.Event{Kind: Asked, Invocation: "5"})
	require.Equal(t, "5", (<-feed).Invocation)
}

func TestWatch(t *testing.T) {
	t.Parallel()
	ask := func(id string) contract.State {
		return contract.State{
			Result: contract.Result{ID: id, Approval: &contract.Approval{Prompt: "⚠️ " + id, Connector: chat.Web, ThreadKey: "w"}},
			Thread: chat.Thread{Connector: chat.API, Key: "k"},
		}
	}
	bus := New()
	lists := make(chan []contract.State)
	go func() {
		err := bus.Watch(t.Context(), func(ctx context.Context) ([]contract.State, error) {
			select {
			case list := <-lists:
				if list == nil {
					return nil, errors.New("temporal is away")
				}
				return list, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}, time.Millisecond)
		if !errors.Is(err, context.Canceled) {
			panic(err)
		}
	}()
	feed := bus.Subscribe(t.Context())
	lists <- []contract.State{ask("old")} // what is open already is not news
	lists <- []contract.State{ask("old"), ask("new")}
	event := <-feed
	require.Equal(t, Asked, event.Kind)
	require.Equal(t, "new", event.Invocation)
	require.Equal(t, "⚠️ new", event.Text)
	require.Equal(t, chat.Thread{Connector: chat.Web, Key: "w"}, event.Thread)
	lists <- nil // an error closes nothing
	lists <- []contract.State{ask("new")}
	event = <-feed
	require.Equal(t, Closed, event.Kind)
	require.Equal(t, "old", event.Invocation)
}
