package email

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/letter"
)

// Bounce is a mail server's word, after it had taken a question, that the question has not
// reached the person.
type Bounce struct {
	// EventID is the same for every copy of the report.
	EventID string
	Thread  chat.Thread
	// Ref is the question's Receipt.Ref: whoever has it has seen the question on its way.
	Ref string
	// Reason is what the server said: "5.1.1 smtp; 550 no such user". It is not to be believed
	// for more than that.
	Reason     string
	ReceivedAt time.Time
}

// maxBounceReason is in characters.
const maxBounceReason = 300

// mayBounce tells whether a mail is worth to be read as a report: servers sign as these
// (RFC 3464 §2, RFC 5321 §4.5.5), or leave the return path empty.
func mayBounce(h letter.Header) bool {
	if !letter.MayReport(h) {
		return false
	}
	from, _ := sender(h)
	kind, _, _ := strings.Cut(h.First("Content-Type"), ";")
	return from.local == "mailer-daemon" || from.local == "postmaster" || nullReturnPath(h) ||
		strings.EqualFold(strings.TrimSpace(kind), "multipart/report")
}

// bounced looks at a report on a mail of ours; the reason is empty where it is none. Nobody
// proves who sent it: the token that it has to carry is what only the mail's recipient and
// the servers on its way have seen.
func (c *Connector) bounced(ctx context.Context, in incoming) (reason string, err error) {
	whole := &remembering{r: in.whole(ctx)}
	_, body, err := letter.Open(whole)
	if err != nil {
		return "", err
	}
	report, err := letter.ReadDelivery(in.header, body)
	if err == nil {
		err = whole.err
	}
	if err != nil {
		return "", err
	}
	ids := idsOf(report.Original, "Message-ID")
	to, ok := report.Original.Mailboxes("To")
	if report.Action == "" || len(ids) != 1 || !ok || len(to) != 1 {
		return "", nil
	}
	b := Bounce{
		EventID: c.eventID(in.header), Thread: chat.Thread{Connector: chat.Email, Key: splitAddress(to[0]).String()},
		Ref: ids[0].token, Reason: c.bounceReason(report), ReceivedAt: in.at,
	}
	if b.EventID == "" {
		b.EventID = chat.Email + ":bounce:" + b.Ref + ":" + report.Action
	}
	log := c.log.With("thread", b.Thread.String(), "action", report.Action, "reason", b.Reason)
	switch {
	case report.Action != "failed":
		log.Warn("a mail of ours is held up on its way")
	case ids[0].kind != "q":
		log.Error("a mail of ours could not be delivered; mend the person's address or mailbox")
	default:
		log.Error("a question could not be delivered; mend the person's address or mailbox")
		if c.onBounce != nil {
			if err := c.onBounce(ctx, b); err != nil {
				return "", &laterError{fmt.Errorf("telling of a bounce: %w", err)}
			}
		}
	}
	return "automatic: a report on a mail of ours", nil
}

func (c *Connector) bounceReason(report letter.Delivery) string {
	said := strings.Join(strings.Fields(report.Status+" "+report.Diagnostic), " ")
	said = ownID.ReplaceAllString(c.scrubbed(strings.ToValidUTF8(said, "\uFFFD")), "<id@")
	if runes := []rune(said); len(runes) > maxBounceReason {
		said = string(runes[:maxBounceReason-1]) + "…"
	}
	return said
}
