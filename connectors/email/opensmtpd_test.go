package email_test

import (
	"net"
	"net/smtp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

// The whole way through servers that are not ours: the question goes out by
// OpenSMTPD, the answer comes back by it to the address with the token, and
// Dovecot says so.
func TestOpenSMTPD(t *testing.T) {
	t.Parallel()
	server := emailtest.NewOpenSMTPD(t)
	p := newPost(t, emailtest.NewDovecotOn(t, server.Bot), time.Hour, func(q *email.Params) {
		q.SMTP = email.Server{Host: server.Host, Port: server.Port, Encryption: email.NoTLS}
		q.Address, q.Border = "bot@example.test", emailtest.Border
	})
	p.zone.TXT("example.test", "v=spf1 ip4:127.0.0.1 -all")
	p.listen(t, "")
	p.ready(t)

	receipt, err := p.Post(t.Context(), card("i-1"))
	require.NoError(t, err)
	question := parse(t, emailtest.Mail{Raw: emailtest.CRLF(arrived(t, server.Ada, 1)[0])})
	require.Contains(t, question.text, card("").Text)

	// Answered to Reply-To, not signed: SPF proves it, by the address that the border saw.
	replyTo, err := question.AddressList("Reply-To")
	require.NoError(t, err)
	answer := "From: Ada <" + ada + ">\r\nTo: " + replyTo[0].Address + "\r\nSubject: Re: x\r\n" + id(1) + "\r\nyes\r\n\r\n> Run?\r\n"
	address := net.JoinHostPort(server.Host, strconv.Itoa(server.Port))
	require.NoError(t, smtp.SendMail(address, nil, ada, []string{replyTo[0].Address}, []byte(answer)))
	m := p.await(t, 1)[0]
	require.Equal(t, approval.Yes, said(m))
	require.Equal(t, receipt.Ref, m.ReplyTo)
	require.Equal(t, "ada", m.From.Name)
	require.False(t, m.Forwarded)

	// The reply, with a file, goes the same way.
	file := p.put(t, "réport.csv", []byte(strings.Repeat("a;b\n", 100_000)))
	require.NoError(t, p.Reply(t.Context(), chat.Reply{
		Thread: thread(ada), To: m.Ref, UUID: "u-1", Text: "done", Files: []chat.File{file},
	}, progress{}))
	var reply sent
	for _, raw := range arrived(t, server.Ada, 2) {
		if got := parse(t, emailtest.Mail{Raw: emailtest.CRLF(raw)}); got.Get("Auto-Submitted") == "auto-replied" {
			reply = got
		}
	}
	require.Equal(t, "<m1@example.test>", reply.Get("In-Reply-To"))
	require.Len(t, reply.files, 1)
	require.Equal(t, "réport.csv", reply.files[0].File)
	require.Len(t, reply.files[0].Content, 400_000)

	// An envelope of somebody else proves nothing about From.
	require.NoError(t, smtp.SendMail(address, nil, "eve@attacker.test", []string{"bot@example.test"}, []byte(strings.Replace(answer, "<m1@", "<m2@", 1))))
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "neither DKIM nor SPF") }, emailtest.Patience, 5*time.Millisecond)

	// Nobody lives there.
	c := card("i-2")
	c.Thread.Key = "nobody@other.test"
	_, err = p.Post(t.Context(), c)
	classified(t, err, false)
	p.halt(t)
	require.Len(t, p.desk.Messages(), 1)
}

// arrived waits for mails in somebody's mailbox.
func arrived(t testing.TB, box *emailtest.Maildir, n int) []string {
	t.Helper()
	var mails []string
	require.Eventually(t, func() bool {
		mails = box.Mails(t)
		return len(mails) >= n
	}, emailtest.Patience, 10*time.Millisecond)
	return mails
}
