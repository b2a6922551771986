package email

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/letter"
)

const (
	// chunk of a mail is what one FETCH asks for, in bytes: a slow line never
	// comes near the library's time for one literal, and memory stays small.
	chunk = 1 << 20
	// maxHeader of a mail, in bytes; one with a longer header is passed over.
	maxHeader = 256 << 10
)

// errGone is a mail that somebody has deleted.
var errGone = errors.New("the mail is gone")

// session is one connection with the mailbox opened. The mailbox is only
// examined: nothing in it changes, no mail is marked as read.
type session struct {
	conn     net.Conn
	client   *imapclient.Client
	command  time.Duration
	validity uint32
	next     imap.UID
	idle     bool
	// changed holds a value when the server has said that there is something new.
	changed chan struct{}
}

func (c *Connector) connect(ctx context.Context) (*session, error) {
	s := &session{command: c.timing.command, changed: make(chan struct{}, 1)}
	address := net.JoinHostPort(c.imap.Host, strconv.Itoa(c.imap.Port))
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	var err error
	if s.conn, err = dialer.DialContext(ctx, "tcp", address); err != nil {
		return nil, c.imapError("connect", err)
	}
	if err := s.within(ctx, func() error { return s.open(c) }); err != nil {
		s.close()
		return nil, c.imapError("sign in", err)
	}
	return s, nil
}

func (s *session) open(c *Connector) error {
	config := tlsConfig(c.imap)
	options := &imapclient.Options{TLSConfig: config, UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(data *imapclient.UnilateralDataMailbox) {
			if data.NumMessages != nil {
				select {
				case s.changed <- struct{}{}:
				default:
				}
			}
		},
	}}
	switch c.imap.Encryption {
	case TLS:
		config.NextProtos = []string{"imap"}
		s.client = imapclient.New(tls.Client(s.conn, config), options)
	case StartTLS:
		client, err := imapclient.NewStartTLS(s.conn, options)
		if err != nil {
			return err
		}
		s.client = client
	default:
		s.client = imapclient.New(s.conn, options)
	}
	if err := s.client.WaitGreeting(); err != nil {
		return err
	}
	if err := s.signIn(c); err != nil {
		return err
	}
	s.idle = s.client.Caps().Has(imap.CapIdle)
	data, err := s.client.Select(c.mailbox, &imap.SelectOptions{ReadOnly: true}).Wait()
	if err != nil {
		return err
	}
	s.validity, s.next = data.UIDValidity, data.UIDNext
	return nil
}

func (s *session) signIn(c *Connector) error {
	if c.imap.Password != "" {
		return s.client.Login(c.imap.Username, c.imap.Password).Wait()
	}
	token, err := c.accessToken()
	if err != nil {
		return err
	}
	mechanism := newBearerSASL(c.imap, token, func(name string) bool { return s.client.Caps().Has(imap.AuthCap(name)) })
	if mechanism == nil {
		return errNoBearer
	}
	return c.signedIn("imap sign in", s.client.Authenticate(mechanism))
}

func tlsConfig(s Server) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLS != nil {
		config = s.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = s.Host
	}
	return config
}

// within does something that the server has to answer. One that does not, like a
// connection that only looks alive, is closed: A27.
func (s *session) within(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, s.command)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = s.conn.Close() })
	err := do()
	if !stop() && ctx.Err() != nil {
		return fmt.Errorf("the server does not answer: %w", ctx.Err())
	}
	return err
}

func (s *session) close() {
	if s.client == nil {
		_ = s.conn.Close()
		return
	}
	_ = s.client.Close()
}

// since are the mails from a uid on, in order.
func (s *session) since(ctx context.Context, first imap.UID) ([]imap.UID, error) {
	return s.search(ctx, first, &imap.SearchCriteria{UID: []imap.UIDSet{{imap.UIDRange{Start: first, Stop: 0}}}})
}

// sinceDay are the mails that came on or after that day; IMAP knows no hours here.
func (s *session) sinceDay(ctx context.Context, day time.Time) ([]imap.UID, error) {
	return s.search(ctx, 1, &imap.SearchCriteria{Since: day})
}

func (s *session) search(ctx context.Context, first imap.UID, criteria *imap.SearchCriteria) (uids []imap.UID, err error) {
	err = s.within(ctx, func() error {
		data, err := s.client.UIDSearch(criteria, nil).Wait()
		if err != nil {
			return fmt.Errorf("searching the mailbox: %w", err)
		}
		// "n:*" always finds the last mail, also one before n (RFC 9051 §6.4.4).
		uids = slices.DeleteFunc(data.AllUIDs(), func(uid imap.UID) bool { return uid < first })
		slices.Sort(uids)
		return nil
	})
	return uids, err
}

// found is a mail's header and when the server got it.
type found struct {
	header letter.Header
	date   time.Time
	long   bool
}

func (s *session) look(ctx context.Context, uid imap.UID) (f found, err error) {
	section := &imap.FetchItemBodySection{
		Specifier: imap.PartSpecifierHeader, Peek: true, Partial: &imap.SectionPartial{Size: maxHeader},
	}
	message, err := s.fetch(ctx, uid, &imap.FetchOptions{UID: true, InternalDate: true, BodySection: []*imap.FetchItemBodySection{section}})
	if err != nil {
		return found{}, err
	}
	content := bodyOf(message)
	f.date, f.long = message.InternalDate, len(content) >= maxHeader
	f.header, _, err = letter.Open(bytes.NewReader(content))
	return f, err
}

func (s *session) fetch(ctx context.Context, uid imap.UID, options *imap.FetchOptions) (message *imapclient.FetchMessageBuffer, err error) {
	err = s.within(ctx, func() error {
		messages, err := s.client.Fetch(imap.UIDSetNum(uid), options).Collect()
		if err != nil {
			return fmt.Errorf("fetching mail %d: %w", uid, err)
		}
		for _, m := range messages { // others may come along: flags that somebody changes
			if m.UID == uid && len(m.BodySection) > 0 {
				message = m
				return nil
			}
		}
		return errGone
	})
	return message, err
}

func bodyOf(m *imapclient.FetchMessageBuffer) []byte {
	if len(m.BodySection) == 0 {
		return nil
	}
	return m.BodySection[0].Bytes
}

// wait returns when there may be something new: the server says so, or the time
// for a look has come. One IDLE never lasts longer (RFC 2177: 29 minutes).
func (s *session) wait(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	if !s.idle {
		return s.pause(ctx, timer.C)
	}
	var idle *imapclient.IdleCommand
	if err := s.within(ctx, func() (err error) { idle, err = s.client.Idle(); return err }); err != nil {
		return fmt.Errorf("starting IDLE: %w", err)
	}
	waited := s.pause(ctx, timer.C)
	err := s.within(ctx, func() error {
		if err := idle.Close(); err != nil {
			return err
		}
		return idle.Wait()
	})
	if waited != nil {
		return waited
	}
	if err != nil {
		return fmt.Errorf("ending IDLE: %w", err)
	}
	return nil
}

func (s *session) pause(ctx context.Context, after <-chan time.Time) error {
	select {
	case <-s.changed:
	case <-after:
	case <-s.client.Closed():
		return fmt.Errorf("the server closed the connection: %w", io.ErrUnexpectedEOF)
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// lasting are the codes that no waiting mends.
var lasting = []imap.ResponseCode{
	imap.ResponseCodeAuthenticationFailed, imap.ResponseCodeAuthorizationFailed, imap.ResponseCodeExpired,
	imap.ResponseCodeNonExistent, imap.ResponseCodePrivacyRequired,
}

// imapError classifies: only the server's own word that these credentials or this
// mailbox are wrong is final.
func (c *Connector) imapError(doing string, err error) error {
	out := &chat.Error{Op: "imap " + doing, Temporary: true}
	var said *imap.Error
	var classified *chat.Error // of a token
	switch {
	case errors.As(err, &said):
		out.Temporary = !slices.Contains(lasting, said.Code)
	case errors.As(err, &classified):
		out.Temporary = classified.Temporary
	case errors.Is(err, errNoBearer):
		out.Temporary = false
	}
	out.Err = c.clean(err)
	return out
}
