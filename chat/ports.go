package chat

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Traits say what a connector can do (the table of CONTRACT §8).
type Traits struct {
	// Name is one of the connector constants.
	Name string
	// Asks tells whether a person can be asked there.
	Asks bool
	// DeletesOutbound tells whether outbound/{uuid}/ goes once the reply is out.
	DeletesOutbound bool
}

// Sender is the way out: what a connector does for the workflows' activities.
// Errors are of type *Error, classified once, and hold no token.
type Sender interface {
	Traits() Traits
	// Post sends a question; it returns when the platform has answered.
	Post(ctx context.Context, card Card) (Receipt, error)
	// Edit rewrites a question that was posted, e.g. without its buttons.
	// An unchanged or vanished message is not an error.
	Edit(ctx context.Context, receipt Receipt, card Card) error
	// Reply sends a text and files. Parts that progress names as done are not
	// sent again, so that a retry does not repeat the text.
	Reply(ctx context.Context, reply Reply, progress Progress) error
}

// Progress remembers which parts of a reply the platform already has, over retries.
type Progress interface {
	Done(part string) bool
	Mark(part string)
}

// Desk is the way in: what a connector tells when a person does something.
// It is durable: nil means that Temporal has it.
type Desk interface {
	// Deliver hands over a message. ErrUnreachable: let the platform send it again.
	Deliver(ctx context.Context, message Message) error
	// Click hands over a button press and returns what became of it.
	Click(ctx context.Context, click Click) (Verdict, error)
}

// ErrUnreachable means that Temporal did not take it: answer 503, the platform tries again.
var ErrUnreachable = errors.New("temporal cannot be reached; the message was not taken, send it again")

// Error is a connector's failure, classified where it arose.
type Error struct {
	// Op is what was being done: "telegram sendMessage".
	Op string
	// Temporary failures are worth a retry, not before RetryAfter has passed.
	Temporary  bool
	RetryAfter time.Duration
	// Err is the cause, without any secret.
	Err error
}

func (e *Error) Error() string {
	class := "final"
	if e.Temporary {
		class = "temporary"
	}
	return fmt.Sprintf("%s (%s): %v", e.Op, class, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
