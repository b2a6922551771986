package email_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

func step(t *testing.T, b *bench, err error, want email.Step, temporary bool) {
	t.Helper()
	var failed *email.StepError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, want, failed.Step, err)
	require.Equal(t, temporary, failed.Err.Temporary, err)
	for _, secret := range b.secrets() {
		require.NotContains(t, err.Error(), secret)
	}
}

// free is a port at which nobody answers.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().(*net.TCPAddr).Port
}

// talks is a server that says one thing to everybody.
func talks(t *testing.T, text string) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(text))
			conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

const page = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n<html><body>no</body></html>"

func TestCheckMailbox(t *testing.T) {
	t.Parallel()
	server := emailtest.NewDovecot(t)
	good := func(encryption string) *bench {
		return newBench(t, listens(server), func(p *email.Params) {
			p.IMAP.Encryption, p.IMAP.TLS = encryption, server.Trust
			if encryption == email.TLS {
				p.IMAP.Port = server.TLSPort
			}
		})
	}
	for _, encryption := range []string{email.NoTLS, email.StartTLS, email.TLS} {
		found, err := good(encryption).CheckMailbox(t.Context())
		require.NoError(t, err, encryption)
		require.Equal(t, email.Mailbox{Idle: true}, found)
	}
	for name, test := range map[string]struct {
		change    func(*email.Params)
		step      email.Step
		temporary bool
	}{
		"nobody there":       {func(p *email.Params) { p.IMAP.Port = free(t) }, email.StepConnect, true},
		"no such host":       {func(p *email.Params) { p.IMAP.Host = "imap.invalid" }, email.StepConnect, true},
		"a web server":       {func(p *email.Params) { p.IMAP.Port = talks(t, page) }, email.StepGreet, true},
		"TLS at the other":   {func(p *email.Params) { p.IMAP.Encryption = email.TLS }, email.StepEncrypt, true},
		"unknown authority":  {func(p *email.Params) { p.IMAP.Encryption = email.StartTLS }, email.StepEncrypt, true},
		"a wrong password":   {func(p *email.Params) { p.IMAP.Password = "wrong-Secret-0123456789" }, email.StepSignIn, false},
		"no such mailbox":    {func(p *email.Params) { p.Mailbox = "Archive" }, email.StepOpen, true},
		"hangs up after tls": {func(p *email.Params) { p.IMAP.Port, p.IMAP.Encryption = talks(t, ""), email.TLS }, email.StepEncrypt, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, listens(server), test.change)
			found, err := b.CheckMailbox(t.Context())
			step(t, b, err, test.step, test.temporary)
			require.NotContains(t, err.Error(), "wrong-Secret")
			if test.step == email.StepOpen {
				require.Equal(t, []string{"INBOX"}, found.Others)
			}
		})
	}
}

func TestCheckOutbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	found, err := b.CheckOutbox(t.Context())
	require.NoError(t, err)
	require.Equal(t, email.Outbox{}, found)
	require.Empty(t, b.sink.Copies(), "no mail is sent")

	open := newBench(t, func(p *email.Params) { p.SMTP.Username, p.SMTP.Password = "", "" })
	found, err = open.CheckOutbox(t.Context())
	require.NoError(t, err)
	require.True(t, found.Open)

	for name, test := range map[string]struct {
		change    func(*email.Params)
		step      email.Step
		temporary bool
	}{
		"nobody there":     {func(p *email.Params) { p.SMTP.Port = free(t) }, email.StepConnect, true},
		"a web server":     {func(p *email.Params) { p.SMTP.Port = talks(t, page) }, email.StepGreet, true},
		"greets with 554":  {func(p *email.Params) { p.SMTP.Port = talks(t, "554 no service\r\n") }, email.StepGreet, false},
		"no STARTTLS":      {func(p *email.Params) { p.SMTP.Encryption = email.StartTLS }, email.StepEncrypt, true},
		"no TLS":           {func(p *email.Params) { p.SMTP.Encryption = email.TLS }, email.StepEncrypt, true},
		"a wrong password": {func(p *email.Params) { p.SMTP.Password = "wrong-Secret-0123456789" }, email.StepSignIn, false},
		"no AUTH there": {func(p *email.Params) {
			p.SMTP.Port = talks(t, "220 hi\r\n250-smtp.example.test\r\n250 SIZE 1000\r\n221 bye\r\n")
		}, email.StepSignIn, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.change)
			_, err := b.CheckOutbox(t.Context())
			step(t, b, err, test.step, test.temporary)
			require.NotContains(t, err.Error(), "wrong-Secret")
		})
	}
}

func TestCheckNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.NoError(t, b.CheckNames(t.Context()), "that there is no record is an answer")
	require.Equal(t, []string{"bot.test"}, b.zone.Asked())
	b.zone.Break("bot.test", true)
	err := b.CheckNames(t.Context())
	classified(t, err, true)
	require.NotErrorAs(t, err, new(*net.DNSError), "cleaned")
}
