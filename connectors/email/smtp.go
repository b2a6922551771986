package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/countersignhq/countersign/chat"
)

// send hands a mail to the server, on a connection of its own. nil: the server
// has said that it has all of it. size is about what the mail has, in bytes.
func (c *Connector) send(ctx context.Context, to string, size int64, limit time.Duration, write func(io.Writer) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client, conn, err := c.dial(ctx)
	if err != nil {
		return c.smtpError(ctx, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := c.greet(client); err != nil {
		return c.smtpError(ctx, err)
	}
	if most, known := client.MaxMessageSize(); known && most > 0 && size > int64(most) {
		return c.smtpError(ctx, &smtp.SMTPError{
			Code: 552, EnhancedCode: smtp.EnhancedCode{5, 3, 4}, Message: fmt.Sprintf("the server takes mails of up to %d bytes", most),
		})
	}
	if err := client.Mail(c.self.String(), nil); err != nil {
		return c.smtpError(ctx, fmt.Errorf("MAIL FROM: %w", err))
	}
	if err := client.Rcpt(to, nil); err != nil {
		return c.smtpError(ctx, fmt.Errorf("RCPT TO: %w", err))
	}
	data, err := client.Data()
	if err != nil {
		return c.smtpError(ctx, fmt.Errorf("DATA: %w", err))
	}
	// A mail that cannot be written to its end is never closed: the connection
	// goes, and the server has nothing.
	if err := write(data); err != nil {
		return c.smtpError(ctx, err)
	}
	if err := data.Close(); err != nil {
		return c.smtpError(ctx, fmt.Errorf("handing the mail over: %w", err))
	}
	_ = client.Quit() // the server has it: what goes wrong now does not matter
	return nil
}

func (c *Connector) dial(ctx context.Context) (*smtp.Client, net.Conn, error) {
	dialer := net.Dialer{Timeout: 30 * time.Second}
	raw, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(c.smtp.Host, strconv.Itoa(c.smtp.Port)))
	if err != nil {
		return nil, nil, err
	}
	conn := &stepwise{Conn: raw, step: c.timing.smtp}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var client *smtp.Client
	switch c.smtp.Encryption {
	case TLS:
		secured := tls.Client(conn, tlsConfig(c.smtp))
		if err = secured.HandshakeContext(ctx); err == nil {
			client = smtp.NewClient(secured)
		}
	case StartTLS:
		client, err = smtp.NewClientStartTLS(conn, tlsConfig(c.smtp))
	default:
		client = smtp.NewClient(conn)
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	return client, conn, nil
}

// greet says hello and signs in. Without encryption the password goes in clear
// text: the operator has asked for that.
func (c *Connector) greet(client *smtp.Client) error {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	if err := client.Hello(name); err != nil {
		return fmt.Errorf("EHLO: %w", err)
	}
	if c.smtp.Username == "" {
		return nil
	}
	if c.smtp.Password == "" {
		return c.greetByToken(client)
	}
	var mechanism sasl.Client
	switch {
	case client.SupportsAuth(sasl.Plain):
		mechanism = sasl.NewPlainClient("", c.smtp.Username, c.smtp.Password)
	case client.SupportsAuth(sasl.Login):
		mechanism = sasl.NewLoginClient(c.smtp.Username, c.smtp.Password)
	default:
		return &chat.Error{Op: "smtp send", Err: errors.New("the server takes neither AUTH PLAIN nor LOGIN; " +
			"leave the username out if it wants no password")}
	}
	if err := client.Auth(mechanism); err != nil {
		return fmt.Errorf("AUTH: %w", err)
	}
	return nil
}

func (c *Connector) greetByToken(client *smtp.Client) error {
	token, err := c.accessToken()
	if err != nil {
		return err
	}
	mechanism := newBearerSASL(c.smtp, token, client.SupportsAuth)
	if mechanism == nil {
		return &chat.Error{Op: "smtp send", Err: errNoBearer}
	}
	if err := c.signedIn("smtp send", client.Auth(mechanism)); err != nil {
		return fmt.Errorf("AUTH: %w", err)
	}
	return nil
}

// stepwise gives each step a time of its own: a large mail may take long, silence may not.
type stepwise struct {
	net.Conn
	step time.Duration
}

func (s *stepwise) Read(p []byte) (int, error) {
	_ = s.SetReadDeadline(time.Now().Add(s.step))
	return s.Conn.Read(p)
}

func (s *stepwise) Write(p []byte) (int, error) {
	_ = s.SetWriteDeadline(time.Now().Add(s.step))
	return s.Conn.Write(p)
}

// SetDeadline is the library's, which is longer than somebody waits for a question.
func (s *stepwise) SetDeadline(time.Time) error { return nil }
