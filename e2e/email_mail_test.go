package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email/emailtest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// botAddress is where the bot's mail comes in.
const botAddress = "bot@bot.test"

// mail is what a worker with a mailbox needs: a Dovecot with that mailbox, an SMTP server that
// keeps what the bot sends, and a DNS with the keys by which people's mail is signed.
type mail struct {
	box    *emailtest.Dovecot
	out    *emailtest.Sink
	zone   *emailtest.Zone
	domain *emailtest.Domain // of everybody: example.test
	dns    string

	people, letters atomic.Int64
}

// crowd is how many people besides ada and bob are known: each has a conversation of their own.
const crowd = 30

func newMail(t *testing.T) *mail {
	t.Helper()
	m := &mail{box: emailtest.NewDovecot(t), out: emailtest.NewSink(t), zone: &emailtest.Zone{}}
	m.domain = emailtest.NewDomain(t, m.zone, "example.test")
	m.dns = m.zone.Serve(t)
	return m
}

func (m *mail) settings(more map[string]string) map[string]string {
	settings := map[string]string{
		"LARACLAW_IMAP_HOST": m.box.Host, "LARACLAW_IMAP_PORT": strconv.Itoa(m.box.TLSPort), "LARACLAW_IMAP_ENCRYPTION": "ssl",
		"LARACLAW_IMAP_USERNAME": "bot", "LARACLAW_IMAP_PASSWORD": m.box.Password,
		"LARACLAW_SMTP_HOST": "127.0.0.1", "LARACLAW_SMTP_PORT": strconv.Itoa(m.out.Port), "LARACLAW_SMTP_ENCRYPTION": "none",
		"LARACLAW_SMTP_USERNAME": m.out.Username, "LARACLAW_SMTP_PASSWORD": m.out.Password,
		"LARACLAW_SMTP_FROM_ADDRESS": botAddress, "LARACLAW_SMTP_FROM_NAME": "Countersign",
		"COUNTERSIGN_EMAIL_TOKEN_SECRET": "e2e-token-Secret-0123456789", "COUNTERSIGN_EMAIL_DNS": m.dns,
		"COUNTERSIGN_PEOPLE": mailPeople(), "SSL_CERT_FILE": m.box.CertFile,
	}
	maps.Copy(settings, more)
	return settings
}

// mailPeople are the World's own, with addresses.
func mailPeople() string {
	hash := func(name string) string {
		sum := sha256.Sum256([]byte(harness.Token(name)))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	people := []string{fmt.Sprintf(`{name: robot, role: agent, tokens: [%q]}`, hash(harness.Robot))}
	for _, name := range []string{harness.Ada, harness.Bob} {
		people = append(people, fmt.Sprintf(`{name: %s, owner: %t, email: [%s@example.test], telegram: [%d], tokens: [%q]}`,
			name, name == harness.Ada, name, map[string]int{harness.Ada: ada, harness.Bob: bob}[name], hash(name)))
	}
	for n := range crowd {
		people = append(people, fmt.Sprintf(`{name: u%d, email: [u%d@example.test], tokens: [%q]}`, n, n, hash("u"+strconv.Itoa(n))))
	}
	return "[" + strings.Join(people, ", ") + "]"
}

// world starts a World that has this mailbox, and waits until the mailbox is listened to.
func (m *mail) world(t *testing.T, setup harness.Setup) *harness.World {
	t.Helper()
	setup.Env = m.settings(setup.Env)
	w := harness.New(t, setup)
	w.Engine().AwaitLog(t, `msg="listening to the mailbox"`)
	return w
}

// writer is somebody at a mail program.
type writer struct {
	m       *mail
	name    string
	address string
}

func (m *mail) writer(name string) writer { return writer{m, name, name + "@example.test"} }

// somebody has not written yet.
func (m *mail) somebody(t *testing.T) writer {
	t.Helper()
	n := m.people.Add(1) - 1
	require.Less(t, n, int64(crowd), "more people are needed")
	return m.writer("u" + strconv.FormatInt(n, 10))
}

// letter is what a mail program makes of what somebody writes.
func (p writer) letter(header, body string) string {
	for name, line := range map[string]string{
		"From: ": "From: " + strings.ToUpper(p.name) + " <" + p.address + ">\n", "To: ": "To: Countersign <" + botAddress + ">\n",
		"Message-ID: ": fmt.Sprintf("Message-ID: <%s-%d@example.test>\n", p.name, p.m.letters.Add(1)),
		"Date: ":       "Date: Mon, 1 Jan 2029 09:00:00 +0000\n", "MIME-Version: ": "MIME-Version: 1.0\n",
	} {
		if !strings.Contains("\n"+header, "\n"+name) {
			header += line
		}
	}
	return header + "\n" + body
}

// send signs a mail as the writer's provider does and puts it into the bot's mailbox.
func (p writer) send(t *testing.T, letter string) {
	t.Helper()
	p.m.box.Mailbox.Deliver(t, p.m.domain.Sign(t, letter))
}

// writes sends a new mail.
func (p writer) writes(t *testing.T, subject, text string) {
	t.Helper()
	p.send(t, p.letter("Subject: "+subject+"\n", text+"\n"))
}

// reply is an answer as programs write it: the text, all of the other mail below it, and the
// same once more as HTML.
func (p writer) reply(to emailtest.Seen, text string, header ...string) string {
	back := to.Get("Reply-To")
	if back == "" {
		back = to.Get("From")
	}
	head := "To: " + back + "\nSubject: " + "Re: " + strings.TrimPrefix(to.Get("Subject"), "Re: ") + "\nIn-Reply-To: " + to.Get("Message-ID") +
		"\nReferences: " + strings.TrimSpace(to.Get("References")+" "+to.Get("Message-ID")) +
		"\nContent-Type: multipart/alternative; boundary=alt\n" + strings.Join(header, "")
	quoted := "> " + strings.ReplaceAll(strings.TrimSpace(to.Text), "\n", "\n> ")
	said := strings.ReplaceAll(html.EscapeString(text), "\n", "<br>")
	return p.letter(head, "--alt\nContent-Type: text/plain; charset=utf-8; format=flowed\n\n"+text+
		"\n\nOn Mon, 1 Jan 2029 at 09:00, Countersign\n<"+botAddress+"> wrote:\n\n"+quoted+
		"\n--alt\nContent-Type: text/html; charset=utf-8\n\n<html><head><style>p {margin: 0}</style></head><body><div dir=\"ltr\">"+said+
		"</div><br><div class=\"quote\">On Mon, 1 Jan 2029 at 09:00, Countersign wrote:<blockquote>"+
		strings.ReplaceAll(html.EscapeString(to.Text), "\n", "<br>")+"</blockquote></div></body></html>\n--alt--\n")
}

// answers replies to a mail of the bot's.
func (p writer) answers(t *testing.T, to emailtest.Seen, text string) {
	t.Helper()
	p.send(t, p.reply(to, text))
}

// await waits for a mail of the bot's whose text begins so.
func (p writer) await(t *testing.T, text string) emailtest.Seen {
	t.Helper()
	found, ok := p.m.out.Await(bounded(t), func(m emailtest.Mail) bool {
		return m.To[0] == p.address && strings.HasPrefix(m.Read(t).Text, text)
	})
	require.True(t, ok, "no mail to %s begins with %q: %q", p.address, text, p.texts(t))
	return found.Read(t)
}

// texts are the first lines of all that the bot has sent to somebody.
func (p writer) texts(t *testing.T) (texts []string) {
	t.Helper()
	for _, m := range p.m.out.Mails() {
		if m.To[0] == p.address {
			line, _, _ := strings.Cut(m.Read(t).Text, "\n")
			texts = append(texts, strings.TrimSpace(line))
		}
	}
	return texts
}

// countFiles counts the files on the disk local that a pattern fits.
func countFiles(t *testing.T, w *harness.World, pattern string) int {
	t.Helper()
	names, err := filepath.Glob(w.File(pattern))
	require.NoError(t, err)
	return len(names)
}
