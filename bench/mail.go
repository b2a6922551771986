package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-smtp"
)

// The two mailboxes.
const (
	mailAda = "ada@example.test"
	mailBot = "bot@example.test"
	inbox   = "INBOX"
)

// mailSide is a mailbox for the bot, and an SMTP server that throws mails away: of each it keeps
// how large it was, and what its file was.
type mailSide struct {
	user  *imapmemserver.User
	taken chan letter
	sent  int
}

// letter is a mail that the SMTP server has all of.
type letter struct {
	bytes int64
	file  parcel // of none, without a name
}

// withMail adds it to a rig.
func withMail(ctx context.Context, r *rig) (env []string, stop func(), err error) {
	m := &mailSide{user: imapmemserver.NewUser("bot", "bench-imap-password"), taken: make(chan letter, 16)}
	if err := m.user.Create(inbox, nil); err != nil {
		return nil, nil, err
	}
	mailboxes := imapmemserver.New()
	mailboxes.AddUser(m.user)
	reading := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return mailboxes.NewSession(), nil, nil
		},
		Caps: imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapIMAP4rev2: {}}, InsecureAuth: true,
		Logger: quiet{}, // a connection that ends in the middle is how a worker goes
	})
	sending := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &drain{m}, nil }))
	imapPort, err := serve(ctx, reading.Serve)
	if err != nil {
		return nil, nil, err
	}
	smtpPort, err := serve(ctx, sending.Serve)
	if err != nil {
		return nil, nil, errors.Join(err, reading.Close())
	}
	r.mail = m
	return []string{
			"LARACLAW_IMAP_HOST=127.0.0.1", "LARACLAW_IMAP_PORT=" + imapPort, "LARACLAW_IMAP_ENCRYPTION=none",
			"LARACLAW_IMAP_USERNAME=bot", "LARACLAW_IMAP_PASSWORD=bench-imap-password",
			"LARACLAW_SMTP_HOST=127.0.0.1", "LARACLAW_SMTP_PORT=" + smtpPort, "LARACLAW_SMTP_ENCRYPTION=none",
			"LARACLAW_SMTP_FROM_ADDRESS=" + mailBot,
			// Nobody signs ada's mails here.
			"LARACLAW_EMAIL_VERIFY_SENDER_DKIM_AND_SPF=false",
		}, func() {
			_ = errors.Join(reading.Close(), sending.Close()) // everything is over
		}, nil
}

// serve runs a server on a port of its own.
func serve(ctx context.Context, run func(net.Listener) error) (port string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = run(listener) }() // it ends with an error when it is closed
	_, port, err = net.SplitHostPort(listener.Addr().String())
	return port, err
}

// arrive puts a mail of ada's into the bot's mailbox, with a file unless it has no name.
func (m *mailSide) arrive(text, name string, content io.Reader) error {
	m.sent++
	var raw bytes.Buffer
	fmt.Fprintf(&raw, "From: %s\r\nTo: %s\r\nSubject: bench\r\nMessage-ID: <bench-%d@example.test>\r\nDate: %s\r\nMIME-Version: 1.0\r\n",
		mailAda, mailBot, m.sent, time.Now().Format(time.RFC1123Z))
	form := multipart.NewWriter(&raw)
	fmt.Fprintf(&raw, "Content-Type: multipart/mixed; boundary=%s\r\n\r\n", form.Boundary())
	fmt.Fprintf(&raw, "--%s\r\nContent-Type: text/plain\r\n\r\n%s\r\n", form.Boundary(), text)
	if name != "" {
		fmt.Fprintf(&raw, "--%s\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=%s\r\n"+
			"Content-Transfer-Encoding: base64\r\n\r\n", form.Boundary(), name)
		lines := base64.NewEncoder(base64.StdEncoding, &wrapped{w: &raw})
		if _, err := io.Copy(lines, content); err != nil {
			return err
		}
		if err := lines.Close(); err != nil {
			return err
		}
	}
	fmt.Fprintf(&raw, "\r\n--%s--\r\n", form.Boundary())
	_, err := m.user.Append(inbox, literal{bytes.NewReader(raw.Bytes())}, &imap.AppendOptions{Time: time.Now()})
	return err
}

// literal is a mail as the IMAP server takes it.
type literal struct{ *bytes.Reader }

// wrapped breaks lines after 76 characters (RFC 2045 §6.8).
type wrapped struct {
	w  io.Writer
	at int
}

func (l *wrapped) Write(p []byte) (n int, err error) {
	const width = 76
	for len(p) > 0 {
		piece := p[:min(len(p), width-l.at)]
		if _, err := l.w.Write(piece); err != nil {
			return n, err
		}
		n, l.at, p = n+len(piece), l.at+len(piece), p[len(piece):]
		if l.at == width {
			l.at = 0
			if _, err := io.WriteString(l.w, "\r\n"); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// drain is one visit of the SMTP server.
type drain struct{ m *mailSide }

func (*drain) Mail(string, *smtp.MailOptions) error { return nil }
func (*drain) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (*drain) Reset()                               {}
func (*drain) Logout() error                        { return nil }

// Data takes a mail.
func (d *drain) Data(r io.Reader) error {
	counted := &counting{r: r}
	file, err := attachmentOf(counted)
	if err == nil {
		_, err = io.Copy(io.Discard, counted)
	}
	if err == nil {
		d.m.taken <- letter{bytes: counted.n, file: file}
	}
	return err
}

type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// attachmentOf weighs the last file of a mail.
func attachmentOf(raw io.Reader) (file parcel, err error) {
	read, err := mail.ReadMessage(raw)
	if err != nil {
		return file, err
	}
	kind, with, err := mime.ParseMediaType(read.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		return file, err
	}
	for parts := multipart.NewReader(read.Body, with["boundary"]); ; {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return file, nil
		case err != nil:
			return file, err
		case part.FileName() == "":
			continue
		}
		content := io.Reader(part)
		if strings.EqualFold(part.Header.Get("Content-Transfer-Encoding"), "base64") {
			content = base64.NewDecoder(base64.StdEncoding, part)
		}
		if file, err = weigh(part.FileName(), content); err != nil {
			return file, fmt.Errorf("read the file %s: %w", strconv.Quote(part.FileName()), err)
		}
	}
}

// quiet says nothing.
type quiet struct{}

// Printf is what the IMAP server would say.
func (quiet) Printf(string, ...any) {}
