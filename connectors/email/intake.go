package email

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/google/uuid"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/auth"
	"github.com/countersignhq/countersign/connectors/email/letter"
)

// incoming is a mail that was found in the mailbox.
type incoming struct {
	header letter.Header
	// whole opens the mail from its first byte.
	whole func(ctx context.Context) io.Reader
	at    time.Time
}

// laterError is a mail that cannot be read now: DNS or a disk is away.
type laterError struct{ err error }

func (e *laterError) Error() string { return e.err.Error() }
func (e *laterError) Unwrap() error { return e.err }

func isLater(err error) bool {
	var later *laterError
	return errors.As(err, &later)
}

// understand turns a mail into a message. The reason says why nobody needs to
// hear of it; then it is passed over. giveUp goes on without what cannot be had.
func (c *Connector) understand(ctx context.Context, in incoming, giveUp bool) (message chat.Message, reason string, err error) {
	if mayBounce(in.header) {
		switch reason, err = c.bounced(ctx, in); {
		case giveUp && isLater(err):
			return chat.Message{}, err.Error(), nil
		case err != nil || reason != "":
			return chat.Message{}, reason, err
		}
	}
	from, reason := sender(in.header)
	if reason != "" {
		return chat.Message{}, reason, nil
	}
	id := chat.Email + ":" + from.String()
	person := c.identify(id)
	if person.Name == "" {
		return chat.Message{}, "an unknown sender", nil
	}
	person.ID, person.Display = id, from.String()
	origin := c.origin(in.header, from)
	if origin.automatic != "" {
		return chat.Message{}, "automatic: " + origin.automatic, nil
	}
	message = chat.Message{
		EventID: c.eventID(in.header), From: person, ReceivedAt: in.at,
		Thread:  chat.Thread{Connector: chat.Email, Key: from.String()},
		ReplyTo: c.replyTo(in.header), Ref: reference(in.header),
	}
	if message.EventID != "" && c.taken.has(takenKey(message)) {
		return chat.Message{}, aCopy, nil
	}
	mail, proof, err := c.fetch(ctx, in, from.String())
	if err != nil {
		if errors.Is(err, auth.ErrUnproven) || errors.Is(err, auth.ErrLater) && giveUp {
			return chat.Message{}, err.Error(), nil
		}
		return chat.Message{}, "", err
	}
	defer mail.close()
	if message.EventID == "" {
		if message.EventID, err = c.contentID(mail, message); err != nil {
			return chat.Message{}, "", err
		}
		if c.taken.has(takenKey(message)) {
			return chat.Message{}, aCopy, nil
		}
	}
	message.UUID = uuid.NewSHA1(c.space, []byte(takenKey(message))).String()
	read, err := c.read(mail, c.store(ctx, message.UUID, giveUp))
	if err != nil {
		return chat.Message{}, "", err
	}
	message.Text, message.Files = read.Text, read.Files
	if origin.bulk && !isAnswer(message) {
		return chat.Message{}, "bulk mail that is no answer", nil
	}
	message.Forwarded = c.passedOn(in.header, message.ReplyTo, proof, in.at)
	if tokenForm.MatchString(message.ReplyTo) && isBuried(message.Text) {
		c.buried.add(message.ReplyTo)
	}
	return message, "", nil
}

const aCopy = "a copy of a mail that was taken"

// sender is the one mailbox that From names; its display name says nothing.
func sender(h letter.Header) (from address, reason string) {
	switch list, ok := h.Mailboxes("From"); {
	case !ok, len(list) == 0:
		return address{}, "a From that cannot be read"
	case len(list) > 1:
		return address{}, "more than one From"
	default:
		if from = splitAddress(list[0]); from.local == "" || from.domain == "" {
			return address{}, "a From that cannot be read"
		}
		return from, ""
	}
}

// fetch brings the mail onto this machine and checks who sent it on the way.
func (c *Connector) fetch(ctx context.Context, in incoming, from string) (*spool, auth.Proof, error) {
	mail, err := newSpool(c.spoolDir, c.maxMail)
	if err != nil {
		return nil, auth.Proof{}, &laterError{err}
	}
	server := &remembering{r: in.whole(ctx)}
	source := io.TeeReader(server, mail)
	var proof auth.Proof
	if !c.trustFrom {
		proof, err = c.checker.Check(ctx, in.header, source, from)
	}
	if server.err != nil {
		err = server.err // a broken connection proves nothing, and disproves nothing
	}
	if err == nil {
		_, err = io.Copy(io.Discard, source)
	}
	if err == nil {
		err = mail.err
	}
	switch {
	case err == nil:
		return mail, proof, nil
	case errors.Is(err, auth.ErrLater), mail.err != nil:
		err = &laterError{err}
	}
	mail.close()
	return nil, auth.Proof{}, err
}

// remembering keeps the error of a reader that others may swallow.
type remembering struct {
	r   io.Reader
	err error
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// read reads text and files.
func (c *Connector) read(mail *spool, sink letter.Sink) (letter.Letter, error) {
	whole, err := mail.open()
	if err != nil {
		return letter.Letter{}, &laterError{err}
	}
	header, body, err := letter.Open(whole)
	if err != nil && !errors.Is(err, letter.ErrCut) {
		return letter.Letter{}, &laterError{err}
	}
	read, err := letter.Read(header, body, c.limits, sink)
	if err != nil {
		return letter.Letter{}, &laterError{fmt.Errorf("reading a mail: %w", err)}
	}
	return read, nil
}

// store keeps files under the message's UUID. The UUID is the same when the mail
// comes again: a file that is there already is not stored twice. One that the disk
// does not take now is waited for; with giveUp it is named without its content.
func (c *Connector) store(ctx context.Context, id string, giveUp bool) letter.Sink {
	seen := map[string]bool{}
	save := func(name string, content io.Reader) (chat.File, error) {
		if !seen[name] {
			seen[name] = true
			if stored, err := c.files.Saved(ctx, id, name); !errors.Is(err, fs.ErrNotExist) {
				return stored, err
			}
		}
		return c.files.Save(ctx, id, name, content)
	}
	return func(name string, content io.Reader) (chat.File, error) {
		source := &remembering{r: content}
		stored, err := save(name, source)
		if err != nil && source.err == nil && giveUp && ctx.Err() == nil {
			c.log.Warn("a file of a mail could not be stored", "error", err)
			_, _ = io.Copy(io.Discard, content)
			return chat.File{Name: name, Problem: "it could not be stored; send it again"}, nil
		}
		return stored, err
	}
}
