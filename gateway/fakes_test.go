package gateway

import (
	"bytes"
	"context"
	"encoding/json"
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

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

// fakeEngine keeps what it was handed and answers as told.
type fakeEngine struct {
	mu        sync.Mutex
	delivered []chat.Message
	started   []contract.Invocation
	answers   []contract.Answer
	asked     []string // ids given to State, Decide and Revoke
	waits     []time.Duration

	turn    contract.TurnResult
	states  map[string]contract.State
	verdict chat.Verdict
	grants  []ListedGrant
	err     error
	panics  bool
	blocks  bool // Turn waits for its context
}

func (e *fakeEngine) Deliver(_ context.Context, m chat.Message) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.delivered = append(e.delivered, m)
	}
	return e.err
}

func (e *fakeEngine) Click(context.Context, chat.Click) (chat.Verdict, error) {
	return e.verdict, e.err
}

func (e *fakeEngine) Start(_ context.Context, i contract.Invocation) (string, error) {
	if e.panics {
		panic("token cs_secret in a panic")
	}
	e.started = append(e.started, i)
	return i.ID, e.err
}

func (e *fakeEngine) State(_ context.Context, id string, wait time.Duration) (contract.State, error) {
	e.asked, e.waits = append(e.asked, id), append(e.waits, wait)
	state, ok := e.states[id]
	if !ok && e.err == nil {
		return state, fmt.Errorf("describe %s: %w", id, ErrNotFound)
	}
	return state, e.err
}

func (e *fakeEngine) Invocations(context.Context, int) ([]contract.State, error) {
	return e.list(""), e.err
}

func (e *fakeEngine) Pending(context.Context) ([]contract.State, error) {
	return e.list(pending), e.err
}

func (e *fakeEngine) list(status string) (states []contract.State) {
	for _, s := range e.states {
		if status == "" || s.Approval != nil && s.Approval.Status == status {
			states = append(states, s)
		}
	}
	return states
}

func (e *fakeEngine) Decide(_ context.Context, id string, a contract.Answer) (chat.Verdict, error) {
	e.asked, e.answers = append(e.asked, id), append(e.answers, a)
	return e.verdict, e.err
}

func (e *fakeEngine) Grants(context.Context, *chat.Thread) ([]ListedGrant, error) {
	return e.grants, e.err
}

func (e *fakeEngine) Revoke(_ context.Context, id, by string) error {
	e.asked = append(e.asked, id+" by "+by)
	return e.err
}

func (e *fakeEngine) Turn(ctx context.Context, _ string) (contract.TurnResult, error) {
	if e.blocks {
		<-ctx.Done()
		return contract.TurnResult{}, ctx.Err()
	}
	return e.turn, e.err
}

func (e *fakeEngine) Healthy(context.Context) error { return e.err }

// fakeIdentity knows three tokens: owner-token, approver-token, agent-token.
type fakeIdentity struct{}

func (fakeIdentity) Token(hash string) (chat.Person, string, bool) {
	for _, role := range []string{RoleOwner, RoleApprover, RoleAgent} {
		if hash == TokenHash(role+"-token") {
			name := map[string]string{RoleOwner: "ada", RoleApprover: "bob", RoleAgent: "robot"}[role]
			return chat.Person{ID: "api:" + name, Name: name}, role, true
		}
	}
	return chat.Person{}, "", false
}

func (fakeIdentity) Person(ref string) (chat.Person, bool) {
	switch ref {
	case "ada", "telegram:1001":
		return chat.Person{ID: "telegram:1001", Name: "ada"}, true
	case "bob":
		return chat.Person{Name: "bob"}, true
	}
	return chat.Person{}, false
}

// fakeDisk is an attachments disk in memory.
type fakeDisk struct {
	mu    sync.Mutex
	files map[string]string
	size  int64 // that is said of every file, if it is not 0
}

func (d *fakeDisk) Save(_ context.Context, uuid, name string, content io.Reader) (chat.File, error) {
	data, err := io.ReadAll(content)
	if err != nil {
		return chat.File{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	path := "inbound/" + uuid + "/" + name
	d.files[path] = string(data)
	return chat.File{Name: name, Path: path, Size: int64(len(data))}, nil
}

func (d *fakeDisk) Discard(_ context.Context, uuid, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.files, "inbound/"+uuid+"/"+name)
	return nil
}

func (d *fakeDisk) Open(_ context.Context, uuid, name string) (io.ReadCloser, int64, error) {
	return d.open("outbound/" + uuid + "/" + name)
}

func (d *fakeDisk) open(path string) (io.ReadCloser, int64, error) {
	content, ok := d.files[path]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	size := int64(len(content))
	if d.size != 0 {
		size = d.size
	}
	return io.NopCloser(strings.NewReader(content)), size, nil
}

type fakeDelivered struct{ *fakeDisk }

func (d fakeDelivered) Open(_ context.Context, owner, uuid, name string) (io.ReadCloser, int64, error) {
	return d.open(owner + "/" + uuid + "/" + name)
}

func (d fakeDelivered) Remove(_ context.Context, owner, uuid string) error {
	for path := range d.files {
		if strings.HasPrefix(path, owner+"/"+uuid+"/") {
			delete(d.files, path)
		}
	}
	return nil
}

type fakeEvents chan Event

func (e fakeEvents) Subscribe(context.Context) <-chan Event { return e }

type bench struct {
	t      *testing.T
	engine *fakeEngine
	disk   *fakeDisk
	events fakeEvents
	server *httptest.Server
	log    *bytes.Buffer
	now    time.Time
}

func newBench(t *testing.T, change ...func(*Params)) *bench {
	t.Helper()
	b := &bench{
		t: t, engine: &fakeEngine{states: map[string]contract.State{}}, disk: &fakeDisk{files: map[string]string{}},
		events: make(fakeEvents, 8), log: &bytes.Buffer{}, now: time.Date(2029, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	params := Params{
		Engine: b.engine, Events: b.events, Identity: fakeIdentity{}, Attachments: b.disk,
		Delivered: fakeDelivered{b.disk}, Logger: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: func() time.Time { return b.now }, NewUUID: uuid.NewString, UIURL: "http://127.0.0.1:8233", Version: "test",
		Tools: []tool.Tool{{Name: "file_manager", Operations: []tool.Operation{
			{Name: "delete", Kind: tool.Danger, Prompt: "Delete {path}?", Schema: `{"type":"object"}`},
		}}},
	}
	for _, c := range change {
		c(&params)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = NewServer(t.Context(), New(params))
	server.Start()
	t.Cleanup(server.Close)
	b.server = server
	return b
}

type reply struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

// do sends a request as a role ("" for no token) and reads the whole answer.
func (b *bench) do(role, method, path, body string, headers ...string) reply {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.server.URL+path, strings.NewReader(body))
	require.NoError(b.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if role != "" {
		request.Header.Set("Authorization", "Bearer "+role+"-token")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := b.server.Client().Do(request)
	require.NoError(b.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	answer := reply{status: response.StatusCode, header: response.Header, raw: string(raw)}
	if strings.Contains(response.Header.Get("Content-Type"), "json") {
		require.NoError(b.t, json.Unmarshal(raw, &answer.body), string(raw))
	}
	if answer.status >= 400 {
		require.Equal(b.t, "application/problem+json", response.Header.Get("Content-Type"), string(raw))
		require.EqualValues(b.t, answer.status, answer.body["status"])
		require.NotEmpty(b.t, answer.body["detail"])
		require.NotEmpty(b.t, answer.body["title"])
	}
	return answer
}
