package email

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersignhq/countersign/approval"
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

// understand turns a mail into a message. The reason says why nobody needs to
// hear of it; then it is passed over. giveUp goes on without what cannot be had.
func (c *Connector) understand(ctx context.Context, in incoming, giveUp bool) (message chat.Message, reason string, err error) {
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
	message.Forwarded = c.passedOn(in.header, message.ReplyTo, proof)
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

// isAnswer: only what the rule takes for one, or what carries a question's token.
func isAnswer(m chat.Message) bool {
	kind := approval.Read(m.Text).Kind
	return kind == approval.Yes || kind == approval.Always || tokenForm.MatchString(m.ReplyTo)
}

// passedOn tells that a mail was not written to us as it is: somebody else may
// have sent on what a person once wrote, and its signature is still good. It is
// heard, but answers nothing.
func (c *Connector) passedOn(h letter.Header, replyTo string, proof auth.Proof) bool {
	for _, field := range []string{"Resent-From", "Resent-Sender", "Resent-To", "Resent-Date"} {
		if h.Has(field) {
			return true
		}
	}
	if tokenForm.MatchString(replyTo) {
		return false // nobody else has it
	}
	for _, field := range []string{"To", "Cc"} {
		list, _ := h.Mailboxes(field)
		if proof.Covers(field) && slices.ContainsFunc(list, func(a string) bool { return c.self.is(splitAddress(a)) }) {
			return false
		}
	}
	return true
}

// eventID is the same for every copy of a mail: its Message-ID and our mailbox.
// Empty where there is none.
func (c *Connector) eventID(h letter.Header) string {
	id := strings.Trim(messageID(h), "<>")
	if id == "" {
		return ""
	}
	return chat.Email + ":" + c.self.String() + ":" + id
}

// contentID stands in for a Message-ID: what the mail says, without the traces of its way.
func (c *Connector) contentID(mail *spool, m chat.Message) (string, error) {
	whole, err := mail.open()
	if err != nil {
		return "", &laterError{err}
	}
	header, _, err := letter.Open(whole)
	if err != nil && !errors.Is(err, letter.ErrCut) {
		return "", &laterError{err}
	}
	sum := sha256.New()
	write := func(s string) { fmt.Fprintf(sum, "%d:%s", len(s), s) }
	write(m.Thread.Key)
	for _, field := range []string{"Date", "Subject", "To", "In-Reply-To"} {
		write(header.First(field))
	}
	read, err := c.read(mail, func(name string, content io.Reader) (chat.File, error) {
		file := sha256.New()
		size, err := io.Copy(file, content)
		return chat.File{Name: name, Size: size, SHA256: hex.EncodeToString(file.Sum(nil))}, err
	})
	if err != nil {
		return "", err
	}
	write(read.Text)
	for _, f := range read.Files {
		write(f.SHA256)
		write(f.Problem)
	}
	return chat.Email + ":" + c.self.String() + ":sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

func takenKey(m chat.Message) string { return m.Thread.Key + " " + m.EventID }
