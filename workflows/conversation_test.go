package workflows_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/workflows"
)

// talkWorld runs a Conversation with invocations that only listen.
type talkWorld struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T

	mu        sync.Mutex
	forwarded []string
	words     []string
	turns     []string
	gone      map[string]bool
	taken     map[string]bool // by text: another program has it
}

func newTalkWorld(t *testing.T) *talkWorld {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	w := &talkWorld{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, gone: map[string]bool{}, taken: map[string]bool{}}
	w.SetTestTimeout(time.Minute)
	w.RegisterWorkflowWithOptions(workflows.Conversation, workflow.RegisterOptions{Name: contract.WorkflowConversation})
	w.RegisterWorkflowWithOptions(func(_ workflow.Context, in contract.Turn) (contract.TurnResult, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.turns = append(w.turns, in.Message.Text)
		return contract.TurnResult{}, nil
	}, workflow.RegisterOptions{Name: contract.WorkflowTurn})
	w.RegisterActivityWithOptions(func(_ context.Context, in contract.RouteInput) (contract.Routed, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch {
		case w.taken[in.Message.Text]:
			return contract.Routed{Taken: true}, nil
		case !in.Forward || in.Message.Text == "":
			return contract.Routed{}, nil
		case w.gone[cmp.Or(in.Copy, in.Pending)]:
			return contract.Routed{Gone: true}, nil
		}
		w.forwarded = append(w.forwarded, cmp.Or(in.Copy, in.Pending)+" "+in.Message.Text)
		return contract.Routed{Forwarded: true}, nil
	}, activity.RegisterOptions{Name: contract.ActivityRoute})
	w.RegisterActivityWithOptions(func(_ context.Context, in contract.SignalInput) (contract.Routed, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		line := in.Workflow + " " + in.Word.Kind
		for _, r := range in.Word.Replies {
			line += " [" + r.Text + "]"
		}
		w.words = append(w.words, line)
		return contract.Routed{}, nil
	}, activity.RegisterOptions{Name: contract.ActivitySignal})
	w.RegisterActivityWithOptions(func(_ context.Context, id string) (bool, error) {
		return !w.gone[strings.TrimPrefix(id, "invocation/")], nil
	}, activity.RegisterOptions{Name: contract.ActivityAlive})
	return w
}

func (w *talkWorld) note(after time.Duration, n contract.Note) {
	w.RegisterDelayedCallback(func() { w.SignalWorkflow(contract.SignalNote, n) }, after)
}

func (w *talkWorld) message(after time.Duration, who chat.Person, text string, change ...func(*chat.Message)) {
	m := chat.Message{UUID: "u-" + text, EventID: "e-" + text + after.String(), Thread: thread, From: who, Text: text}
	for _, c := range change {
		c(&m)
	}
	w.note(after, contract.Note{Message: &m})
}

// run runs the conversation until it is cancelled.
func (w *talkWorld) run(talk contract.Talk) contract.Talk {
	w.t.Helper()
	var state contract.Talk
	w.RegisterDelayedCallback(func() {
		value, err := w.QueryWorkflow(contract.QueryTalk)
		require.NoError(w.t, err)
		require.NoError(w.t, value.Get(&state))
		w.CancelWorkflow()
	}, time.Hour)
	talk.Thread = thread
	w.ExecuteWorkflow(contract.WorkflowConversation, talk)
	require.True(w.t, w.IsWorkflowCompleted())
	return state
}

func open(id string) contract.Note { return contract.Note{Open: &contract.Open{Invocation: id}} }

func TestAQuestionTakesTheAnswers(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.note(1, open("A"))
	w.message(2*time.Second, ada, "yes")
	w.note(3*time.Second, contract.Note{Close: &contract.Close{Invocation: "A", Consumed: []string{"u-yes"}}})
	w.message(4*time.Second, ada, "hello")
	state := w.run(contract.Talk{})
	require.Equal(t, []string{"A yes"}, w.forwarded)
	require.Equal(t, []string{"hello"}, w.turns)
	require.Nil(t, state.Pending)
	require.Empty(t, state.InFlight)
}

func TestWhatIsNoAnswerIsANormalMessage(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	asks := open("A")
	asks.Open.Approvers = fourEyes
	asks.Open.Requester = "ada"
	w.note(1, asks)
	w.message(1*time.Second, ada, "not entitled")
	w.message(2*time.Second, bob, "forwarded", func(m *chat.Message) { m.Forwarded = true })
	w.message(3*time.Second, bob, "late yes")
	w.note(4*time.Second, contract.Note{Close: &contract.Close{Invocation: "A", Ref: "7"}})
	w.note(5*time.Second, open("B"))
	w.message(6*time.Second, bob, "to the old prompt", func(m *chat.Message) { m.ReplyTo = "7" })
	w.message(7*time.Second, bob, "early")
	w.note(8*time.Second, contract.Note{Returned: &contract.Returned{Invocation: "B", Messages: []string{"u-early"}}})
	w.run(contract.Talk{})
	require.Equal(t, []string{"not entitled", "forwarded", "late yes", "to the old prompt", "early"}, w.turns)
	require.Equal(t, []string{"A late yes", "B early"}, w.forwarded)
}

func TestAFileWithoutTextLeavesTheQuestionOpen(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.note(1, open("A"))
	w.message(time.Second, ada, "", func(m *chat.Message) { m.Files = []chat.File{{Name: "a.csv"}} })
	state := w.run(contract.Talk{})
	require.Empty(t, w.turns, "consumed")
	require.Empty(t, w.forwarded)
	require.NotNil(t, state.Pending)
}

func TestRedeliveriesAndBots(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	for n := range 3 {
		w.message(time.Duration(n+1)*time.Second, ada, "hello", func(m *chat.Message) { m.EventID = "same" })
	}
	w.message(5*time.Second, chat.Person{ID: "telegram:9", Bot: true}, "from a bot")
	w.run(contract.Talk{})
	require.Equal(t, []string{"hello"}, w.turns)
}

// Messages that shared a signal are taken one by one, in their order.
func TestMessagesThatCameTogether(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.note(1, open("A"))
	of := func(text string) chat.Message {
		return chat.Message{UUID: "u-" + text, EventID: "e-" + text, Thread: thread, From: ada, Text: text}
	}
	w.note(time.Second, contract.Note{Messages: []chat.Message{of("yes"), of("and then"), of("yes")}})
	w.note(2*time.Second, contract.Note{Close: &contract.Close{Invocation: "A", Consumed: []string{"u-yes"}}})
	w.run(contract.Talk{})
	require.Equal(t, []string{"A yes", "A and then"}, w.forwarded)
	require.Equal(t, []string{"and then"}, w.turns)
}

func TestABounceGoesToTheQuestion(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	bounced := contract.Note{Bounced: &contract.Bounced{EventID: "dsn-1", Ref: "7"}}
	w.note(1, bounced) // nothing is pending
	w.note(2, open("A"))
	w.note(3, contract.Note{Bounced: &contract.Bounced{EventID: "dsn-2", Ref: "7"}})
	w.note(4, contract.Note{Bounced: &contract.Bounced{EventID: "dsn-2", Ref: "7"}})
	w.run(contract.Talk{})
	require.Equal(t, []string{"invocation/A bounced"}, w.words)
}

func TestASecondQuestionSupersedes(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.note(1, open("A"))
	w.message(time.Second, ada, "yes")
	w.note(2*time.Second, open("B"))
	w.note(2*time.Second, open("B"))
	w.note(3*time.Second, contract.Note{Close: &contract.Close{Invocation: "A", Consumed: []string{"u-yes"}}})
	state := w.run(contract.Talk{})
	require.Equal(t, []string{"invocation/A superseded"}, w.words)
	require.Equal(t, "B", state.Pending.Invocation, "the end of A leaves B alone")
	require.Empty(t, w.turns, "the answer to A is no message")
}

func TestQuestionsQueue(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	for n, id := range []string{"A", "B", "C"} {
		o := open(id)
		o.Open.Queue = true
		w.note(time.Duration(n+1)*time.Second, o)
	}
	w.note(5*time.Second, contract.Note{Close: &contract.Close{Invocation: "B"}})
	w.note(6*time.Second, contract.Note{Close: &contract.Close{Invocation: "A"}})
	state := w.run(contract.Talk{})
	require.Equal(t, []string{"invocation/A go", "invocation/C go"}, w.words)
	require.Equal(t, "C", state.Pending.Invocation)
}

func TestADeadQuestionHoldsUpNoQueue(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.gone["A"] = true
	for n, id := range []string{"A", "B"} {
		o := open(id)
		o.Open.Queue = true
		w.note(time.Duration(n+1)*time.Second, o)
	}
	state := w.run(contract.Talk{})
	require.Equal(t, "B", state.Pending.Invocation)
}

func TestNewWithdrawsAndEndsGrants(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.note(1, open("A"))
	w.message(time.Second, ada, " !NEW ")
	w.note(2*time.Second, contract.Note{Close: &contract.Close{Invocation: "A"}})
	state := w.run(contract.Talk{Grants: []contract.Grant{{ID: "g"}}})
	require.Equal(t, []string{"invocation/A withdrawn"}, w.words)
	require.Equal(t, []string{" !NEW "}, w.turns)
	require.Empty(t, state.Grants)
}

func TestItsWordAtADeadline(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.note(1, open("A"))
	w.message(time.Second, ada, "what?")
	w.message(2*time.Second, ada, "yes")
	w.note(3*time.Second, contract.Note{Closing: &contract.Closing{Invocation: "A"}})
	w.note(4*time.Second, contract.Note{Closing: &contract.Closing{Invocation: "unknown"}})
	w.run(contract.Talk{})
	require.Equal(t, []string{"invocation/A confirmed [what?] [yes]", "invocation/unknown confirmed"}, w.words)
}

func TestAnAlbumIsOneMessage(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	part := func(text, file string) func(*chat.Message) {
		return func(m *chat.Message) {
			m.Album, m.UUID, m.Text, m.EventID = "g", "album", text, file
			m.Files = []chat.File{{Name: file}}
		}
	}
	w.message(1*time.Second, ada, "", part("", "a.jpg"))
	w.message(1500*time.Millisecond, ada, "", part("look", "b.jpg"))
	w.message(2*time.Second, ada, "after it")
	w.message(10*time.Second, ada, "", part("", "straggler.jpg"))
	w.run(contract.Talk{})
	require.Equal(t, []string{"look", "after it"}, w.turns)
}

func TestAnotherProgramTakesTheText(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.taken["for php"] = true
	w.message(time.Second, ada, "for php")
	w.message(2*time.Second, ada, "for us")
	w.run(contract.Talk{})
	require.Equal(t, []string{"for us"}, w.turns)
}

// F04, F09: what a conversation knows survives continue-as-new, and what comes meanwhile is kept.
func TestContinueAsNewForgetsNothing(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.note(1, open("A"))
	for n := range 3 {
		w.message(time.Second, ada, fmt.Sprintf("m%d", n))
	}
	w.RegisterDelayedCallback(func() { w.SetContinueAsNewSuggested(true) }, time.Second-1)
	w.ExecuteWorkflow(contract.WorkflowConversation, contract.Talk{
		Thread: thread, Grants: []contract.Grant{{ID: "g"}}, Closed: []string{"7"},
	})
	require.True(t, w.IsWorkflowCompleted())
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, w.GetWorkflowError(), &next)
	talk := carried(t, next)
	require.Equal(t, "A", talk.Pending.Invocation)
	require.NotEmpty(t, talk.InFlight)
	require.Len(t, talk.Seen, len(talk.InFlight))
	require.Equal(t, []contract.Grant{{ID: "g"}}, talk.Grants)
	require.Equal(t, []string{"7"}, talk.Closed)
}
