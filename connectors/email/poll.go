package email

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/listen"
)

const (
	// window is how far back a mailbox is read again whose numbering has changed,
	// and firstWindow where nothing was read before.
	window      = 24 * time.Hour
	firstWindow = 10 * time.Minute
	maxWindow   = 500 // mails, the newest
	// maxAttempts is how often a mail is tried that breaks the connection, or that the
	// Desk refuses (as opposed to one that cannot be reached, which is asked for ever).
	maxAttempts = 5
)

// Poll listens to the mailbox and hands each mail to the Desk, in order, until ctx
// ends (its error is returned) or the server refuses us: wrong password, no such
// mailbox. Then a *chat.Error says when to try again, perhaps from another worker
// that was told better. It is not final: whoever mends it wants to have what came
// meanwhile, and for that the offset must not be lost.
//
// offset is "UIDVALIDITY:UID" of the last mail that is done with; "" for the mail
// of the last minutes. heartbeat is called every few seconds and whenever it has
// moved, perhaps from another goroutine but never twice at once. It moves past a
// mail only after the Desk has it (DESIGN mechanism 10). If the numbering has
// changed, what came in the last day is read once more; the event ids are the same.
//
// Two Polls of one mailbox disturb neither each other nor the mails: both hand
// over the same events.
func (c *Connector) Poll(ctx context.Context, offset string, heartbeat func(offset string)) error {
	l := &listener{c: c, heartbeat: heartbeat, started: c.now(), failed: map[imap.UID]int{}}
	l.validity, l.last = parseOffset(offset)
	// For minutes nothing may happen, and the heartbeat has to go on.
	defer listen.Beat(ctx, c.timing.heartbeat, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.tell()
	})()
	backoff := c.backoff()
	for {
		worked, err := l.session(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var classified *chat.Error
		if errors.As(err, &classified) && !classified.Temporary {
			c.log.Error("the mailbox refuses us; no mail is read until that is mended: look at email.imap in the configuration",
				"error", classified, "wait", c.timing.refused)
			return &chat.Error{Op: classified.Op, Temporary: true, RetryAfter: c.timing.refused, Err: classified.Err}
		}
		if worked {
			backoff.Reset()
		}
		wait := backoff.Wait()
		c.log.Warn("the mailbox cannot be listened to, trying again", "error", c.clean(err), "wait", wait)
		if err := listen.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

type listener struct {
	c       *Connector
	started time.Time
	failed  map[imap.UID]int // connections that ended at this mail
	cutoff  time.Time        // of a window that is read again

	mu        sync.Mutex
	validity  uint32
	last      imap.UID
	heartbeat func(string)
}

// session is one connection; it ends with an error. worked tells that the mailbox was read.
func (l *listener) session(ctx context.Context) (worked bool, err error) {
	s, err := l.c.connect(ctx)
	if err != nil {
		return false, err
	}
	defer s.close()
	l.c.log.Info("listening to the mailbox", "mailbox", l.c.mailbox, "idle", s.idle)
	uids, err := l.resume(ctx, s)
	for err == nil {
		for _, uid := range uids {
			if err := l.take(ctx, s, uid); err != nil {
				return worked, err
			}
		}
		worked = true
		if err = s.wait(ctx, l.c.timing.poll); err == nil {
			uids, err = s.since(ctx, l.last+1)
		}
	}
	return worked, err
}

// resume finds the mails to begin with.
func (l *listener) resume(ctx context.Context, s *session) ([]imap.UID, error) {
	if l.validity == s.validity {
		return s.since(ctx, l.last+1)
	}
	l.cutoff = l.started.Add(-firstWindow)
	if l.validity != 0 {
		l.cutoff = l.c.now().Add(-window)
		l.c.log.Warn("the mailbox has been numbered anew; what came lately is read again",
			"uidvalidity_before", l.validity, "uidvalidity", s.validity)
	}
	// A day to spare: servers count days in time zones of their own.
	uids, err := s.sinceDay(ctx, l.cutoff.Add(-24*time.Hour))
	if err != nil {
		return nil, err
	}
	if extra := len(uids) - maxWindow; extra > 0 {
		uids = uids[extra:]
	}
	last := imap.UID(0)
	switch {
	case len(uids) > 0:
		last = uids[0] - 1
	case s.next > 0:
		last = s.next - 1
	}
	l.failed = map[imap.UID]int{}
	l.move(s.validity, last)
	return uids, nil
}

// take is done with a mail, or says why the connection has to be made anew.
func (l *listener) take(ctx context.Context, s *session, uid imap.UID) error {
	err := l.handle(ctx, s, uid)
	if err != nil && ctx.Err() == nil {
		if l.failed[uid]++; l.failed[uid] >= maxAttempts {
			l.c.log.Error("a mail cannot be read and is passed over", "uid", uid, "error", l.c.clean(err))
			err = nil
		}
	}
	if err != nil {
		return err
	}
	delete(l.failed, uid)
	l.move(s.validity, uid)
	return nil
}

func (l *listener) handle(ctx context.Context, s *session, uid imap.UID) error {
	f, err := s.look(ctx, uid)
	switch {
	case errors.Is(err, errGone):
		return nil
	case err != nil:
		return err
	case f.long:
		l.c.log.Info("mail passed over", "uid", uid, "reason", "its header is too long")
		return nil
	case f.date.Before(l.cutoff):
		return nil
	}
	in := incoming{
		header: f.header, at: receivedAt(f.date, l.c.now()),
		whole: func(ctx context.Context) io.Reader { return s.whole(ctx, uid) },
	}
	m, reason, err := l.understand(ctx, in)
	switch {
	case errors.Is(err, errGone):
		return nil
	case err != nil:
		return err
	case reason != "":
		l.c.log.Info("mail passed over", "uid", uid, "reason", reason)
		return nil
	}
	return l.deliver(ctx, m)
}

// understand waits for what cannot be had now, for a while.
func (l *listener) understand(ctx context.Context, in incoming) (chat.Message, string, error) {
	backoff, until := l.c.backoff(), l.c.now().Add(l.c.timing.patience)
	for {
		m, reason, err := l.c.understand(ctx, in, !l.c.now().Before(until))
		if !isLater(err) || ctx.Err() != nil {
			return m, reason, err
		}
		wait := backoff.Wait()
		l.c.log.Warn("a mail cannot be read now, trying again", "error", l.c.clean(err), "wait", wait)
		if err := listen.Sleep(ctx, wait); err != nil {
			return m, "", err
		}
	}
}

// deliver does not return before the Desk has the mail, or has refused it too often.
func (l *listener) deliver(ctx context.Context, m chat.Message) error {
	err := listen.Handover{
		Backoff: l.c.backoff(), Refusals: maxAttempts,
		Again: func(err error, wait time.Duration) {
			l.c.log.Warn("a mail was not taken, trying again", "error", err, "wait", wait)
		},
	}.Give(ctx, func() error { return l.c.deliver(ctx, m) })
	if errors.Is(err, listen.ErrRefused) {
		l.c.log.Error("a mail is passed over", "event", m.EventID, "error", err)
		return nil
	}
	return err
}

// backoff are the waits after failures.
func (c *Connector) backoff() listen.Backoff {
	return listen.Backoff{First: c.timing.backoff, Most: c.timing.maxWait}
}

func (c *Connector) deliver(ctx context.Context, m chat.Message) error {
	ctx, cancel := context.WithTimeout(ctx, c.timing.deliver)
	defer cancel()
	if err := c.desk.Deliver(ctx, m); err != nil {
		return fmt.Errorf("delivering a mail: %w", err)
	}
	c.taken.add(takenKey(m))
	return nil
}

func (l *listener) move(validity uint32, last imap.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.validity, l.last = validity, last
	l.tell()
}

func (l *listener) tell() {
	if l.heartbeat != nil {
		l.heartbeat(formatOffset(l.validity, l.last))
	}
}
