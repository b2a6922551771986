package email

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/countersignhq/countersign/connectors/email/letter"
)

// Receive takes one mail once, as the listener does with each that it finds.
func (c *Connector) Receive(ctx context.Context, raw string, at time.Time) (reason string, err error) {
	header, _, err := letter.Open(strings.NewReader(raw))
	if err != nil {
		return "", err
	}
	return c.ReceiveStream(ctx, header, at, func(context.Context) io.Reader { return strings.NewReader(raw) })
}

// ReceiveStream is Receive for a mail that is no string.
func (c *Connector) ReceiveStream(
	ctx context.Context, header letter.Header, at time.Time, whole func(context.Context) io.Reader,
) (reason string, err error) {
	m, reason, err := c.understand(ctx, incoming{header: header, whole: whole, at: at}, false)
	if err != nil || reason != "" {
		return reason, err
	}
	return "", c.deliver(ctx, m)
}

// Hurry shortens the waits.
func (c *Connector) Hurry(poll time.Duration) {
	c.timing.poll, c.timing.backoff, c.timing.maxWait = poll, 10*time.Millisecond, 50*time.Millisecond
	c.timing.command, c.timing.heartbeat, c.timing.patience = 2*time.Second, 20*time.Millisecond, 300*time.Millisecond
}

// ReceivedAt is receivedAt.
func ReceivedAt(date, now time.Time) time.Time { return receivedAt(date, now) }

// Token is token.
func (c *Connector) Token(invocation, recipient string) string { return c.token(invocation, recipient) }
