package email

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-smtp"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/auth"
)

// Step is where the way to a mail server ends.
type Step string

// The steps, in their order.
const (
	StepConnect Step = "connect" // nobody answers there
	StepEncrypt Step = "encrypt" // TLS or STARTTLS
	StepGreet   Step = "greet"   // what answers is no such server
	StepSignIn  Step = "sign in" // name and password
	StepOpen    Step = "open"    // the mailbox
)

// StepError is a check that did not come to its end.
type StepError struct {
	Step Step
	Err  *chat.Error
}

func (e *StepError) Error() string { return e.Err.Error() }

func (e *StepError) Unwrap() error { return e.Err }

// Mailbox is what the IMAP server says about it.
type Mailbox struct {
	// Idle tells whether the server says by itself that a mail has come (RFC 2177);
	// without it the mailbox is looked at every few minutes.
	Idle bool
	// Others are the mailboxes that there are, where ours is not.
	Others []string
}

// CheckMailbox signs in and opens the mailbox; nothing in it changes. Errors are *StepError.
func (c *Connector) CheckMailbox(ctx context.Context) (Mailbox, error) {
	s := &session{command: c.timing.command, changed: make(chan struct{}, 1)}
	dialer := net.Dialer{Timeout: c.timing.command}
	var err error
	if s.conn, err = dialer.DialContext(ctx, "tcp", net.JoinHostPort(c.imap.Host, strconv.Itoa(c.imap.Port))); err != nil {
		return Mailbox{}, c.imapStep(StepConnect, err)
	}
	defer s.close()
	step := StepEncrypt
	if c.imap.Encryption == NoTLS {
		step = StepGreet
	}
	err = s.within(ctx, func() error { return s.open(c) })
	if err == nil {
		return Mailbox{Idle: s.idle}, nil
	}
	var found Mailbox
	if s.client != nil {
		switch s.client.State() {
		case imap.ConnStateNotAuthenticated:
			step = StepSignIn
		case imap.ConnStateAuthenticated:
			step, found.Idle = StepOpen, s.idle
			found.Others = s.mailboxes(ctx)
		default: // no greeting
		}
	}
	return found, c.imapStep(step, err)
}

func (c *Connector) imapStep(step Step, err error) error {
	classified := &chat.Error{Op: "imap " + string(step), Temporary: true, Err: err}
	_ = errors.As(c.imapError(string(step), err), &classified)
	return &StepError{Step: step, Err: classified}
}

// mailboxes are the names of those that there are, as many as somebody wants to read.
func (s *session) mailboxes(ctx context.Context) (names []string) {
	const most = 20
	_ = s.within(ctx, func() error { // without them the error says enough
		listed, err := s.client.List("", "*", nil).Collect()
		for _, one := range listed {
			if !slices.Contains(one.Attrs, imap.MailboxAttrNoSelect) && len(names) < most {
				names = append(names, one.Mailbox)
			}
		}
		return err
	})
	return names
}

// Outbox is what the SMTP server says about itself.
type Outbox struct {
	// Largest mail that it takes, in bytes; 0 where it does not say.
	Largest int
	// Open tells that it wants no password; that is fine for one on this machine.
	Open bool
}

// CheckOutbox connects to the SMTP server and signs in. No mail is sent. Errors are *StepError.
func (c *Connector) CheckOutbox(ctx context.Context) (Outbox, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.send)
	defer cancel()
	client, conn, err := c.dial(ctx)
	if err != nil {
		step := StepEncrypt
		if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" {
			step = StepConnect
		} else if c.smtp.Encryption == NoTLS {
			step = StepGreet
		}
		return Outbox{}, c.smtpStep(ctx, step, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := c.greet(client); err != nil {
		return Outbox{}, c.smtpStep(ctx, c.greetStep(client, err), err)
	}
	outbox := Outbox{Open: c.smtp.Username == ""}
	outbox.Largest, _ = client.MaxMessageSize()
	_ = client.Quit() // everything was said
	return outbox, nil
}

// greetStep tells where greet ended: a server that has said what it can has been greeted.
func (c *Connector) greetStep(client *smtp.Client, err error) Step {
	_, ours := errors.AsType[*chat.Error](err)
	greeted, _ := client.Extension("AUTH")
	switch {
	case ours, greeted:
		return StepSignIn
	case c.smtp.Encryption == StartTLS: // the library shakes hands with the next command
		return StepEncrypt
	default:
		return StepGreet
	}
}

func (c *Connector) smtpStep(ctx context.Context, step Step, err error) error {
	classified := &chat.Error{Temporary: true, Err: err}
	_ = errors.As(c.smtpError(ctx, err), &classified)
	classified.Op = "smtp " + string(step)
	return &StepError{Step: step, Err: classified}
}

// CheckNames asks DNS about the bot's own domain: without DNS no sender can be proven.
// That a domain has no such record is an answer too. Errors are *chat.Error.
func (c *Connector) CheckNames(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	resolver := c.checker.Resolver
	if resolver == nil {
		resolver = auth.Resolver(net.DefaultResolver)
	}
	_, err := resolver.LookupTXT(ctx, c.self.domain)
	if said, ok := errors.AsType[*net.DNSError](err); err == nil || ok && said.IsNotFound {
		return nil
	}
	return &chat.Error{Op: "dns", Temporary: true, Err: c.clean(fmt.Errorf("looking up %s: %w", c.self.domain, err))}
}
