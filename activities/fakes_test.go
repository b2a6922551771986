package activities_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/agent/agenttest"
	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

var (
	ada      = chat.Person{ID: "telegram:1001", Name: "ada"}
	telegram = chat.Thread{Connector: chat.Telegram, Key: "1001"}
	start    = time.Date(2029, 1, 1, 9, 0, 0, 0, time.UTC)
	errAway  = errors.New("away")
)

// world holds the fakes of all ports. Every call is written down in the order it came, and fails
// where a fault is set for it.
type world struct {
	mu     sync.Mutex
	did    []string
	faults map[string]error

	now     time.Time
	grants  []contract.Grant
	alive   bool
	taken   bool
	traits  chat.Traits
	reply   func(chat.Reply, chat.Progress) error
	notes   []contract.Note
	pending []contract.Pending
	words   []contract.Word
	replies []contract.Reply
	ttls    []time.Duration
	texts   []string
	cards   []chat.Card
	phases  []contract.Phase
	entries []activities.AuditEntry
	said    []chat.Message
	history []agent.Exchange
	closed  []string

	attachments *attachments.Store
	agent       *agenttest.Scripted
	params      activities.Params
	*activities.Activities
	env *testsuite.TestActivityEnvironment
}

// newWorld makes the activities with fakes around them; change edits what they get.
func newWorld(t *testing.T, ops []tool.Operation, change ...func(*world)) *world {
	t.Helper()
	w := &world{
		faults: map[string]error{}, now: start, traits: chat.Traits{Name: chat.Telegram, Asks: true, DeletesOutbound: true},
		agent: &agenttest.Scripted{},
	}
	all, err := disks.Open(t.Context(), disks.Params{URLs: map[string]string{"local": "mem://"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	disk, err := all.Unguarded("local")
	require.NoError(t, err)
	w.attachments, err = attachments.New(attachments.Params{Disk: disk})
	require.NoError(t, err)
	if len(ops) == 0 {
		ops = []tool.Operation{operation()}
	}
	registry, _, err := tool.NewRegistry(tool.Tool{Name: "t", Operations: ops})
	require.NoError(t, err)
	w.params = activities.Params{
		Registry: registry, Senders: map[string]chat.Sender{chat.Telegram: sender{w}}, Signals: signals{w}, Mirror: mirror{w},
		Attachments: w.attachments, Agent: w.agent, Transcript: transcript{w}, Audit: auditor{w},
		Publish:  func(kind, _ string, _ chat.Thread, _ string) { w.do("publish " + kind) },
		Defaults: activities.Defaults{ConfirmTimeout: 120 * time.Second, HandoffTimeout: 5 * time.Minute, Unsupported: "run"},
		Now:      w.tick, Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(w)
	}
	w.Activities = activities.New(w.params)
	suite := &testsuite.WorkflowTestSuite{}
	suite.SetLogger(discard{})
	w.env = suite.NewTestActivityEnvironment()
	w.Register(w.env)
	return w
}

// discard is Temporal's logger of tests that fail on purpose.
type discard struct{}

func (discard) Debug(string, ...any) {}
func (discard) Info(string, ...any)  {}
func (discard) Warn(string, ...any)  {}
func (discard) Error(string, ...any) {}

// do writes a call down and returns its fault.
func (w *world) do(what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did = append(w.did, what)
	return w.faults[what]
}

func (w *world) done() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.did)
}

// tick moves the clock on by a second with each look.
func (w *world) tick() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Second)
	return w.now
}

// run executes an activity under the name that histories record.
func run[Out any](t *testing.T, w *world, name string, in any) (out Out, err error) {
	t.Helper()
	value, err := w.env.ExecuteActivity(name, in)
	if err != nil {
		return out, err
	}
	require.NoError(t, value.Get(&out))
	return out, nil
}

const schema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`

// operation is one that asks each time, and completes.
func operation(change ...func(*tool.Operation)) tool.Operation {
	op := tool.Operation{
		Name: "o", Kind: tool.Danger, Prompt: "Delete {path}?", Schema: schema,
		Run: func(_ context.Context, call tool.Call) (any, error) { return map[string]string{"id": call.ID}, nil },
	}
	for _, c := range change {
		c(&op)
	}
	return op
}

func invocation(change ...func(*contract.Invocation)) contract.Invocation {
	in := contract.Invocation{
		ID: "01J", Tool: "t", Operation: "o", Parameters: []byte(`{"path":"a"}`), Thread: telegram, Requester: ada,
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

// plan plans an invocation that must not fail.
func (w *world) plan(t *testing.T, in contract.Invocation) contract.Plan {
	t.Helper()
	plan, err := run[contract.Plan](t, w, contract.ActivityPlan, in)
	require.NoError(t, err)
	return plan
}

type signals struct{ *world }

func (s signals) Word(_ context.Context, workflowID string, word contract.Word) error {
	s.words = append(s.words, word)
	return s.do("word " + workflowID)
}

func (s signals) Reply(_ context.Context, invocation string, reply contract.Reply) error {
	s.replies = append(s.replies, reply)
	return s.do("reply " + invocation)
}

func (s signals) Note(_ context.Context, thread chat.Thread, _ bool, note contract.Note) error {
	s.notes = append(s.notes, note)
	return s.do("note " + thread.String())
}

func (s signals) Asked(_ context.Context, pending contract.Pending) error {
	s.pending = append(s.pending, pending)
	return s.do("asked")
}

func (s signals) Ended(_ context.Context, invocation string) error {
	return s.do("ended " + invocation)
}

func (s signals) Standing(context.Context, chat.Thread) ([]contract.Grant, error) {
	return s.grants, s.do("standing")
}

func (s signals) Alive(_ context.Context, workflowID string) (bool, error) {
	return s.alive, s.do("alive " + workflowID)
}

func (s signals) Heartbeat(_ context.Context, taskToken []byte, phase contract.Phase) error {
	if len(taskToken) == 0 {
		return errors.New("no task token")
	}
	s.phases = append(s.phases, phase)
	return s.do("heartbeat")
}

type mirror struct{ *world }

func (m mirror) Open(_ context.Context, _ chat.Thread, _ string, ttl time.Duration) error {
	m.ttls = append(m.ttls, ttl)
	return m.do("mirror open")
}

func (m mirror) Renew(_ context.Context, _ chat.Thread, _ string, ttl time.Duration) error {
	m.ttls = append(m.ttls, ttl)
	return m.do("mirror renew")
}

func (m mirror) Close(context.Context, chat.Thread, string) error { return m.do("mirror close") }

func (m mirror) Intercept(_ context.Context, _ chat.Thread, _, _, text string, _ bool) (bool, error) {
	m.texts = append(m.texts, text)
	return m.taken, m.do("intercept")
}

type sender struct{ *world }

func (s sender) Traits() chat.Traits { return s.traits }

func (s sender) Post(_ context.Context, card chat.Card) (chat.Receipt, error) {
	s.cards = append(s.cards, card)
	return chat.Receipt{Ref: "55"}, s.do("post")
}

func (s sender) Edit(_ context.Context, _ chat.Receipt, card chat.Card) error {
	s.cards = append(s.cards, card)
	return s.do("edit")
}

func (s sender) Reply(_ context.Context, reply chat.Reply, progress chat.Progress) error {
	if s.reply != nil {
		if err := s.reply(reply, progress); err != nil {
			return err
		}
	}
	return s.do("reply")
}

type transcript struct{ *world }

func (s transcript) Record(_ context.Context, m chat.Message) error {
	s.said = append(s.said, m)
	return s.do("record")
}

func (s transcript) Close(_ context.Context, _ chat.Message, _ []contract.ToolResult, reply string) error {
	s.closed = append(s.closed, reply)
	return s.do("transcript close")
}

func (s transcript) Afresh(context.Context, chat.Thread) error { return s.do("afresh") }

func (s transcript) History(context.Context, chat.Message) ([]agent.Exchange, error) {
	return s.history, s.do("history")
}

type auditor struct{ *world }

func (a auditor) Record(_ context.Context, entry activities.AuditEntry) error {
	a.entries = append(a.entries, entry)
	return a.do("audit")
}
