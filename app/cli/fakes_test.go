package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/events"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/tool"
)

// fakeEngine does what the engine does, for a file_manager that has files in memory: write
// and exists run at once, delete asks in web and not elsewhere. Time is the test's.
type fakeEngine struct {
	mu      sync.Mutex
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	files   map[string]bool
	calls   map[string]*call
	talks   []chat.Message
	turn    contract.TurnResult
	answer  func() contract.TurnResult // in place of turn
	revoked []string
	noAsk   bool // deny what would ask
}

type call struct {
	state contract.State
	path  string
}

func (e *fakeEngine) Deliver(_ context.Context, m chat.Message) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.talks = append(e.talks, m)
	return nil
}

func (e *fakeEngine) Click(context.Context, chat.Click) (chat.Verdict, error) {
	return chat.Verdict{}, nil
}

func (e *fakeEngine) Start(_ context.Context, i contract.Invocation) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, again := e.calls[i.ID]; again {
		return i.ID, nil
	}
	var sent struct{ Path string }
	if err := json.Unmarshal(i.Parameters, &sent); err != nil {
		return "", err
	}
	c := &call{path: sent.Path, state: contract.State{
		Result: contract.Result{ID: i.ID, Status: "completed"}, Tool: i.Tool, Operation: i.Operation, Thread: i.Thread, Requester: i.Requester.Key(),
	}}
	e.calls[i.ID] = c
	switch i.Operation {
	case "write":
		e.files[sent.Path] = true
	case "exists":
		c.state.Output = json.RawMessage(map[bool]string{true: `{"exists":true}`, false: `{"exists":false}`}[e.files[sent.Path]])
	case "delete":
		if i.Thread.Connector != chat.Web {
			delete(e.files, sent.Path)
			break
		}
		if e.noAsk {
			c.state.Status, c.state.Code, c.state.Reason = "denied", "PERMISSION_DENIED", "no_approver"
			break
		}
		asked, expires := e.now(), e.now().Add(2*time.Minute)
		c.state.Status = "waiting"
		c.state.Approval = &contract.Approval{
			ID: i.ID, Status: "pending", Prompt: "⚠️ Delete the file at " + sent.Path + " on disk local? Reply 'Yes' to confirm.",
			Tool: i.Tool, Operation: i.Operation, Parameters: i.Parameters, Connector: i.Thread.Connector, ThreadKey: i.Thread.Key,
			AskedAt: &asked, ExpiresAt: &expires,
		}
	default: // anything else ends as it is called
		c.state.Status = i.Operation
	}
	return i.ID, nil
}

func (e *fakeEngine) State(ctx context.Context, id string, wait time.Duration) (contract.State, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, ok := e.calls[id]
	if !ok {
		return contract.State{}, gateway.ErrNotFound
	}
	if c.state.Status == "waiting" {
		if err := e.sleep(ctx, wait); err != nil {
			return c.state, err
		}
	}
	e.expire(c)
	return c.state, nil
}

func (e *fakeEngine) expire(c *call) {
	if a := c.state.Approval; a != nil && a.Status == "pending" && !e.now().Before(*a.ExpiresAt) {
		a.Status = "timeout"
		c.state.Status, c.state.Code, c.state.Reason = "denied", "PERMISSION_DENIED", "timeout"
	}
}

func (e *fakeEngine) list(keep func(*call) bool) (states []contract.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.calls {
		if keep(c) {
			states = append(states, c.state)
		}
	}
	return states
}

func (e *fakeEngine) Invocations(context.Context, int) ([]contract.State, error) {
	return e.list(func(*call) bool { return true }), nil
}

func (e *fakeEngine) Pending(context.Context) ([]contract.State, error) {
	return e.list(func(c *call) bool { return c.state.Status == "waiting" }), nil
}

func (e *fakeEngine) Decide(_ context.Context, id string, a contract.Answer) (chat.Verdict, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, ok := e.calls[id]
	if !ok || c.state.Approval == nil {
		return chat.Verdict{Standing: chat.StandingUnknown}, nil
	}
	e.expire(c)
	approval := c.state.Approval
	switch {
	case approval.Decision != nil:
		return chat.Verdict{Standing: chat.StandingDecided, Decision: approval.Decision}, nil
	case approval.Status != "pending":
		return chat.Verdict{Standing: chat.StandingClosed, Reason: approval.Status}, nil
	case a.Decision == chat.AllowAlways && !approval.Always:
		return chat.Verdict{Standing: chat.StandingInvalid}, nil
	}
	approval.Decision = &chat.Decision{Decision: a.Decision, By: a.By.Key(), Via: a.Via, At: a.ReceivedAt, Reason: a.Reason}
	approval.Status, c.state.Status = "approved", "completed"
	if a.Decision == chat.Deny {
		approval.Status = "denied"
		c.state.Status, c.state.Code, c.state.Reason = "denied", "PERMISSION_DENIED", "denied"
	} else {
		delete(e.files, c.path)
	}
	return chat.Verdict{Standing: chat.StandingTaken, Decision: approval.Decision}, nil
}

func (e *fakeEngine) Grants(context.Context, *chat.Thread) ([]gateway.ListedGrant, error) {
	return []gateway.ListedGrant{{Grant: contract.Grant{ID: "g1", Tool: "t", Operation: "o", By: "ada"}, Thread: chat.Thread{Connector: chat.Web, Key: "k"}}}, nil
}

func (e *fakeEngine) Revoke(_ context.Context, id, _ string) error {
	if id != "g1" {
		return gateway.ErrNotFound
	}
	e.revoked = append(e.revoked, id)
	return nil
}

func (e *fakeEngine) Turn(context.Context, string) (contract.TurnResult, error) {
	if e.answer != nil {
		return e.answer(), nil
	}
	return e.turn, nil
}

func (e *fakeEngine) Healthy(context.Context) error { return nil }

type fakeIdentity struct{}

func (fakeIdentity) Token(hash string) (chat.Person, string, bool) {
	return chat.Person{ID: "api:ada", Name: "ada"}, gateway.RoleOwner, hash == gateway.TokenHash("cs_owner-token-123")
}

func (fakeIdentity) Person(string) (chat.Person, bool) { return chat.Person{}, false }

type fakeDisk map[string]string

func (d fakeDisk) Save(context.Context, string, string, io.Reader) (chat.File, error) {
	return chat.File{}, fs.ErrInvalid
}

func (d fakeDisk) Discard(context.Context, string, string) error { return nil }

func (d fakeDisk) Open(_ context.Context, _, name string) (io.ReadCloser, int64, error) {
	content, ok := d[name]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
}

// delivered has every file of every answer once; Remove empties it.
type fakeDelivered struct{ files map[string]string }

func (d fakeDelivered) Open(_ context.Context, _, _, name string) (io.ReadCloser, int64, error) {
	content, ok := d.files[name]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
}

func (d fakeDelivered) Remove(context.Context, string, string) error {
	clear(d.files)
	return nil
}

type bench struct {
	engine    *fakeEngine
	delivered fakeDelivered
	outbound  fakeDisk
	env       map[string]string
	stdin     io.Reader
	tty       bool
	params    func(*Params)

	mu  sync.Mutex
	now time.Time

	stdout, stderr bytes.Buffer
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) sleep(ctx context.Context, d time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
	return ctx.Err()
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{now: time.Date(2029, 1, 2, 3, 4, 5, 0, time.UTC), delivered: fakeDelivered{map[string]string{}}, outbound: fakeDisk{}, stdin: strings.NewReader("")}
	b.engine = &fakeEngine{now: b.clock, sleep: b.sleep, files: map[string]bool{}, calls: map[string]*call{}}
	server := httptest.NewServer(gateway.New(gateway.Params{
		Engine: b.engine, Events: events.New(), Identity: fakeIdentity{}, Attachments: b.outbound, Delivered: b.delivered,
		Now: b.clock, UIURL: "http://127.0.0.1:8233",
		Tools: []tool.Tool{{Name: "file_manager", Description: "Files.", Operations: []tool.Operation{{
			Name: "delete", Kind: tool.Danger, Description: "Delete a file.",
			Schema: `{"type":"object","properties":{"path":{},"disk":{},"dry":{}},"required":["disk","path"]}`,
		}}}},
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/token", []byte("cs_owner-token-123\n"), 0o600))
	b.env = map[string]string{"COUNTERSIGN_URL": server.URL + "/", "COUNTERSIGN_DATA_DIR": dir}
	return b
}

// run runs one command and returns its exit code.
func (b *bench) run(t *testing.T, args ...string) int {
	t.Helper()
	return b.runIn(t.Context(), t, args...)
}

func (b *bench) runIn(ctx context.Context, t *testing.T, args ...string) int {
	t.Helper()
	b.stdout.Reset()
	b.stderr.Reset()
	params := Params{
		Getenv: func(name string) string { return b.env[name] }, Stdin: b.stdin, Stdout: &b.stdout, Stderr: &b.stderr,
		IsTTY: b.tty, Now: b.clock, Sleep: b.sleep, User: "ada",
	}
	if b.params != nil {
		b.params(&params)
	}
	return Run(ctx, args, params)
}
