package email

import (
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/auth"
	"github.com/countersignhq/countersign/connectors/email/letter"
)

// isAnswer: only what the rule takes for one, or what carries a question's token.
func isAnswer(m chat.Message) bool {
	kind := approval.Read(m.Text).Kind
	return kind == approval.Yes || kind == approval.Always || tokenForm.MatchString(m.ReplyTo)
}

// isBuried tells that an answer has a yes, but not where it counts: below a quotation or a
// signature (A02, A04). It is a no; whoever wrote it may want to know why.
func isBuried(text string) bool {
	if approval.Read(text).Kind != approval.Other {
		return false
	}
	for line := range strings.Lines(text) {
		if approval.Read(line).Kind == approval.Yes {
			return true
		}
	}
	return false
}

// oldest is how long ago a mail may have been written that answers what happens to be
// open; servers try for five days (RFC 5321 §4.5.4.1).
const oldest = 7 * 24 * time.Hour

// passedOn tells that a mail was not written to us as it is: somebody else may
// have sent on, or sent once more, what a person once wrote, and its signature is
// still good. It is heard, but answers nothing.
func (c *Connector) passedOn(h letter.Header, replyTo string, proof auth.Proof, at time.Time) bool {
	for _, field := range []string{"Resent-From", "Resent-Sender", "Resent-To", "Resent-Date"} {
		if h.Has(field) {
			return true
		}
	}
	if tokenForm.MatchString(replyTo) {
		return false // nobody else has it, and its question is open only once
	}
	if !proof.Covers("Date") || !proof.Covers("Message-ID") || writtenBefore(h, at.Add(-oldest)) {
		return true
	}
	for _, field := range []string{"To", "Cc"} {
		list, _ := h.Mailboxes(field)
		if proof.Covers(field) && slices.ContainsFunc(list, func(a string) bool { return c.self.is(splitAddress(a)) }) {
			return false
		}
	}
	return true
}

// writtenBefore is also true where a mail does not say when it was written.
func writtenBefore(h letter.Header, limit time.Time) bool {
	written, err := mail.ParseDate(h.First("Date"))
	return err != nil || written.Before(limit)
}
