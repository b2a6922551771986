package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/gateway"
)

// Outbound opens files of the attachments disk.
type Outbound interface {
	// Open reads what chat.File.Path names; fs.ErrNotExist if it is gone.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
}

// Kept holds the files of replies for the page; package gateway/delivered implements it.
type Kept interface {
	Save(ctx context.Context, owner, uuid, name string, content io.Reader) error
	Open(ctx context.Context, owner, uuid, name string) (content io.ReadCloser, size int64, err error)
}

// SenderParams are the parts of a Sender. Store, Outbound and Kept are required.
type SenderParams struct {
	Store    Store
	Outbound Outbound
	Kept     Kept
	// Publish tells open pages; nil where they run in another process and look for themselves.
	Publish func(gateway.Event)
	Now     func() time.Time
}

// Sender is the page's chat.Sender.
type Sender struct{ SenderParams }

var _ chat.Sender = (*Sender)(nil)

// NewSender returns a Sender.
func NewSender(params SenderParams) *Sender {
	if params.Publish == nil {
		params.Publish = func(gateway.Event) {}
	}
	if params.Now == nil {
		params.Now = time.Now
	}
	return &Sender{params}
}

// Traits of the page: it asks.
func (*Sender) Traits() chat.Traits {
	return chat.Traits{Name: chat.Web, Asks: true, DeletesOutbound: true}
}

// Post writes a question into the feed. Posted again, it takes the older one's place.
func (s *Sender) Post(ctx context.Context, card chat.Card) (chat.Receipt, error) {
	ref, err := s.Store.Append(ctx, card.Thread.Key, Entry{
		ID: "ask:" + card.Invocation, Kind: Asked, At: s.Now().UTC(), Text: card.Text, Card: &card,
	})
	if err != nil {
		return chat.Receipt{}, failure("post", err)
	}
	s.publish("asked", card.Thread, card.Invocation, card.Text)
	return chat.Receipt{Ref: ref}, nil
}

// Edit rewrites a question in the feed.
func (s *Sender) Edit(ctx context.Context, receipt chat.Receipt, card chat.Card) error {
	err := s.Store.Amend(ctx, receipt.Ref, func(entry *Entry) { entry.Card, entry.Text = &card, card.Text })
	if errors.Is(err, fs.ErrNotExist) {
		return nil // as with a message that somebody deleted
	}
	if err != nil {
		return failure("edit", err)
	}
	s.publish("edited", card.Thread, card.Invocation, card.Closed)
	return nil
}

// Reply keeps the files and writes the text into the feed.
func (s *Sender) Reply(ctx context.Context, reply chat.Reply, progress chat.Progress) error {
	for _, file := range reply.Files {
		part := "file:" + file.Name
		if file.Path == "" || progress.Done(part) {
			continue
		}
		if err := s.keep(ctx, reply, file); err != nil {
			return failure("reply", err)
		}
		progress.Mark(part)
	}
	// One entry holds text and files; written again, it takes the older one's place.
	part := fmt.Sprintf("text with %d files", len(reply.Files))
	if progress.Done(part) {
		return nil
	}
	_, err := s.Store.Append(ctx, reply.Thread.Key, Entry{
		ID: "reply:" + reply.UUID, Kind: Reply, At: s.Now().UTC(), Text: reply.Text, UUID: reply.UUID, Files: reply.Files,
	})
	if err != nil {
		return failure("reply", err)
	}
	progress.Mark(part)
	s.publish("reply", reply.Thread, "", reply.Text)
	return nil
}

func (s *Sender) keep(ctx context.Context, reply chat.Reply, file chat.File) error {
	content, err := s.Outbound.Open(ctx, file.Path)
	if err != nil {
		return fmt.Errorf("read the outgoing file %q: %w", file.Name, err)
	}
	defer content.Close()
	return s.Kept.Save(ctx, reply.Thread.String(), reply.UUID, file.Name, content)
}

func (s *Sender) publish(kind string, thread chat.Thread, invocation, text string) {
	s.Publish(gateway.Event{Kind: kind, Thread: thread, Invocation: invocation, Text: text, At: s.Now().UTC()})
}

// failure classifies: a disk may come back, a file that is gone does not. A Store may have
// classified already.
func failure(op string, err error) error {
	var classified *chat.Error
	if errors.As(err, &classified) {
		return classified
	}
	return &chat.Error{Op: "web " + op, Temporary: !errors.Is(err, fs.ErrNotExist), Err: err}
}
