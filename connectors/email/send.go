package email

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/mail"

	"github.com/countersignhq/countersign/chat"
)

var errAddress = errors.New("not a mail address or question of this connector")

// Post sends a question. Its Message-ID is always the same: where the server's
// answer is lost, the retry sends a copy that mail programs join with the first.
func (c *Connector) Post(ctx context.Context, card chat.Card) (chat.Receipt, error) {
	if err := c.recipient(card.Thread); err != nil {
		return chat.Receipt{}, err
	}
	if err := c.deliverMail(ctx, c.question(card)); err != nil {
		return chat.Receipt{}, err
	}
	return chat.Receipt{Ref: c.token(card.Invocation, card.Thread.Key)}, nil
}

// Edit sends one short mail into the question's thread when the question has
// ended: a mail that was sent cannot be changed. While it is open there is nothing to do.
func (c *Connector) Edit(ctx context.Context, receipt chat.Receipt, card chat.Card) error {
	if card.Closed == "" {
		return nil
	}
	if !tokenForm.MatchString(receipt.Ref) {
		return badAddress("a receipt")
	}
	if err := c.recipient(card.Thread); err != nil {
		return err
	}
	return c.deliverMail(ctx, c.notice(receipt.Ref, card))
}

func (c *Connector) deliverMail(ctx context.Context, o outgoing) error {
	limit, size := c.timing.send, int64(len(o.text))*3+4096
	for _, file := range o.files {
		limit = c.timing.sendFiles
		size += file.Size/57*78 + 1024 // base64 in lines of 76
	}
	return c.send(ctx, o.to, size, limit, func(w io.Writer) error { return c.write(ctx, o, w) })
}

// recipient checks that a thread is one of ours: its key is an address.
func (c *Connector) recipient(thread chat.Thread) error {
	parsed, err := mail.ParseAddress(thread.Key)
	if thread.Connector != chat.Email || err != nil || parsed.Address != thread.Key {
		return badAddress(thread.String())
	}
	return nil
}

func badAddress(what string) error {
	return &chat.Error{Op: "smtp send", Err: fmt.Errorf("%w: %.100q", errAddress, what)}
}
