package email_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

// post is a connector that listens to a Dovecot.
type post struct {
	*bench
	server *emailtest.Dovecot

	mu      sync.Mutex
	offsets []string
	ended   chan error
	stop    context.CancelFunc
}

// listens makes the connector of a bench read the server's mailbox.
func listens(server *emailtest.Dovecot, more ...func(*email.Params)) func(*email.Params) {
	return func(p *email.Params) {
		p.IMAP = email.Server{
			Host: server.Host, Port: server.Port, Encryption: email.NoTLS, Username: "bot", Password: server.Password,
		}
		for _, m := range more {
			m(p)
		}
	}
}

func newPost(t testing.TB, server *emailtest.Dovecot, poll time.Duration, change ...func(*email.Params)) *post {
	t.Helper()
	p := &post{bench: newBench(t, listens(server, change...)), server: server}
	p.Hurry(poll)
	return p
}

// listen starts Poll; it ends with the test, or by halt.
func (p *post) listen(t testing.TB, offset string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p.stop, p.ended = cancel, make(chan error, 1)
	go func() {
		p.ended <- p.Poll(ctx, offset, func(offset string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.offsets = append(p.offsets, offset)
		})
	}()
	t.Cleanup(cancel)
}

func (p *post) halt(t testing.TB) string {
	t.Helper()
	p.stop()
	require.ErrorIs(t, <-p.ended, context.Canceled)
	return p.offset()
}

func (p *post) offset() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.offsets) == 0 {
		return ""
	}
	return p.offsets[len(p.offsets)-1]
}

func (p *post) await(t testing.TB, n int) []chat.Message {
	t.Helper()
	require.True(t, p.desk.Await(emailtest.Patience, func() bool { return len(p.desk.Messages()) >= n }),
		"%d of %d mails arrived\n%s\n%s", len(p.desk.Messages()), n, p.log, p.server.Log())
	return p.desk.Messages()
}

// ready waits until the mailbox is read.
func (p *post) ready(t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool { return p.offset() != "" }, emailtest.Patience, 5*time.Millisecond, "%s", p.log)
}

func (p *post) deliver(t testing.TB, header, body string, at ...time.Time) {
	t.Helper()
	p.server.Mailbox.Deliver(t, p.dkim.Sign(t, from(header, body)), at...)
}

// The server says that a mail has come: nobody waits for the next look.
func TestIDLE(t *testing.T) {
	t.Parallel()
	p := newPost(t, emailtest.NewDovecot(t), time.Hour)
	p.listen(t, "")
	p.ready(t)
	for n := range 3 {
		p.deliver(t, id(n), fmt.Sprintf("text %d", n))
		got := p.await(t, n+1)
		require.Equal(t, fmt.Sprintf("text %d", n), got[n].Text)
		require.WithinDuration(t, time.Now(), got[n].ReceivedAt, emailtest.Patience)
	}
	offset := p.halt(t)
	require.Regexp(t, `^\d+:3$`, offset)
	// The mailbox is as it was: nothing is marked as read.
	require.Len(t, p.server.Mailbox.Mails(t), 3)

	// Who goes on with the last offset hears what came meanwhile, once.
	p.deliver(t, id(9), "meanwhile")
	next := newPost(t, p.server, time.Hour, func(q *email.Params) { q.Resolver = p.zone })
	next.listen(t, offset)
	require.Equal(t, "meanwhile", next.await(t, 1)[0].Text)
	next.halt(t)
	require.Len(t, next.desk.Messages(), 1)
}

func TestTLSAndStartTLS(t *testing.T) {
	t.Parallel()
	server := emailtest.NewDovecot(t)
	for encryption, port := range map[string]int{email.TLS: server.TLSPort, email.StartTLS: server.Port} {
		p := newPost(t, server, time.Hour, func(q *email.Params) {
			q.IMAP.Encryption, q.IMAP.Port, q.IMAP.TLS = encryption, port, server.Trust
		})
		p.listen(t, "")
		p.ready(t)
		p.deliver(t, "", "by "+encryption)
		require.True(t, p.desk.Await(emailtest.Patience, func() bool {
			got := p.desk.Messages()
			return len(got) > 0 && got[len(got)-1].Text == "by "+encryption
		}), "%s", p.log)
		p.halt(t)
		// A certificate that nobody vouches for is not taken.
		stranger := newPost(t, server, time.Hour, func(q *email.Params) { q.IMAP.Encryption, q.IMAP.Port = encryption, port })
		stranger.listen(t, "")
		require.Eventually(t, func() bool { return strings.Contains(stranger.log.String(), "certificate") }, emailtest.Patience, 5*time.Millisecond)
		stranger.halt(t)
		require.NotContains(t, stranger.log.String(), server.Password)
	}
}

func TestRestartInTheMiddle(t *testing.T) {
	t.Parallel()
	p := newPost(t, emailtest.NewDovecot(t), time.Hour)
	p.listen(t, "")
	p.ready(t)
	p.deliver(t, id(1), "before")
	p.await(t, 1)
	p.server.Stop()
	p.deliver(t, id(2), "while it is down")
	p.server.Start(t)
	p.await(t, 2)
	p.deliver(t, id(3), "after")
	got := p.await(t, 3)
	require.Equal(t, []string{"before", "while it is down", "after"}, []string{got[0].Text, got[1].Text, got[2].Text})
	p.halt(t)
	require.Len(t, p.desk.Messages(), 3)
}

func TestA26NewNumbers(t *testing.T) {
	t.Parallel()
	p := newPost(t, emailtest.NewDovecot(t), time.Hour)
	p.deliver(t, id(1), "old and taken")
	p.deliver(t, id(2), "also taken")
	p.listen(t, "")
	first := p.await(t, 2)
	offset := p.halt(t)
	p.server.Stop()
	p.server.Renumber(t)
	p.deliver(t, id(3), "yes")
	p.deliver(t, id(4), "of last week", time.Now().Add(-7*24*time.Hour))
	p.server.Start(t)

	// A worker that remembers nothing: what came lately is handed over again, under the same names.
	next := newPost(t, p.server, 100*time.Millisecond, func(q *email.Params) { q.Resolver = p.zone })
	next.listen(t, offset)
	got := next.await(t, 3)
	events := map[string]string{}
	for _, m := range got {
		events[m.EventID] = m.UUID
	}
	require.Len(t, events, 3)
	for _, m := range first {
		require.Equal(t, m.UUID, events[m.EventID])
	}
	require.Eventually(t, func() bool { return strings.HasSuffix(next.offset(), ":4") }, emailtest.Patience, 5*time.Millisecond)
	renumbered := next.halt(t)
	require.Len(t, next.desk.Messages(), 3, "what is older than a day stays")
	require.NotEqual(t, strings.Split(offset, ":")[0], strings.Split(renumbered, ":")[0])
}

// A first start hears what came in the last minutes, and not a mailbox of years.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	p := newPost(t, emailtest.NewDovecot(t), time.Hour)
	p.deliver(t, id(1), "an hour ago", time.Now().Add(-time.Hour))
	p.deliver(t, id(2), "just now")
	p.listen(t, "nonsense")
	require.Equal(t, "just now", p.await(t, 1)[0].Text)
	require.Regexp(t, `:2$`, p.halt(t))
	require.Len(t, p.desk.Messages(), 1)
}

// The connection looks alive and says nothing any more.
func TestA27Silence(t *testing.T) {
	t.Parallel()
	server := emailtest.NewDovecot(t)
	wire := emailtest.NewMute(t, server.Port)
	p := newPost(t, server, 300*time.Millisecond, func(q *email.Params) { q.IMAP.Port = wire.Port })
	p.listen(t, "")
	p.deliver(t, id(1), "before")
	p.await(t, 1)
	wire.Cut()
	p.deliver(t, id(2), "yes")
	require.Equal(t, "yes", p.await(t, 2)[1].Text)
	require.Greater(t, wire.Connections(), 1, "it has given the old connection up")
	p.halt(t)
}

// Two workers on one mailbox: both hand over the same events, and neither disturbs the other.
func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	server := emailtest.NewDovecot(t)
	a := newPost(t, server, time.Hour)
	b := newPost(t, server, time.Hour, func(q *email.Params) { q.Resolver = a.zone })
	a.listen(t, "")
	b.listen(t, "")
	a.ready(t)
	b.ready(t)
	for n := range 5 {
		a.deliver(t, id(n), "text")
	}
	one, two := a.await(t, 5), b.await(t, 5)
	for n := range 5 {
		require.Equal(t, one[n].EventID, two[n].EventID)
		require.Equal(t, one[n].UUID, two[n].UUID)
	}
	require.Equal(t, a.halt(t), b.halt(t))
}

// The offset moves past a mail only when the desk has it.
func TestOffsetWaitsForTheDesk(t *testing.T) {
	t.Parallel()
	p := newPost(t, emailtest.NewDovecot(t), time.Hour)
	for range 20 {
		p.desk.Fail(chat.ErrUnreachable)
	}
	p.deliver(t, id(1), "yes")
	p.listen(t, "")
	require.True(t, p.desk.Await(emailtest.Patience, func() bool { return p.desk.Pending() < 15 }))
	require.Regexp(t, `:0$`, p.offset())
	p.await(t, 1)
	require.Eventually(t, func() bool { return strings.HasSuffix(p.offset(), ":1") }, emailtest.Patience, 5*time.Millisecond)
	// One that the desk refuses for reasons of its own holds nobody up for ever.
	for range 5 {
		p.desk.Fail(errors.New("not this one"))
	}
	p.deliver(t, id(2), "refused")
	p.deliver(t, id(3), "next")
	require.Equal(t, "next", p.await(t, 2)[1].Text)
	p.halt(t)
}

// What cannot be had now is waited for, and then done without.
func TestPatience(t *testing.T) {
	t.Parallel()
	p := newPost(t, emailtest.NewDovecot(t), time.Hour)
	p.zone.Break("test._domainkey.example.test", true)
	p.listen(t, "")
	p.ready(t)
	p.deliver(t, id(1), "DNS is away for a moment")
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "cannot be read now") }, emailtest.Patience, time.Millisecond)
	p.zone.Break("test._domainkey.example.test", false)
	p.await(t, 1)

	p.files.breakDown(errors.New("the disk is away"))
	p.server.Mailbox.Deliver(t, p.dkim.Sign(t, with("yes", file("attachment; filename=a", "a"))))
	m := p.await(t, 2)[1]
	require.Equal(t, "yes", m.Text)
	require.Equal(t, "a", m.Files[0].Name)
	require.NotEmpty(t, m.Files[0].Problem)

	p.zone.Break("test._domainkey.example.test", true)
	p.deliver(t, id(3), "DNS stays away: not proven")
	require.Eventually(t, func() bool { return strings.HasSuffix(p.offset(), ":3") }, emailtest.Patience, 5*time.Millisecond)
	p.halt(t)
	require.Len(t, p.desk.Messages(), 2)
}

// No other try of the same worker, and no end of listening either: what comes meanwhile is
// heard when the password is right again.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	server := emailtest.NewDovecot(t)
	p := newPost(t, server, time.Hour, func(q *email.Params) { q.IMAP.Password = "wrong-Secret-0000" })
	p.listen(t, "")
	select {
	case err := <-p.ended:
		require.Equal(t, time.Minute, classified(t, err, true).RetryAfter)
		require.Contains(t, p.log.String(), "look at email.imap")
		require.NotContains(t, err.Error()+p.log.String(), "wrong-Secret-0000")
	case <-time.After(emailtest.Patience):
		require.Fail(t, "no answer", p.log.String())
	}
	// A mailbox may come into being.
	p = newPost(t, server, time.Hour, func(q *email.Params) { q.Mailbox = "Nowhere" })
	p.listen(t, "")
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "Nowhere") }, emailtest.Patience, 5*time.Millisecond)
	p.halt(t)
}

// Mail of strangers, and mail that nobody wrote, is passed over; its body is not even fetched.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	p := newPost(t, emailtest.NewDovecot(t), time.Hour)
	p.listen(t, "")
	p.deliver(t, "From: eve@example.test\n", "yes")
	p.deliver(t, "Auto-Submitted: auto-replied\n", "yes")
	p.deliver(t, "X-Long: "+strings.Repeat("x ", 200_000)+"\n", "yes")
	p.server.Mailbox.Deliver(t, "\n\n")
	p.server.Mailbox.Deliver(t, "")
	p.deliver(t, id(1), "at last")
	require.Equal(t, "at last", p.await(t, 1)[0].Text)
	p.halt(t)
	require.Len(t, p.desk.Messages(), 1)
}

// A mail of many megabytes comes in pieces and arrives whole.
func TestLargeMail(t *testing.T) {
	t.Parallel()
	p := newPost(t, emailtest.NewDovecot(t), time.Hour)
	p.listen(t, "")
	content := strings.Repeat("0123456789abcdef", 5<<16) // 5 MB
	p.server.Mailbox.Deliver(t, p.dkim.Sign(t, with("yes", file("attachment; filename=a.bin", content))))
	m := p.await(t, 1)[0]
	require.Equal(t, content, p.content(t, m.Files[0]))
	p.halt(t)
}

func TestReceivedAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2029, 1, 1, 12, 0, 5, 500, time.UTC)
	at := func(s int) time.Time { return time.Date(2029, 1, 1, 12, 0, s, 0, time.UTC) }
	require.Equal(t, at(3).Add(-time.Nanosecond), email.ReceivedAt(at(2), now), "when the mail server had it")
	require.Equal(t, now, email.ReceivedAt(at(5), now), "in this second: now")
	require.Equal(t, now, email.ReceivedAt(at(50), now), "a clock that is ahead")
	require.Equal(t, now, email.ReceivedAt(time.Time{}, now))
}
