package e2e_test

import (
	"net"
	"net/smtp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email/emailtest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// A whole mail system that is not ours: OpenSMTPD takes mail in and out, Dovecot shows it, SPF
// proves the sender by the address that OpenSMTPD saw, and a question that comes back is noticed.
func TestEmailOpenSMTPD(t *testing.T) {
	t.Parallel()
	server := emailtest.NewOpenSMTPD(t)
	m := &mail{box: emailtest.NewDovecotOn(t, server.Bot), out: emailtest.NewSink(t), zone: &emailtest.Zone{}}
	m.zone.TXT("example.test", "v=spf1 ip4:127.0.0.1 -all")
	m.dns = m.zone.Serve(t)
	people := strings.Replace(mailPeople(), "bob@example.test", "bob@example.test, bob@away.test", 1)
	w := m.world(t, harness.Setup{Env: map[string]string{
		"LARACLAW_SMTP_PORT": strconv.Itoa(server.Port), "LARACLAW_SMTP_USERNAME": "", "LARACLAW_SMTP_PASSWORD": "",
		"LARACLAW_SMTP_FROM_ADDRESS": "bot@example.test", "COUNTERSIGN_EMAIL_TRUSTED_BORDER": emailtest.Border,
		"COUNTERSIGN_POLICY": askToAppend, "COUNTERSIGN_PEOPLE": people,
	}})
	send := func(from, to, letter string) {
		t.Helper()
		address := net.JoinHostPort(server.Host, strconv.Itoa(server.Port))
		require.NoError(t, smtp.SendMail(address, nil, from, []string{to}, []byte(emailtest.CRLF(letter))))
	}
	p := m.writer(harness.Ada)
	arrived := func(text string) emailtest.Seen {
		t.Helper()
		return harness.Until(t, "a mail that begins with "+text, func() (emailtest.Seen, bool) {
			for _, raw := range server.Ada.Mails(t) {
				if seen := (emailtest.Mail{Raw: emailtest.CRLF(raw)}).Read(t); strings.HasPrefix(seen.Text, text) {
					return seen, true
				}
			}
			return emailtest.Seen{}, false
		})
	}

	send(p.address, "bot@example.test", p.letter("To: bot@example.test\nSubject: add\n", "/file_manager append disk=local path=real.txt content=line;\n"))
	asked := arrived("⚠️ Add to the file at real.txt")
	question := pendingOf(t, w, p.address)
	// Eve's server may not send for example.test, whatever her From says.
	back := strings.Trim(asked.Get("Reply-To"), "<>")
	send("eve@attacker.test", back, p.reply(asked, "yes"))
	w.Engine().AwaitLog(t, "neither DKIM nor SPF proves the sender")
	require.Equal(t, "waiting", w.API.State(t, question.ID).Status)
	send(p.address, back, p.reply(asked, "yes"))
	require.Equal(t, "completed", w.API.Result(t, question.ID).Status)
	arrived("✅ Approved by ada at ")
	require.Equal(t, "Re: add", arrived("✅ Done: file_manager append").Title)
	require.Equal(t, "line;", w.Read(t, "real.txt"))

	// The mail server takes a question for another one, which then knows nobody of that name.
	server.Away.Gone("bob@away.test")
	lost := w.API.Invoke(t, harness.File("append", "away.txt", "content", "x").In("email", "bob@away.test"))
	w.Engine().AwaitLog(t, "a question could not be delivered")
	ended := w.API.Result(t, lost)
	require.Equal(t, [2]string{"PERMISSION_DENIED", "undeliverable"}, [2]string{ended.Code, ended.Reason})
	require.Contains(t, w.Engine().Log(), "thread=email:bob@away.test")
	require.False(t, w.Exists("away.txt"))
}
