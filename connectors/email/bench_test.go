package email_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/mail"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
	"github.com/countersignhq/countersign/disks"
)

const (
	botAddress = "bot@bot.test"
	tokenKey   = "token-Secret-0123456789abcdef"
	ada        = "ada@example.test"
)

// ada and bob are configured, eve is not.
func identify(id string) chat.Person {
	return chat.Person{ID: id, Name: map[string]string{
		"email:" + ada: "ada", "email:bob@example.test": "bob", "email:kim@example.test": "kim", "email:" + botAddress: "the bot's own box",
	}[id]}
}

// bench is a connector between an SMTP server, a DNS and a recording desk.
type bench struct {
	*email.Connector
	sink  *emailtest.Sink
	zone  *emailtest.Zone
	dkim  *emailtest.Domain // of ada and bob
	desk  *connectortest.Desk
	store *attachments.Store
	files *disk
	log   *connectortest.Log
}

func newBench(t testing.TB, change ...func(*email.Params)) *bench {
	t.Helper()
	return benchFor(t, &connectortest.Desk{}, change...)
}

func benchFor(t testing.TB, desk *connectortest.Desk, change ...func(*email.Params)) *bench {
	t.Helper()
	all, err := disks.Open(t.Context(), disks.Params{URLs: map[string]string{"files": "mem://"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	d, err := all.Unguarded("files")
	require.NoError(t, err)
	store, err := attachments.New(attachments.Params{Disk: d})
	require.NoError(t, err)

	b := &bench{sink: emailtest.NewSink(t), zone: &emailtest.Zone{}, desk: desk, store: store, files: &disk{store: store}, log: &connectortest.Log{}}
	b.dkim = emailtest.NewDomain(t, b.zone, "example.test")
	p := email.Params{
		IMAP: email.Server{Host: "127.0.0.1", Port: 1, Encryption: email.NoTLS, Username: "bot", Password: "imap-Secret-0123456789"},
		SMTP: email.Server{
			Host: "127.0.0.1", Port: b.sink.Port, Encryption: email.NoTLS, Username: b.sink.Username, Password: b.sink.Password,
		},
		Address: botAddress, Name: "Countersign", TokenSecret: tokenKey, Resolver: b.zone,
		Identify: identify, Desk: desk, Files: b.files,
		Logger:   slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		SpoolDir: t.TempDir(),
	}
	for _, c := range change {
		c(&p)
	}
	b.Connector, err = email.New(p)
	require.NoError(t, err)
	b.Hurry(time.Minute)
	return b
}

// secrets may stand nowhere.
func (b *bench) secrets() []string {
	return []string{b.sink.Password, "imap-Secret-0123456789", tokenKey, b.Token("01J9ZQ6V5R8K3M2N4P7S9T0W1X", ada)}
}

var unique atomic.Int64

// from is a mail of ada's, not signed, with a Message-ID of its own; header lines go in front.
func from(header, body string) string {
	if header != "" && !strings.HasSuffix(header, "\n") {
		header += "\n"
	}
	for name, line := range map[string]string{
		"From: ": "From: Ada <" + ada + ">\n", "To: ": "To: " + botAddress + "\n",
		"Message-ID: ": fmt.Sprintf("Message-ID: <unique-%d@example.test>\n", unique.Add(1)),
		"Date: ":       "Date: " + time.Now().Format(time.RFC1123Z) + "\n",
	} {
		if !strings.Contains("\n"+header, "\n"+name) {
			header += line
		}
	}
	return header + "\n" + body
}

// receive takes a mail that ada's domain has signed and returns what came of it.
func (b *bench) receive(t testing.TB, raw string) (chat.Message, string) {
	t.Helper()
	return b.receiveRaw(t, b.dkim.Sign(t, raw))
}

func (b *bench) receiveRaw(t testing.TB, raw string) (chat.Message, string) {
	t.Helper()
	before := len(b.desk.Messages())
	reason, err := b.Receive(t.Context(), emailtest.CRLF(raw), time.Now())
	require.NoError(t, err)
	got := b.desk.Messages()
	if reason != "" {
		require.Len(t, got, before)
		return chat.Message{}, reason
	}
	require.Len(t, got, before+1)
	return got[before], ""
}

func thread(address string) chat.Thread { return chat.Thread{Connector: chat.Email, Key: address} }

func card(invocation string) chat.Card {
	return chat.Card{
		Invocation: invocation, Thread: thread(ada),
		Text: "⚠️ Delete the file at reports/old.csv on disk local? Reply 'Yes' to confirm.",
		Buttons: []chat.Button{
			{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo},
			{Label: "Always allow", Action: chat.ActionAlways},
		},
	}
}

// disk is the attachments disk as the worker hands it to connectors.
type disk struct {
	store *attachments.Store
	mu    sync.Mutex
	fail  error
	saves int
}

func (d *disk) Save(ctx context.Context, uuid, name string, r io.Reader) (chat.File, error) {
	d.mu.Lock()
	fail := d.fail
	d.saves++
	d.mu.Unlock()
	if fail != nil {
		return chat.File{}, fail
	}
	return d.store.Inbound(uuid).Set(ctx, name, r)
}

func (d *disk) Saved(ctx context.Context, uuid, name string) (chat.File, error) {
	content, file, err := d.store.Inbound(uuid).Open(ctx, attachments.SafeName(name))
	if err != nil {
		return chat.File{}, err
	}
	defer content.Close()
	sum := sha256.New()
	if file.Size, err = io.Copy(sum, content); err != nil {
		return chat.File{}, err
	}
	file.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return file, nil
}

func (d *disk) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	return d.store.OpenPath(ctx, path)
}

func (d *disk) breakDown(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

func (b *bench) content(t testing.TB, file chat.File) string {
	t.Helper()
	r, err := b.files.Open(t.Context(), file.Path)
	require.NoError(t, err)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

// put stores a file that goes out.
func (b *bench) put(t testing.TB, name string, content []byte) chat.File {
	t.Helper()
	file, err := b.store.Outbound("u-1").Set(t.Context(), name, bytes.NewReader(content))
	require.NoError(t, err)
	return file
}

// sent is a mail of ours as a recipient's program reads it.
type sent struct {
	mail.Header
	text  string
	files []connectortest.Shown
	to    []string
}

func parse(t testing.TB, m emailtest.Mail) sent {
	t.Helper()
	seen := m.Read(t)
	s := sent{Header: seen.Header, text: seen.Text, to: seen.To}
	for _, f := range seen.Files {
		s.files = append(s.files, connectortest.Shown{File: f.Name, Content: f.Content})
	}
	return s
}

func (b *bench) sent(t testing.TB) []sent {
	t.Helper()
	var all []sent
	for _, m := range b.sink.Mails() {
		all = append(all, parse(t, m))
	}
	return all
}

// progress is a chat.Progress in memory.
type progress = connectortest.Progress

func id(n int) string { return fmt.Sprintf("Message-ID: <m%d@example.test>\n", n) }

func readDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
