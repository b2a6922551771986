package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
	"github.com/countersignhq/countersign/workflows"
)

var thread = chat.Thread{Connector: chat.Telegram, Key: "1001"}

var (
	ada = chat.Person{ID: "telegram:1001", Name: "ada"}
	bob = chat.Person{ID: "telegram:1002", Name: "bob"}
)

// world is what the activities of a test do and what they saw.
type world struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T

	plan contract.Plan
	// post is the platform's answer to the prompt.
	post func(context.Context, contract.AskInput) (contract.Asked, error)
	// run is the tool.
	run    func(context.Context, contract.RunInput) (contract.RunOutput, error)
	settle func(context.Context, contract.CheckInput) (contract.Settled, error)
	// copy is the platform's answer to a copy of the prompt; copies have the reference "copy-{key}".
	copy func(contract.CopyInput) error
	// places are where copies turn out to be.
	places map[chat.Thread]chat.Thread
	// held is what the conversation still holds at a deadline.
	held []contract.Reply

	mu     sync.Mutex
	asked  []contract.AskInput
	runs   int
	closes []contract.CloseInput
	notes  []contract.Note
	noted  []chat.Thread // whom notes were for
	copies []contract.CopyInput
	edits  []contract.CloseInput
	told   []string
	tells  []contract.TellInput
}

func newWorld(t *testing.T) *world {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	w := &world{
		TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t,
		plan: contract.Plan{
			Mode: string(approval.Ask), Thread: thread, Timeout: 120 * time.Second, OfferAlways: true,
			Prompt: "⚠️ Delete it? Reply 'Yes' to confirm.", Parameters: json.RawMessage(`{"path":"a"}`), Digest: "d",
		},
	}
	w.SetTestTimeout(time.Minute)
	workflows.Register(w)
	w.activities()
	return w
}

// activities registers what stands in for the world.
func (w *world) activities() {
	for name, do := range map[string]any{
		contract.ActivityPlan: func(context.Context, contract.Invocation) (contract.Plan, error) { return w.plan, nil },
		contract.ActivityOpen: func(context.Context, contract.AskInput) error { return nil },
		contract.ActivityAsk: func(ctx context.Context, in contract.AskInput) (contract.Asked, error) {
			w.mu.Lock()
			w.asked = append(w.asked, in)
			w.mu.Unlock()
			if w.post != nil {
				return w.post(ctx, in)
			}
			return contract.Asked{Began: w.Now(), Delivered: w.Now(), Receipt: chat.Receipt{Ref: "7"}}, nil
		},
		contract.ActivityRun: func(ctx context.Context, in contract.RunInput) (contract.RunOutput, error) {
			w.mu.Lock()
			w.runs++
			if in.Close != nil {
				w.closes = append(w.closes, *in.Close)
			}
			w.mu.Unlock()
			if w.run != nil {
				return w.run(ctx, in)
			}
			return contract.RunOutput{Output: json.RawMessage(`{"deleted":["a"]}`), Closed: &contract.Closed{Edited: true}}, nil
		},
		contract.ActivitySettle: func(ctx context.Context, in contract.CheckInput) (contract.Settled, error) {
			return w.settle(ctx, in)
		},
		contract.ActivityClose: func(_ context.Context, in contract.CloseInput) (contract.Closed, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.closes = append(w.closes, in)
			return contract.Closed{Edited: true}, nil
		},
		contract.ActivityCopy: func(_ context.Context, in contract.CopyInput) (chat.Receipt, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.copies = append(w.copies, in)
			if w.copy != nil {
				if err := w.copy(in); err != nil {
					return chat.Receipt{}, err
				}
			}
			return chat.Receipt{Ref: "copy-" + in.Card.Thread.Key, Thread: w.places[in.Card.Thread]}, nil
		},
		contract.ActivityEdit: func(_ context.Context, in contract.CloseInput) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.edits = append(w.edits, in)
			return nil
		},
		contract.ActivityTell: func(_ context.Context, in contract.TellInput) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told, w.tells = append(w.told, words.Say(in.Language, in.Line)), append(w.tells, in)
			return nil
		},
		contract.ActivitySignal: func(_ context.Context, in contract.SignalInput) (contract.Routed, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if in.Note == nil {
				return contract.Routed{}, errors.New("an invocation only writes notes to its conversation")
			}
			w.notes, w.noted = append(w.notes, *in.Note), append(w.noted, in.Thread)
			if in.Note.Closing != nil {
				word := contract.Word{Kind: contract.WordConfirmed}
				for _, r := range w.held {
					if r.Thread == (chat.Thread{}) || r.Thread == in.Thread {
						word.Replies = append(word.Replies, r)
					}
				}
				w.RegisterDelayedCallback(func() { w.SignalWorkflow(contract.SignalWord, word) }, time.Millisecond)
			}
			return contract.Routed{}, nil
		},
	} {
		w.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
}

// invocation runs one and returns its result.
func (w *world) invocation() contract.Result {
	w.t.Helper()
	w.ExecuteWorkflow(contract.WorkflowToolInvocation, contract.Invocation{
		ID: "01J", Tool: "file_manager", Operation: "delete", Thread: thread, Requester: ada,
	})
	require.True(w.t, w.IsWorkflowCompleted())
	require.NoError(w.t, w.GetWorkflowError())
	var result contract.Result
	require.NoError(w.t, w.GetWorkflowResult(&result))
	return result
}

// after does something so much later in the workflow's time.
func (w *world) after(d time.Duration, do func()) { w.RegisterDelayedCallback(do, d) }

// says sends a text of somebody, received now.
func (w *world) says(who chat.Person, text string) func() {
	return func() { w.SignalWorkflow(contract.SignalReply, w.reply(who, text, w.Now())) }
}

func (w *world) reply(who chat.Person, text string, at time.Time) contract.Reply {
	return contract.Reply{
		ID: who.ID + text + at.String(), Message: "uuid-" + text, By: who, Via: chat.Telegram, Text: text, ReceivedAt: at,
	}
}

// verdict is what an update comes back with.
type verdict struct {
	chat.Verdict
	err error
}

// decides sends a decision by update; got is filled in when it has been weighed.
func (w *world) decides(id, decision string, who chat.Person, got *verdict) func() {
	return func() {
		w.update(contract.Answer{ID: id, Decision: decision, By: who, Via: "api", ReceivedAt: w.Now()}, got)
	}
}

func (w *world) update(a contract.Answer, got *verdict) {
	w.UpdateWorkflow(contract.UpdateDecide, a.ID+a.Decision+a.By.Key(), &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) { got.err = err },
		OnComplete: func(v any, err error) {
			got.err = err
			if err == nil {
				got.Verdict, _ = v.(chat.Verdict)
			}
		},
	}, a)
}

var fourEyes = tool.Approvers{Who: tool.WhoOther, Quorum: 1}

// carried decodes what a continue-as-new hands on.
func carried(t *testing.T, next *workflow.ContinueAsNewError) (talk contract.Talk) {
	t.Helper()
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &talk))
	return talk
}
