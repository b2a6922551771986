package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/words"
	"github.com/countersignhq/countersign/workflows"
)

// What becomes of a question is said in the plan's language, whoever decides.
func TestOutcomesAreLines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		play func(*world)
		id   string
		de   string // up to the time
		told []string
	}{
		"yes":    {play: func(w *world) { w.after(time.Second, w.says(ada, "yes")) }, id: chat.LineApproved, de: "✅ Genehmigt von ada um "},
		"always": {play: func(w *world) { w.after(time.Second, w.says(ada, "always")) }, id: chat.LineAlways, de: "✅ In dieser Unterhaltung immer erlaubt von ada um "},
		"ja is no yes": {
			play: func(w *world) { w.after(time.Second, w.says(ada, "ja")) }, id: chat.LineDenied, de: "❌ Abgelehnt von ada um ",
			told: []string{"Es wurde nicht ausgeführt."},
		},
		"nobody": {id: chat.LineTimeout, de: "⌛ Keine Antwort bis "},
		"another program": {
			play: func(w *world) {
				w.after(time.Second, func() {
					w.SignalWorkflow(contract.SignalReply, contract.Reply{ID: "r", Via: "redis", Text: "yes", ReceivedAt: w.Now()})
				})
			},
			id: chat.LineApproved, de: "✅ Genehmigt von einem anderen Programm um ",
		},
		"withdrawn": {
			play: func(w *world) {
				w.after(time.Second, func() { w.SignalWorkflow(contract.SignalWord, contract.Word{Kind: contract.WordWithdrawn}) })
			},
			id: chat.LineWithdrawn, de: "↩️ Zurückgezogen. Es wurde nicht ausgeführt.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.plan.Language = "de"
			if test.play != nil {
				test.play(w)
			}
			w.invocation()
			require.Equal(t, "de", w.asked[0].Card.Language)
			require.Empty(t, w.asked[0].Card.Buttons[0].Label, "the activity writes it")
			end := w.closes[0]
			require.Equal(t, test.id, end.Outcome.ID)
			require.Empty(t, end.Card.Closed, "the activity writes it")
			require.Contains(t, words.Say(end.Card.Language, end.Outcome), test.de)
			require.Equal(t, test.told, w.told)
		})
	}
}

// H13: who decides is shown as data in every language.
func TestNamesInLinesAreEscaped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.after(time.Second, w.says(chat.Person{ID: "telegram:7\u202e{{.at}}"}, "yes"))
	w.invocation()
	require.Equal(t, `telegram:7\u{202E}{{.at}}`, w.closes[0].Outcome.Args["by"])
	require.Contains(t, words.Say("es", w.closes[0].Outcome), `✅ Aprobado por telegram:7\u{202E}{{.at}} a las `)
}

func TestAHandoffInAnotherLanguage(t *testing.T) {
	t.Parallel()
	w := newStepWorld(t, func(h *contract.Handoff) { h.Expects = "die Änderungen sind veröffentlicht" })
	w.plan.Language, w.plan.Prompt = "de", "👉 Vor dem Veröffentlichen bestätigen."
	w.after(time.Second, w.says(ada, "erledigt")) // talk
	w.after(2*time.Second, w.says(ada, "done"))
	w.after(time.Minute, func() { w.checkFails = true })
	w.after(2*time.Minute, w.says(ada, "Done"))
	w.after(3*time.Minute, func() { w.checkFails, w.published = false, true })
	w.after(4*time.Minute, w.says(ada, "DONE"))
	require.Equal(t, "completed", w.invocation().Status)
	require.Equal(t, "👉 Vor dem Veröffentlichen bestätigen.", w.asked[0].Card.Text, "as the plan has it")
	require.Equal(t, []string{
		"Es ist noch offen. Es fehlt: die Änderungen sind veröffentlicht.",
		"Es ist noch offen, denn es konnte gerade nicht geprüft werden: database away.",
	}, w.told)
	require.Equal(t, "✅ Erledigt. Geprüft, auf die Meldung von ada hin.", words.Say("de", w.closes[0].Outcome))
}

// A turn's own sentences are lines too; the agent's reply is its own.
func TestATurnsOwnSentences(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		step func() (contract.Step, error)
		text string
		line chat.Line
	}{
		"a reply": {step: func() (contract.Step, error) { return contract.Step{Reply: "hm"}, nil }, text: "hm"},
		"a failure": {
			step: func() (contract.Step, error) {
				return contract.Step{}, temporal.NewNonRetryableApplicationError("no model", contract.ErrorFinal, nil)
			},
			line: chat.Text(chat.LineTurnFailed, "cause", "no model"),
		},
		"no end": {
			step: func() (contract.Step, error) {
				return contract.Step{Calls: []contract.ToolCall{{ID: "x", Tool: "t", Operation: "o", Key: "k"}}}, nil
			},
			line: chat.Text(chat.LineTurnEndless, "steps", "25"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			env.SetTestTimeout(time.Minute)
			env.RegisterWorkflowWithOptions(workflows.Turn, workflow.RegisterOptions{Name: contract.WorkflowTurn})
			var called []contract.Invocation
			env.RegisterWorkflowWithOptions(func(_ workflow.Context, in contract.Invocation) (contract.Result, error) {
				called = append(called, in)
				return contract.Result{Status: "completed"}, nil
			}, workflow.RegisterOptions{Name: contract.WorkflowToolInvocation})
			env.RegisterActivityWithOptions(func(_ context.Context, _ contract.StepInput) (contract.Step, error) {
				return test.step()
			}, activity.RegisterOptions{Name: contract.ActivityStep})
			var replied contract.ReplyInput
			env.RegisterActivityWithOptions(func(_ context.Context, in contract.ReplyInput) (contract.TurnResult, error) {
				replied = in
				return contract.TurnResult{}, nil
			}, activity.RegisterOptions{Name: contract.ActivityReply})
			env.RegisterActivityWithOptions(func(context.Context, contract.SignalInput) (contract.Routed, error) {
				return contract.Routed{}, nil
			}, activity.RegisterOptions{Name: contract.ActivitySignal})
			env.ExecuteWorkflow(contract.WorkflowTurn, contract.Turn{Message: chat.Message{UUID: "u", Thread: thread, From: ada}, Language: "es"})
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, test.text, replied.Text)
			require.Equal(t, test.line, replied.Line)
			require.Equal(t, "es", replied.Turn.Language)
			for _, in := range called {
				require.Equal(t, "es", in.Language, "what the conversation has chosen counts for its calls")
			}
		})
	}
}

// CONTRACT §8: a command is no answer to the question that is open, and is answered at once.
func TestCommandsLeaveTheQuestionOpen(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	grant := contract.Grant{ID: "G", Tool: "t", Operation: "o", By: "ada"}
	w.note(1, open("A"))
	for n, text := range []string{"!grants", " !HELP\n", "!revoke", "!language de", "!language klingon", "!language"} {
		w.message(time.Duration(n+1)*time.Second, ada, text)
	}
	w.message(10*time.Second, ada, "!grants now") // no command, so it answers
	state := w.run(contract.Talk{Grants: []contract.Grant{grant}, Turn: "a-turn-that-waits"})
	require.Equal(t, []string{"!grants", " !HELP\n", "!revoke", "!language de", "!language klingon", "!language"}, w.turns,
		"beside the turn that waits")
	require.Equal(t, []string{"A !grants now"}, w.forwarded)
	require.Empty(t, w.words)
	require.Equal(t, "A", state.Pending.Invocation)
	require.Equal(t, "a-turn-that-waits", state.Turn)
	require.Equal(t, []contract.Grant{grant}, state.Grants, "the turn revokes them")
	require.Equal(t, "de", state.Language, "an unknown one changes nothing")
}

func TestTheLanguageIsHandedOn(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	var languages []string
	w.OnWorkflow(contract.WorkflowTurn, mock.Anything, mock.Anything).Return(func(_ workflow.Context, in contract.Turn) (contract.TurnResult, error) {
		languages = append(languages, in.Language)
		return contract.TurnResult{}, nil
	})
	w.message(1*time.Second, ada, "hello")
	w.message(2*time.Second, ada, "!language zh-cn")
	w.message(3*time.Second, ada, "hello again")
	w.message(4*time.Second, ada, "!new")
	w.message(5*time.Second, bob, "hello you")
	state := w.run(contract.Talk{})
	require.Equal(t, []string{"", "zh-CN", "zh-CN", "zh-CN", "zh-CN"}, languages)
	require.Equal(t, "zh-CN", state.Language, "!new forgets what was said, not how")
}

func TestTheLanguageIsCarriedOver(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.SetContinueAsNewSuggested(true)
	w.message(time.Second, ada, "!language es")
	w.ExecuteWorkflow(contract.WorkflowConversation, contract.Talk{Thread: thread})
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, w.GetWorkflowError(), &next)
	require.Equal(t, "es", carried(t, next).Language)
}

// A plan that an earlier version has frozen has no language and, for a handoff, no text.
func TestPlansOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	w := newStepWorld(t)
	w.after(time.Second, w.says(ada, "cancel"))
	require.Equal(t, string(approval.HandoffCancelled), w.invocation().Code)
	require.Contains(t, w.asked[0].Card.Text, "👉 Confirm before publishing.\n1. Enter the code.")
	require.Contains(t, words.Say(w.closes[0].Card.Language, w.closes[0].Outcome), "❌ Cancelled by ada at ")
}

// What is a command today was a message like others for an earlier version, which let it wait for
// its turn: a conversation of then goes on as it was recorded.
func TestReplayOfCommandsThatWereMessages(t *testing.T) {
	t.Parallel()
	changed := 0
	for _, file := range historyFiles(t) {
		h := history(t, file)
		if typeOf(h) != contract.WorkflowConversation {
			continue
		}
		for _, event := range h.Events {
			signal := event.GetWorkflowExecutionSignaledEventAttributes()
			if signal == nil {
				continue
			}
			var note contract.Note
			data := converter.GetDefaultDataConverter()
			require.NoError(t, data.FromPayloads(signal.GetInput(), &note))
			if note.Message == nil || note.Message.Text == "" || note.Message.Text == string(chat.CommandNew) {
				continue
			}
			note.Message.Text = string(chat.CommandHelp)
			input, err := data.ToPayloads(note)
			require.NoError(t, err)
			signal.Input = input
			changed++
		}
		replayer := newReplayer(t)
		workflows.Register(replayer)
		require.NoError(t, replayer.ReplayWorkflowHistory(quiet, h), file)
	}
	require.NotZero(t, changed)
}
