package slack_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

// People of the tests: ada and bob are configured, eve is not; mallory is of another workspace.
const (
	ada, bob, eve, mallory = "U01", "U02", "U06", "U09"

	dm      = "D01" // ada's direct messages
	channel = "C01"
)

func identify(platformID string) chat.Person {
	return chat.Person{
		ID:    platformID,
		Name:  map[string]string{"slack:T01/U01": "ada", "slack:T01/U02": "bob"}[platformID],
		Owner: platformID == "slack:T01/U01",
	}
}

// bench is a connector between a Slack and a recording desk.
type bench struct {
	*slack.Connector
	server *slacktest.Server
	desk   *connectortest.Desk
	files  *disk
	log    *connectortest.Log

	mu    sync.Mutex
	known map[string]bool // threads that the bot is in, by key
	asked []string
	fail  error
}

func newBench(t testing.TB, change ...func(*slack.Params)) *bench {
	t.Helper()
	return benchFor(t, &connectortest.Desk{}, change...)
}

func benchFor(t testing.TB, desk *connectortest.Desk, change ...func(*slack.Params)) *bench {
	t.Helper()
	b := &bench{server: slacktest.New(), desk: desk, files: newDisk(), log: &connectortest.Log{}, known: map[string]bool{}}
	t.Cleanup(b.server.Close)
	b.server.Resend = time.Millisecond
	var mu sync.Mutex
	uuids := 0
	p := slack.Params{
		BotToken: b.server.BotToken, AppToken: b.server.AppToken, SigningSecret: b.server.SigningSecret, APIURL: b.server.URL(),
		Identify: identify, KnownThread: b.knows, Desk: desk, Files: b.files,
		Logger: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		NewUUID: func() string {
			mu.Lock()
			defer mu.Unlock()
			uuids++
			return fmt.Sprintf("uuid-%d", uuids)
		},
	}
	for _, c := range change {
		c(&p)
	}
	connector, err := slack.New(p)
	require.NoError(t, err)
	b.Connector = connector
	t.Cleanup(connector.Wait)
	return b
}

// knows is Params.KnownThread.
func (b *bench) knows(_ context.Context, thread chat.Thread) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, thread.Key)
	return b.known[thread.Key], b.fail
}

func (b *bench) know(keys ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range keys {
		b.known[key] = true
	}
}

func (b *bench) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(slack.EventsPath, b.EventsHandler())
	mux.Handle(slack.InteractivityPath, b.InteractivityHandler())
	return mux
}

// call posts a body as Slack does, with these changes, and returns the answer.
func (b *bench) call(ctx context.Context, kind slacktest.Kind, body []byte, change ...func(http.Header)) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, string(kind), bytes.NewReader(body))
	b.server.Sign(r.Header, time.Now(), body)
	for _, c := range change {
		c(r.Header)
	}
	w := httptest.NewRecorder()
	b.handler().ServeHTTP(w, r)
	return w
}

// send posts a payload with the right signature and returns the status.
func (b *bench) send(t testing.TB, kind slacktest.Kind, payload map[string]any) int {
	t.Helper()
	body, _ := slacktest.Body(kind, payload)
	return b.call(t.Context(), kind, body).Code
}

// say posts a message event.
func (b *bench) say(t testing.TB, channel, user, text string, options ...slacktest.Option) int {
	t.Helper()
	return b.send(t, slacktest.Events, b.server.Compose(channel, user, text, options...))
}

// press posts the press of a button.
func (b *bench) press(t testing.TB, user string, m slacktest.Message, label string, options ...slacktest.Option) int {
	t.Helper()
	payload, err := b.server.ComposePress(user, m, label, options...)
	require.NoError(t, err)
	return b.send(t, slacktest.Interactive, payload)
}

// asks posts a question and returns it as it stands.
func (b *bench) asks(t testing.TB, key string) (slacktest.Message, chat.Receipt) {
	t.Helper()
	receipt, err := b.Post(t.Context(), card(key))
	require.NoError(t, err)
	where, ts, _ := strings.Cut(receipt.Ref, "/")
	for _, m := range b.server.Sent(where) {
		if m.TS == ts {
			return m, receipt
		}
	}
	require.Fail(t, "the question is not there", receipt.Ref)
	return slacktest.Message{}, receipt
}

// only is the one message that arrived.
func (b *bench) only(t testing.TB) chat.Message {
	t.Helper()
	got := b.desk.Messages()
	require.Len(t, got, 1)
	return got[0]
}

func thread(key string) chat.Thread { return chat.Thread{Connector: chat.Slack, Key: key} }

func card(key string) chat.Card {
	return chat.Card{
		Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X", Thread: thread(key),
		Text: "⚠️ Delete the file at reports/old.csv on disk local? Reply 'Yes' to confirm.",
		Buttons: []chat.Button{
			{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo},
			{Label: "Always allow", Action: chat.ActionAlways},
		},
	}
}

// classified is the connector's error.
func classified(t testing.TB, err error) *chat.Error {
	t.Helper()
	var out *chat.Error
	require.ErrorAs(t, err, &out)
	return out
}

// disk is an attachments disk in memory.
type disk struct {
	mu      sync.Mutex
	content map[string][]byte
	fail    error
}

func newDisk() *disk { return &disk{content: map[string][]byte{}} }

func (d *disk) Save(_ context.Context, uuid, name string, r io.Reader) (chat.File, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return chat.File{}, fmt.Errorf("saving: %s", err) // not wrapped, like some libraries
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return chat.File{}, d.fail
	}
	path := "inbound/" + uuid + "/" + name
	d.content[path] = content
	sum := sha256.Sum256(content)
	return chat.File{Name: name, Path: path, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}, nil
}

func (d *disk) Open(_ context.Context, path string) (io.ReadCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	content, there := d.content[path]
	if !there {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (d *disk) put(name string, content []byte) chat.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := "outbound/u-1/" + name
	d.content[path] = content
	return chat.File{Name: name, Path: path, Size: int64(len(content))}
}

func (d *disk) read(path string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.content[path])
}

func (d *disk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.content)
}

// progress is a chat.Progress in memory.
type progress = connectortest.Progress
