package email

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/wire"
)

// retryAfter is how long a server that answers 4xx is left alone. SMTP announces no
// time; RFC 5321 §4.5.4.1 thinks in half hours, but somebody waits for the mail.
const retryAfter = 15 * time.Second

// failure is an error that the mail server itself answered with.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

// smtpError classifies an error; the only place that does. Only the server's own
// 5xx is final. A broken connection, something that is no SMTP or silence says
// nothing about the mail and is worth another try.
func (c *Connector) smtpError(ctx context.Context, err error) error {
	out := &chat.Error{Op: "smtp send", Temporary: true}
	var classified *chat.Error
	if errors.As(err, &classified) {
		return classified
	}
	code := smtpCode(err)
	switch {
	case code == 0 && ctx.Err() != nil:
		out.Err = ctx.Err()
	case code == 0:
		out.Err = c.clean(err)
	default:
		out.Temporary = code < 500
		if out.Temporary {
			out.RetryAfter = retryAfter
		}
		out.Err = &failure{code: code, text: c.words(err)}
	}
	return out
}

func smtpCode(err error) int {
	var said *smtp.SMTPError
	if errors.As(err, &said) && said.Code >= 400 && said.Code < 600 {
		return said.Code
	}
	return 0
}

// words is what the server said to what.
func (c *Connector) words(err error) string {
	var said *smtp.SMTPError
	if !errors.As(err, &said) {
		return ""
	}
	text := strconv.Itoa(said.Code) + " "
	if e := said.EnhancedCode; e[0] > 0 {
		text += fmt.Sprintf("%d.%d.%d ", e[0], e[1], e[2])
	}
	text += strings.Join(strings.Fields(said.Message), " ")
	if step, _, found := strings.Cut(err.Error(), ": "); found && step != err.Error() && len(step) < 30 {
		text = step + ": " + text
	}
	return ownID.ReplaceAllString(c.scrubbed(text), "<id@")
}

// clean words an error without secrets; what it is of ours stays recognisable.
func (c *Connector) clean(err error) error {
	if err == nil {
		return nil
	}
	var classified *chat.Error
	if errors.As(err, &classified) {
		return err // was cleaned where it arose
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errors.New(ownID.ReplaceAllString(c.scrubbed(err.Error()), "<id@"))
}

func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// tooLarge is the server's word that it takes no mail of that size (RFC 1870 §6.1).
func tooLarge(err error) bool {
	f := asFailure(err)
	return f != nil && (f.code == 552 || strings.Contains(f.text, "5.3.4") || strings.Contains(f.text, "5.2.3"))
}

// scrubbed is a text without secrets, also those that are only good for an hour.
func (c *Connector) scrubbed(text string) string {
	return wire.Scrubber(c.bearer.secrets()...).Replace(c.scrub.Replace(text))
}

// secretsOf are the forms in which a server's password travels and may come back.
func secretsOf(s Server) []string {
	if s.Password == "" {
		return nil
	}
	return []string{
		base64.StdEncoding.EncodeToString([]byte("\x00" + s.Username + "\x00" + s.Password)), // AUTH PLAIN
		base64.StdEncoding.EncodeToString([]byte(s.Password)),                                // AUTH LOGIN
		s.Password,
	}
}
