package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/countersignhq/countersign/chat"
)

// Outbound opens files of the attachments disk.
type Outbound interface {
	// Open reads what chat.File.Path names; fs.ErrNotExist if it is gone.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
}

// Store keeps files until the client has them. Its owner is always chat.Terminal.
type Store interface {
	Save(ctx context.Context, owner, uuid, name string, content io.Reader) error
}

// Params are the parts of a Sender; both are required.
type Params struct {
	Outbound Outbound
	Store    Store
}

// Sender is the terminal's chat.Sender.
type Sender struct{ Params }

var _ chat.Sender = (*Sender)(nil)

var errMute = errors.New("nobody can be asked in the terminal; COUNTERSIGN_UNSUPPORTED says what happens to calls that would ask")

// New returns a Sender.
func New(params Params) *Sender { return &Sender{params} }

// Traits of the terminal: it cannot ask.
func (*Sender) Traits() chat.Traits {
	return chat.Traits{Name: chat.Terminal, DeletesOutbound: true}
}

// Post fails for good: the terminal waits for an answer, not for a question.
func (*Sender) Post(context.Context, chat.Card) (chat.Receipt, error) {
	return chat.Receipt{}, &chat.Error{Op: "terminal post", Err: errMute}
}

// Edit does nothing: there is no question to rewrite.
func (*Sender) Edit(context.Context, chat.Receipt, chat.Card) error { return nil }

// Reply keeps the files; the text is in the turn's result.
func (s *Sender) Reply(ctx context.Context, reply chat.Reply, progress chat.Progress) error {
	for _, file := range reply.Files {
		part := "file:" + file.Name
		if file.Path == "" || progress.Done(part) {
			continue
		}
		if err := s.keep(ctx, reply.UUID, file); err != nil {
			return &chat.Error{Op: "terminal reply", Temporary: !errors.Is(err, fs.ErrNotExist), Err: err}
		}
		progress.Mark(part)
	}
	return nil
}

func (s *Sender) keep(ctx context.Context, uuid string, file chat.File) error {
	content, err := s.Outbound.Open(ctx, file.Path)
	if err != nil {
		return fmt.Errorf("read the outgoing file %q: %w", file.Name, err)
	}
	defer content.Close()
	return s.Store.Save(ctx, chat.Terminal, uuid, file.Name, content)
}
