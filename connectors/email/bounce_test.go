package email_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

// reports collects what the connector tells about questions that did not arrive.
type reports struct {
	got  chan email.Bounce
	fail chan error
}

func newReports() *reports {
	return &reports{got: make(chan email.Bounce, 10), fail: make(chan error, 10)}
}

func (r *reports) set(p *email.Params) {
	p.Bounced = func(_ context.Context, b email.Bounce) error {
		select {
		case err := <-r.fail:
			return err
		default:
			r.got <- b
			return nil
		}
	}
}

// report is what a mail server sends back, in the parts that differ between them.
func report(status, original string) string {
	return "Return-Path: <>\nFrom: Mail Delivery System <MAILER-DAEMON@mx.example.test>\nTo: bot@bot.test\nSubject: Undelivered Mail\n" +
		"Auto-Submitted: auto-replied\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=\"b/1\"\n\n" +
		"--b/1\nContent-Type: text/plain\n\nyes\n\n--b/1\n" + status + "\n--b/1\n" + original + "\n--b/1--\n"
}

func TestA20BounceOfAQuestion(t *testing.T) {
	t.Parallel()
	r := newReports()
	b := newBench(t, r.set)
	c := card("i-1")
	c.ReplyTo = "<m0@example.test> clean up"
	receipt, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, b.Edit(t.Context(), receipt, closed(c)))
	question, notice := b.sink.Mails()[0].Raw, b.sink.Mails()[1].Raw
	head := func(raw string) string { return raw[:strings.Index(raw, "\r\n\r\n")+2] }
	group := func(action, status, said string) string {
		return "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.test\nArrival-Date: Mon, 1 Jan 2029 09:00:00 +0000\n\n" +
			"Final-Recipient: rfc822; ada@example.test\nAction: " + action + "\nStatus: " + status + "\nDiagnostic-Code: " + said + "\n"
	}
	whole := "Content-Type: message/rfc822\n\n" + question
	gone := group("failed", "5.1.1", "smtp; 550 5.1.1 no such user:\n <q."+receipt.Ref+"@bot.test> "+tokenKey)
	for name, tt := range map[string]struct {
		raw    string
		reason string // of the bounce; none where it is empty
		log    string
	}{
		"the whole mail":       {report(gone, whole), "5.1.1 smtp; 550 5.1.1 no such user: <id@bot.test> <secret>", "level=ERROR"},
		"its header":           {report(group("failed", "5.0.0", "x-unix; full"), "Content-Type: text/rfc822-headers\n\n"+head(question)), "5.0.0 x-unix; full", "level=ERROR"},
		"encoded":              {report(group("Failed", "5.2.2", "smtp;"), "Content-Type: text/rfc822-headers\nContent-Transfer-Encoding: quoted-printable\n\n"+strings.ReplaceAll(head(question), "=", "=3D")), "5.2.2 smtp;", "level=ERROR"},
		"given up after days":  {report(group("failed", "4.4.7", "smtp; timed out"), whole), "4.4.7 smtp; timed out", "level=ERROR"},
		"the second recipient": {report(group("delivered", "2.0.0", "ok")+"\nAction: failed\nStatus: 5.7.1\n", whole), "5.7.1", "level=ERROR"},
		"only delayed":         {report(group("delayed", "4.4.1", "smtp; greylisted"), whole), "", "held up on its way"},
		"a notice":             {report(gone, "Content-Type: message/rfc822\n\n"+notice), "", "level=ERROR"},
		"somebody's own mail":  {report(gone, "Content-Type: message/rfc822\n\nMessage-ID: <1@x.test>\nTo: "+ada+"\n\nx\n"), "", ""},
		"the token elsewhere":  {report(gone, "Content-Type: message/rfc822\n\nIn-Reply-To: <q."+receipt.Ref+"@bot.test>\nTo: "+ada+"\n\nx\n"), "", ""},
		"no original":          {report(gone, "Content-Type: text/plain\n\nx\n"), "", ""},
		"nothing in it":        {"From: <>\nContent-Type: multipart/report; report-type=\"delivery-status\"; boundary=b\n\n--b", "", ""},
		"no boundary":          {"From: <>\nContent-Type: multipart/report; report-type=delivery-status\n\nx", "", ""},
		"read, not delivered":  {report("Content-Type: message/disposition-notification\n\nDisposition: manual-action/MDN-sent-manually; displayed\n", whole), "", ""},
	} {
		logged := len(b.log.String())
		_, reason := b.receiveRaw(t, tt.raw)
		require.NotEmpty(t, reason, name)
		require.Contains(t, b.log.String()[logged:], tt.log, name)
		require.NotContains(t, b.log.String(), receipt.Ref, name)
		if tt.reason == "" {
			require.Empty(t, r.got, name)
			continue
		}
		require.Len(t, r.got, 1, name)
		got := <-r.got
		require.WithinDuration(t, time.Now(), got.ReceivedAt, time.Minute)
		require.NotEmpty(t, got.EventID)
		got.EventID, got.ReceivedAt = "", time.Time{}
		require.Equal(t, email.Bounce{Thread: thread(ada), Ref: receipt.Ref, Reason: tt.reason}, got, name)
	}
	require.Empty(t, b.desk.Messages())
	require.Len(t, b.sink.Mails(), 2, "nobody is answered")
}

// A server that is not ours takes a question, finds that it cannot be delivered, and says so.
func TestOpenSMTPDBounce(t *testing.T) {
	t.Parallel()
	server := emailtest.NewOpenSMTPD(t)
	server.Away.Gone("ada@away.test")
	r := newReports()
	r.fail <- errors.New("temporal is away")
	p := newPost(t, emailtest.NewDovecotOn(t, server.Bot), time.Hour, r.set, func(q *email.Params) {
		q.SMTP = email.Server{Host: server.Host, Port: server.Port, Encryption: email.NoTLS}
		q.Address = "bot@example.test"
	})
	p.listen(t, "")
	c := card("i-1")
	c.Thread.Key = "ada@away.test"
	receipt, err := p.Post(t.Context(), c)
	require.NoError(t, err, "the server has taken it")
	select {
	case got := <-r.got:
		require.Equal(t, receipt.Ref, got.Ref)
		require.Equal(t, c.Thread, got.Thread)
		require.Equal(t, "5.0.0", got.Reason)
	case <-time.After(emailtest.Patience):
		require.Fail(t, "nothing came back", "%s\n%q", p.log, server.Bot.Mails(t))
	}
	p.halt(t)
	require.Empty(t, p.desk.Messages())
}
