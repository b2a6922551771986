package gateway

import (
	"context"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// Errors of Engine, by which handlers choose a status.
var (
	// ErrNotFound: there is no such invocation.
	ErrNotFound = contract.ErrNotFound
	// ErrNoEngine: no worker answered in time; what was sent is kept.
	ErrNoEngine = contract.ErrNoEngine
)

// Engine is what the gateway asks of Temporal; package dispatch implements it.
// chat.ErrUnreachable means that Temporal is away.
type Engine interface {
	chat.Desk

	// Start starts an invocation and returns its id. The same id again returns the first one.
	Start(ctx context.Context, invocation contract.Invocation) (id string, err error)
	// State returns how an invocation stands; with wait > 0 it waits that long for its end.
	State(ctx context.Context, id string, wait time.Duration) (contract.State, error)
	// Invocations lists the newest first, from visibility.
	Invocations(ctx context.Context, limit int) ([]contract.State, error)
	// Decide hands in a decision about a question or a handoff and returns what became of it.
	Decide(ctx context.Context, id string, answer contract.Answer) (chat.Verdict, error)
	// Pending lists what is open now, oldest first, without visibility lag.
	Pending(ctx context.Context) ([]contract.State, error)
	// Grants lists the standing answers of all conversations, or of one.
	Grants(ctx context.Context, thread *chat.Thread) ([]ListedGrant, error)
	// Revoke ends a grant. ErrNotFound if there is none.
	Revoke(ctx context.Context, id, by string) error
	// Turn waits until the turn that answers the message with this uuid has ended.
	Turn(ctx context.Context, uuid string) (contract.TurnResult, error)
	// Healthy tells whether Temporal answers.
	Healthy(ctx context.Context) error
}

// ListedGrant is a grant and the conversation it belongs to.
type ListedGrant = contract.ListedGrant

// Event is one line of GET /api/events.
type Event struct {
	// Kind is asked, decided, edited or closed; for the web page also reply.
	Kind       string      `json:"kind"`
	Invocation string      `json:"invocation,omitempty"`
	Thread     chat.Thread `json:"thread"`
	Text       string      `json:"text,omitempty"`
	At         time.Time   `json:"at"`
}

// Events is a live feed of what happens; the events package implements it.
type Events interface {
	// Subscribe returns a feed that ends with ctx. A slow reader loses events, and is told by Kind "lost".
	Subscribe(ctx context.Context) <-chan Event
}
