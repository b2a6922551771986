package api

import (
	"context"
	"errors"

	"github.com/countersignhq/countersign/chat"
)

// Sender is the API's chat.Sender; its zero value is ready.
type Sender struct{}

var _ chat.Sender = Sender{}

var errMute = errors.New("nobody can be asked through the API; COUNTERSIGN_UNSUPPORTED says what happens to calls that would ask")

// Traits of the API: it cannot ask, and leaves outgoing files to the client.
func (Sender) Traits() chat.Traits { return chat.Traits{Name: chat.API} }

// Post fails for good: nobody is there to read it.
func (Sender) Post(context.Context, chat.Card) (chat.Receipt, error) {
	return chat.Receipt{}, &chat.Error{Op: "api post", Err: errMute}
}

// Edit does nothing: there is no question to rewrite.
func (Sender) Edit(context.Context, chat.Receipt, chat.Card) error { return nil }

// Reply does nothing: the request that waits takes the answer from the turn's result.
func (Sender) Reply(context.Context, chat.Reply, chat.Progress) error { return nil }
