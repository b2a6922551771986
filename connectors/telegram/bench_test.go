package telegram_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

const secret = "webhook-Secret_0123456789"

// People of the tests: ada and bob are configured, eve is not.
var (
	ada = telegramtest.Person{ID: 1001, FirstName: "Ada", Username: "ada"}
	bob = telegramtest.Person{ID: 1002, FirstName: "Bob"}
	eve = telegramtest.Person{ID: 6666, FirstName: "ada"} // her display name is somebody else's
	bot = telegramtest.Person{ID: 4242, FirstName: "Other", IsBot: true}

	group = telegramtest.Chat{ID: -100200, Type: "supergroup"}
)

func identify(platformID string) chat.Person {
	return chat.Person{
		ID:    platformID,
		Name:  map[string]string{"telegram:1001": "ada", "telegram:1002": "bob"}[platformID],
		Owner: platformID == "telegram:1001",
	}
}

// bench is a connector between a Telegram server and a recording desk.
type bench struct {
	*telegram.Connector
	server *telegramtest.Server
	desk   *connectortest.Desk
	files  *disk
	log    *connectortest.Log
}

func newBench(t testing.TB, change ...func(*telegram.Params)) *bench {
	t.Helper()
	return benchFor(t, &connectortest.Desk{}, change...)
}

func benchFor(t testing.TB, desk *connectortest.Desk, change ...func(*telegram.Params)) *bench {
	t.Helper()
	b := &bench{server: telegramtest.New(), desk: desk, files: newDisk(), log: &connectortest.Log{}}
	t.Cleanup(b.server.Close)
	p := telegram.Params{
		Token: b.server.Token, APIURL: b.server.URL(), WebhookSecret: secret,
		Identify: identify, Desk: desk, Files: b.files,
		Logger:      slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		PollTimeout: time.Second,
	}
	for _, c := range change {
		c(&p)
	}
	connector, err := telegram.New(p)
	require.NoError(t, err)
	b.Connector = connector
	return b
}

// post calls the webhook as Telegram does and returns the status.
func (b *bench) post(ctx context.Context, secret string, body []byte) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, telegram.WebhookPath, bytes.NewReader(body))
	if secret != "" {
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, r)
	return w.Code
}

// update posts {"update_id": id, kind: value} with the right secret.
func (b *bench) update(t testing.TB, id int, kind string, value any) int {
	t.Helper()
	body, err := json.Marshal(map[string]any{"update_id": id, kind: value})
	require.NoError(t, err)
	return b.post(t.Context(), secret, body)
}

// say posts a message.
func (b *bench) say(t testing.TB, id int, where telegramtest.Chat, who telegramtest.Person, text string, options ...telegramtest.Option) int {
	t.Helper()
	return b.update(t, id, "message", b.server.Compose(where, who, text, options...))
}

func thread(key string) chat.Thread { return chat.Thread{Connector: chat.Telegram, Key: key} }

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
	free := name
	for n := 1; d.content["inbound/"+uuid+"/"+free] != nil; n++ {
		stem, ext, _ := strings.Cut(name, ".")
		free = fmt.Sprintf("%s-%d.%s", stem, n, ext)
	}
	path := "inbound/" + uuid + "/" + free
	d.content[path] = content
	return fileOf(path, content), nil
}

func (d *disk) Saved(_ context.Context, uuid, name string) (chat.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := "inbound/" + uuid + "/" + name
	content, there := d.content[path]
	if !there {
		return chat.File{}, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return fileOf(path, content), nil
}

func fileOf(path string, content []byte) chat.File {
	sum := sha256.Sum256(content)
	return chat.File{Name: filepath.Base(path), Path: path, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
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

func (d *disk) paths() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var paths []string
	for path := range d.content {
		paths = append(paths, path)
	}
	return paths
}

// progress is a chat.Progress in memory.
type progress = connectortest.Progress
