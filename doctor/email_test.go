package doctor_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/doctor"
)

// box answers what it is told to.
type box struct {
	mailbox      email.Mailbox
	outbox       email.Outbox
	in, out, dns error
}

func (b box) CheckMailbox(context.Context) (email.Mailbox, error) { return b.mailbox, b.in }
func (b box) CheckOutbox(context.Context) (email.Outbox, error)   { return b.outbox, b.out }
func (b box) CheckNames(context.Context) error                    { return b.dns }

func at(step email.Step) error {
	return &email.StepError{Step: step, Err: &chat.Error{Op: "imap " + string(step), Err: errorOf("the server says no")}}
}

const mailFile = `
people: [{name: ada, owner: true, email: [ada@example.test]}]
email:
  trusted_border: mx.example.test
  imap: {host: imap.example.test, username: bot, password: hidden-0123456789}
  smtp: {host: smtp.example.test, username: bot, password: hidden-0123456789, from_address: Bot@example.test}
`

func TestEmail(t *testing.T) {
	t.Parallel()
	idle := email.Mailbox{Idle: true}
	well := []string{"ok imap", "ok idle", "ok smtp", "ok from", "ok dns", "ok senders", "ok people"}
	instead := func(i, n int, line ...string) []string {
		lines := append([]string(nil), well[:i]...)
		return append(append(lines, line...), well[i+n:]...)
	}
	for name, test := range map[string]struct {
		file string
		box  box
		want []string
		says string
	}{
		"off":            {"", box{}, []string{"off email"}, "LARACLAW_IMAP_HOST"},
		"switched off":   {"email: {enabled: false, imap: {host: x}}", box{}, []string{"off email"}, "email.enabled"},
		"well":           {mailFile, box{mailbox: idle}, well, "mx.example.test"},
		"no idle":        {mailFile, box{}, instead(1, 1, "warn idle"), "no IDLE"},
		"imap away":      {mailFile, box{in: at(email.StepConnect)}, instead(0, 2, "fail imap"), "LARACLAW_IMAP_HOST"},
		"imap no TLS":    {mailFile, box{in: at(email.StepEncrypt)}, instead(0, 2, "fail imap"), "LARACLAW_IMAP_ENCRYPTION"},
		"imap a page":    {mailFile, box{in: at(email.StepGreet)}, instead(0, 2, "fail imap"), "LARACLAW_IMAP_PORT"},
		"imap password":  {mailFile, box{in: at(email.StepSignIn)}, instead(0, 2, "fail imap"), "app password"},
		"imap mailbox":   {mailFile, box{in: at(email.StepOpen), mailbox: email.Mailbox{Others: []string{"INBOX", "Bot"}}}, instead(0, 2, "fail imap"), "INBOX, Bot"},
		"imap odd":       {mailFile, box{in: errorOf("odd")}, instead(0, 2, "fail imap"), "log"},
		"smtp password":  {mailFile, box{mailbox: idle, out: at(email.StepSignIn)}, instead(2, 1, "fail smtp"), "LARACLAW_SMTP_PASSWORD"},
		"smtp open":      {mailFile, box{mailbox: idle, outbox: email.Outbox{Open: true}}, well, "without a password"},
		"no DNS":         {mailFile, box{mailbox: idle, dns: temporary("i/o timeout")}, instead(4, 1, "fail dns"), "DKIM and SPF stand there"},
		"own address":    {"people: [{name: ada, email: [bot@example.test]}]\nemail: {trusted_border: x, imap: {host: i, username: u, password: p}, smtp: {host: s, from_address: Bot@example.test}}", box{mailbox: idle}, instead(3, 1, "fail from"), "mailbox of its own"},
		"only DKIM":      {"people: [{name: ada, email: [a@example.test]}]\nemail: {imap: {host: i, username: u, password: p}, smtp: {host: s, from_address: bot@example.test}}", box{mailbox: idle}, instead(5, 1, "warn senders"), "email.trusted_border"},
		"believed":       {"people: [{name: ada, email: [a@example.test]}]\nemail: {verify_sender_dkim_and_spf: false, imap: {host: i, username: u, password: p}, smtp: {host: s, from_address: bot@example.test}}", box{mailbox: idle}, instead(4, 2, "warn senders"), "without proof"},
		"nobody":         {"email: {trusted_border: x, imap: {host: i, username: u, password: p}, smtp: {host: s, from_address: bot@example.test}}", box{mailbox: idle}, instead(6, 1, "warn people"), "all mail is dropped"},
		"not encrypted":  {"people: [{name: ada, email: [a@example.test]}]\nemail: {trusted_border: x, imap: {host: i, username: u, password: p, encryption: none}, smtp: {host: s, username: u, password: p, encryption: none, from_address: bot@example.test}}", box{mailbox: idle}, []string{"ok imap", "ok idle", "warn imap", "ok smtp", "warn smtp", "ok from", "ok dns", "ok senders", "ok people"}, "travels openly"},
		"local relay":    {"people: [{name: ada, email: [a@example.test]}]\nemail: {trusted_border: x, imap: {host: i, username: u, password: p}, smtp: {host: s, encryption: none, from_address: bot@example.test}}", box{mailbox: idle, outbox: email.Outbox{Open: true}}, well, ""},
		"everything off": {mailFile, box{in: at(email.StepConnect), out: at(email.StepConnect), dns: temporary("x")}, []string{"fail imap", "fail smtp", "ok from", "fail dns", "ok senders", "ok people"}, "firewall"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := examine(t, doctor.Email{Config: load(t, test.file), Box: test.box}.Check)
			require.Equal(t, test.want, found.short(), found)
			found.says(t, test.says)
		})
	}
	settings := examine(t, doctor.Email{Config: load(t, mailFile), Err: errorOf("email.imap needs both")}.Check)
	require.Equal(t, []string{"fail settings"}, settings.short())
}
