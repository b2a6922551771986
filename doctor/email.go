package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/connectors/email"
)

// EmailBox is what is asked; *email.Connector is one.
type EmailBox interface {
	CheckMailbox(ctx context.Context) (email.Mailbox, error)
	CheckOutbox(ctx context.Context) (email.Outbox, error)
	CheckNames(ctx context.Context) error
}

// Email is the mailbox and the way out.
type Email struct {
	Config *config.Config
	// Box is nil where it could not be made; then Err says why.
	Box EmailBox
	Err error
}

// Check notes whether mail can be read, sent and proven. Nothing is sent.
func (e Email) Check(ctx context.Context, n *Notes) {
	if !n.usable("email", "LARACLAW_IMAP_HOST", e.Config.Email.Enabled, e.Config.Email.IMAP.Host != "", e.Err) {
		return
	}
	e.imap(ctx, n)
	e.smtp(ctx, n)
	e.from(n)
	e.senders(ctx, n)
	e.people(n)
}

func (e Email) imap(ctx context.Context, n *Notes) {
	server := e.Config.Email.IMAP
	found, err := e.Box.CheckMailbox(ctx)
	if err != nil {
		mend := "set LARACLAW_IMAP_MAILBOX to one that is there"
		if len(found.Others) > 0 {
			mend += ": " + list(found.Others)
		}
		e.step(n, "imap", err, fmt.Sprintf("%s:%d", server.Host, server.Port), "LARACLAW_IMAP", mend)
		return
	}
	n.OK("imap", "%s at %s:%d is open", server.Mailbox, server.Host, server.Port)
	if found.Idle {
		n.OK("idle", "the server says when a mail has come")
	} else {
		n.Warn("idle", "use a server with IDLE, or be patient", "the server has no IDLE: the mailbox is looked at every three minutes, longer than a question waits")
	}
	if server.Encryption == "none" {
		n.Warn("imap", "set LARACLAW_IMAP_ENCRYPTION to ssl or tls, unless the server is on this machine", "the password travels openly")
	}
}

func (e Email) smtp(ctx context.Context, n *Notes) {
	server := e.Config.Email.SMTP
	found, err := e.Box.CheckOutbox(ctx)
	switch {
	case err != nil:
		e.step(n, "smtp", err, fmt.Sprintf("%s:%d", server.Host, server.Port), "LARACLAW_SMTP", "")
		return
	case found.Open:
		n.OK("smtp", "%s:%d takes mail without a password", server.Host, server.Port)
	default:
		n.OK("smtp", "signed in at %s:%d", server.Host, server.Port)
	}
	if server.Encryption == "none" && server.Username != "" {
		n.Warn("smtp", "set LARACLAW_SMTP_ENCRYPTION to ssl or tls, unless the server is on this machine", "the password travels openly")
	}
}

// step tells what belongs to the step at which it ended.
func (e Email) step(n *Notes, check string, err error, where, prefix, opening string) {
	mend, detail := "look into the server's log", words(err)
	if failed, ok := errors.AsType[*email.StepError](err); ok {
		switch failed.Step {
		case email.StepConnect:
			mend = "check " + prefix + "_HOST and " + prefix + "_PORT, and that no firewall is between"
		case email.StepEncrypt:
			mend = "check " + prefix + "_ENCRYPTION against the port: ssl (IMAP 993, SMTP 465), tls for STARTTLS (143, 587), " +
				"none only on this machine; and that the certificate is for that name"
		case email.StepGreet:
			mend = "check " + prefix + "_PORT and " + prefix + "_ENCRYPTION: what answers there does not speak the protocol, or is not for us"
		case email.StepSignIn:
			mend = "check " + prefix + "_USERNAME and " + prefix + "_PASSWORD; many providers want an app password here"
		case email.StepOpen:
			mend = opening
		}
	}
	n.Fail(check, mend, "%s: %s", where, detail)
}

func (e Email) from(n *Notes) {
	from := strings.ToLower(e.Config.Email.SMTP.FromAddress)
	for _, person := range e.Config.People {
		if slices.Contains(person.Email, from) {
			n.Fail("from", "give the bot a mailbox of its own, or take the address from "+person.Name,
				"%s is also %s's: what comes from there is taken for the bot's own and never answers", from, person.Name)
			return
		}
	}
	n.OK("from", "%s", from)
}

func (e Email) senders(ctx context.Context, n *Notes) {
	if !e.Config.Email.VerifySender {
		n.Warn("senders", "set LARACLAW_EMAIL_VERIFY_SENDER_DKIM_AND_SPF to true", "are believed without proof: who knows a person's address can answer as them")
		return
	}
	if err := e.Box.CheckNames(ctx); err != nil {
		n.Fail("dns", "let this machine reach a DNS server: DKIM and SPF stand there, and without them every mail waits", "%s", words(err))
	} else {
		n.OK("dns", "answers")
	}
	if border := e.Config.Email.TrustedBorder; border != "" {
		n.OK("senders", "proven by DKIM, or by what %s says", border)
	} else {
		n.Warn("senders", "to let SPF and your mail server's own word count, set email.trusted_border to the name with which it signs Authentication-Results",
			"only DKIM proves a sender: mail that is not signed is dropped")
	}
}

func (e Email) people(n *Notes) {
	known := 0
	for _, person := range e.Config.People {
		if len(person.Email) > 0 {
			known++
		}
	}
	if known == 0 {
		n.Warn("people", "write addresses under people", "nobody has an address: all mail is dropped")
		return
	}
	n.OK("people", "%d with an address", known)
}

var _ EmailBox = (*email.Connector)(nil)
