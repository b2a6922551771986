package email_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

func TestExam(t *testing.T) {
	t.Parallel()
	connectortest.Run(t, connectortest.Subject{
		Name: chat.Email,
		Lacks: map[connectortest.Part]string{
			connectortest.Editing:  "a mail that was sent cannot be changed; a short one follows it: TestNotice",
			connectortest.Edits:    "nor can anybody else change one",
			connectortest.Pressing: "a mail has no buttons, and a link is opened by programs: TestA28NoLinks",
			connectortest.Proof:    "a forged mail lies in the same mailbox and is passed over, not refused: TestA23Spoofed",
		},
		Setup: func(t testing.TB, desk *connectortest.Desk) *connectortest.Candidate {
			b := benchFor(t, desk)
			return &connectortest.Candidate{
				Sender: b.Connector, Thread: thread(ada), Secrets: b.secrets(), Log: b.log.String,
				Break: func(f connectortest.Fault) { b.sink.Break(faultOf(t, f)) },
				Close: func() { b.sink.Gone(ada) },
				Shown: func() []connectortest.Shown { return b.shown(t) },
				File:  func(name string, content []byte) chat.File { return b.put(t, name, content) },
				Send:  func(ctx context.Context, e connectortest.Event) bool { return b.send(ctx, t, e) },
			}
		},
	})
}

// faultOf is what becomes of HTTP's faults in SMTP.
func faultOf(t testing.TB, f connectortest.Fault) emailtest.Fault {
	t.Helper()
	switch f.Kind {
	case connectortest.Refused:
		return emailtest.Fault{Refuse: true}
	case connectortest.Lost:
		return emailtest.Fault{Lose: true}
	case connectortest.Cut:
		return emailtest.Fault{Cut: true}
	case connectortest.Stalled:
		return emailtest.Fault{Stall: true}
	case connectortest.RateLimited:
		return emailtest.Fault{At: "rcpt", Reply: &smtp.SMTPError{
			Code: 450, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted, come back later",
		}}
	case connectortest.Answer: // a proxy in place of the mail server
		return emailtest.Fault{Greeting: fmt.Sprintf("HTTP/1.1 %d Status\r\nContent-Type: %s\r\n\r\n%s", f.Status, f.Type, f.Body)}
	default:
		require.Fail(t, "this fault is not known here", "%+v", f)
		return emailtest.Fault{}
	}
}

func (b *bench) shown(t testing.TB) []connectortest.Shown {
	var shown []connectortest.Shown
	for _, m := range b.sent(t) {
		shown = append(append(shown, connectortest.Shown{Text: m.text}), m.files...)
	}
	return shown
}

func (b *bench) send(ctx context.Context, t testing.TB, e connectortest.Event) bool {
	header := id(e.Number)
	switch e.Kind {
	case connectortest.Said:
	case connectortest.SaidByBot:
		header += "Auto-Submitted: auto-replied\n"
	case connectortest.SaidByStranger:
		header += "From: ada@example.test <eve@example.test>\n"
	default:
		require.Fail(t, "this event is not known here", "%+v", e)
	}
	_, err := b.Receive(ctx, b.dkim.Sign(t, from(header, e.Text)), time.Now())
	return err == nil
}
