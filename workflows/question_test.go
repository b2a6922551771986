package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
)

func TestTextAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text   string
		status approval.Status
		runs   int
	}{
		"yes":                {"yes", approval.StatusCompleted, 1},
		"yes with a quote":   {"YES\r\n\r\n> Delete it?", approval.StatusCompleted, 1},
		"always":             {"always", approval.StatusCompleted, 1},
		"no":                 {"no", approval.StatusDenied, 0},
		"H06 negation":       {"not yes", approval.StatusDenied, 0},
		"H07 punctuation":    {"Yes.", approval.StatusDenied, 0},
		"yes always":         {"yes always", approval.StatusDenied, 0},
		"long s is no ascii": {"yeſ", approval.StatusDenied, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.after(time.Second, w.says(ada, test.text))
			result := w.invocation()
			require.Equal(t, string(test.status), result.Status)
			require.Equal(t, test.runs, w.runs)
			require.Len(t, w.closes, 1)
			require.Empty(t, w.closes[0].Card.Buttons)
			require.Equal(t, []string{"uuid-" + test.text}, w.closes[0].Close.Consumed)
			if test.runs == 0 {
				require.Equal(t, "PERMISSION_DENIED", result.Code)
				require.Equal(t, "denied", result.Reason)
				require.Equal(t, approval.EscapeShort(test.text, 2000), result.Approval.Decision.Reason)
				require.Equal(t, []string{"It was not run."}, w.told)
			}
		})
	}
}

func TestTimeoutAsksTheConversationFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	result := w.invocation()
	require.Equal(t, "PERMISSION_DENIED", result.Code)
	require.Equal(t, "timeout", result.Reason)
	require.Equal(t, "denied", result.Status)
	require.Zero(t, w.runs)
	require.NotNil(t, w.notes[0].Closing)
	require.Contains(t, words.Say("en", w.closes[0].Outcome), "No answer until")
}

// F01, F02: what the gateway took in time counts, whatever came in between; what it took late never does.
func TestTheGatewaysTimeDecides(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		received time.Duration
		runs     int
	}{
		"just in time": {120*time.Second - time.Millisecond, 1},
		"at it":        {120 * time.Second, 0},
		"late":         {121 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			start := w.Now()
			// The conversation still holds it when the timer fires, behind another message.
			w.held = []contract.Reply{
				{ID: "other", Message: "m0", By: chat.Person{Bot: true}, Text: "what?", ReceivedAt: start.Add(time.Second)},
				w.reply(ada, "yes", start.Add(test.received)),
			}
			result := w.invocation()
			require.Equal(t, test.runs, w.runs, result)
		})
	}
}

func TestATextBeforeThePromptNeverAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	early := w.Now().Add(-time.Millisecond)
	w.after(time.Second, func() { w.SignalWorkflow(contract.SignalReply, w.reply(ada, "yes", early)) })
	result := w.invocation()
	require.Equal(t, "timeout", result.Reason)
	require.NotNil(t, w.notes[0].Returned)
	require.Equal(t, []string{"uuid-yes"}, w.notes[0].Returned.Messages)
}

func TestAReplyToAnotherPromptNeverAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.after(time.Second, func() {
		r := w.reply(ada, "yes", w.Now())
		r.ReplyTo = "6"
		w.SignalWorkflow(contract.SignalReply, r)
	})
	w.after(2*time.Second, func() {
		r := w.reply(ada, "yes", w.Now())
		r.ReplyTo = "7"
		w.SignalWorkflow(contract.SignalReply, r)
	})
	require.Equal(t, "completed", w.invocation().Status)
	require.Equal(t, 1, w.runs)
}

func TestFirstAnswerWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var first, again, other, changed verdict
	w.after(time.Second, w.decides("1", chat.Deny, ada, &first))
	w.after(2*time.Second, w.decides("2", chat.Allow, bob, &other))
	w.closesSlowly()
	w.after(2*time.Second, w.decides("1", chat.Deny, ada, &again))
	w.after(2*time.Second, w.decides("1", chat.Allow, ada, &changed))
	result := w.invocation()
	require.Equal(t, "denied", result.Reason)
	require.Equal(t, chat.StandingTaken, first.Standing)
	require.Equal(t, "ada", first.Decision.By)
	require.Equal(t, chat.StandingTaken, again.Standing)
	require.Equal(t, chat.StandingDecided, other.Standing)
	require.Equal(t, "ada", other.Decision.By)
	require.Equal(t, chat.StandingDecided, changed.Standing)
	require.Zero(t, w.runs)
}

func TestAlwaysOnlyWhereOffered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan.Mode, w.plan.OfferAlways = string(approval.AskAlways), false
	var got verdict
	w.after(time.Second, w.decides("1", chat.AllowAlways, ada, &got))
	w.after(2*time.Second, w.says(ada, "always"))
	result := w.invocation()
	require.Equal(t, chat.StandingInvalid, got.Standing)
	require.Equal(t, "denied", result.Reason, "the word always is a no where it is not offered")
}

func TestAlwaysMakesAGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan.Declaration = "hash"
	w.after(time.Second, w.says(ada, "Always"))
	require.Equal(t, "completed", w.invocation().Status)
	grant := w.closes[0].Close.Grant
	require.NotNil(t, grant)
	require.Equal(t, contract.Grant{
		ID: "01J", Tool: "file_manager", Operation: "delete", By: "ada", For: "ada", Declaration: "hash", Since: grant.Since,
	}, *grant)
}

func TestWhoMayAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan.Approvers = fourEyes
	var requester, bot verdict
	w.after(time.Second, w.decides("1", chat.Allow, ada, &requester))
	w.after(2*time.Second, w.decides("2", chat.Allow, chat.Person{Name: "agent", Bot: true}, &bot))
	w.after(3*time.Second, w.says(ada, "no"))
	w.after(4*time.Second, w.says(bob, "yes"))
	result := w.invocation()
	require.Equal(t, chat.StandingRefused, requester.Standing)
	require.Equal(t, chat.StandingRefused, bot.Standing)
	require.Equal(t, "completed", result.Status, "somebody not entitled leaves the prompt open")
	require.Equal(t, "bob", result.Approval.Decision.By)
}

func TestOnePersonOnTwoChannelsIsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan.Approvers = tool.Approvers{Who: tool.WhoThread, Quorum: 2}
	var slack, telegram, second verdict
	w.after(time.Second, w.decides("1", chat.Allow, ada, &telegram))
	w.after(2*time.Second, w.decides("2", chat.Allow, chat.Person{ID: "slack:T1/U1", Name: "ada"}, &slack))
	w.after(3*time.Second, w.decides("3", chat.Allow, bob, &second))
	result := w.invocation()
	require.Equal(t, chat.StandingNoted, telegram.Standing)
	require.Equal(t, chat.StandingNoted, slack.Standing)
	require.Equal(t, chat.StandingTaken, second.Standing)
	require.Equal(t, 1, w.runs)
	require.Len(t, result.Approval.Votes, 2)
}

// A yes in words that is not the last one needed is not left without an answer.
func TestAVoteInWordsIsAcknowledged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan.Approvers = tool.Approvers{Who: tool.WhoThread, Quorum: 2}
	w.after(time.Second, w.says(ada, "yes"))
	w.after(2*time.Second, w.says(bob, "yes"))
	require.Equal(t, "completed", w.invocation().Status)
	require.Equal(t, []string{"Recorded. More people have to agree before it runs."}, w.told, "once, to the first")
}

func TestAButtonOfAnotherChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got verdict
	w.after(time.Second, func() {
		w.update(contract.Answer{
			ID: "1", Decision: chat.Allow, By: ada, Via: chat.Telegram,
			Thread: chat.Thread{Connector: chat.Telegram, Key: "9"}, ReceivedAt: w.Now(),
		}, &got)
	})
	require.Equal(t, "timeout", w.invocation().Reason)
	require.Equal(t, chat.StandingRefused, got.Standing, "H01")
}

func TestWords(t *testing.T) {
	t.Parallel()
	for kind, reason := range map[string]string{
		contract.WordSuperseded: "superseded",
		contract.WordWithdrawn:  "withdrawn",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.after(time.Second, func() { w.SignalWorkflow(contract.SignalWord, contract.Word{Kind: kind, By: "02J"}) })
			result := w.invocation()
			require.Equal(t, "PERMISSION_DENIED", result.Code)
			require.Equal(t, reason, result.Reason)
			require.Len(t, w.closes, 1)
		})
	}
}

func TestCancelledInTemporalIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.after(time.Second, w.CancelWorkflow)
	result := w.invocation()
	require.Equal(t, "withdrawn", result.Reason)
	require.Equal(t, "denied", result.Status)
	require.Len(t, w.closes, 1, "F14: the card is closed after a cancellation too")
}

// A prompt that its platform took and gave back later; only its own counts.
func TestABouncedPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.after(time.Second, func() { w.SignalWorkflow(contract.SignalWord, contract.Word{Kind: contract.WordBounced, Ref: "6"}) })
	w.after(time.Minute, func() { w.SignalWorkflow(contract.SignalWord, contract.Word{Kind: contract.WordBounced, Ref: "7"}) })
	var early verdict
	w.after(30*time.Second, w.decides("1", "maybe", ada, &early))
	result := w.invocation()
	require.Equal(t, chat.StandingInvalid, early.Standing, "still open then")
	require.Equal(t, "undeliverable", result.Reason)
	require.Equal(t, "PERMISSION_DENIED", result.Code)
	require.Empty(t, w.closes[0].Receipt, "nobody is told where nothing arrives")
	require.Equal(t, "7", w.closes[0].Close.Ref)
}

// H17: a prompt that cannot be delivered is never an approval.
func TestUndeliverable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post = func(context.Context, contract.AskInput) (contract.Asked, error) {
		return contract.Asked{}, temporal.NewNonRetryableApplicationError("403 blocked", contract.ErrorFinal, nil)
	}
	result := w.invocation()
	require.Equal(t, "undeliverable", result.Reason)
	require.Len(t, w.asked, 1, "a final error is not tried again")
}

func TestAPlatformThatPutsOffIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post = func(context.Context, contract.AskInput) (contract.Asked, error) {
		if len(w.asked) == 1 {
			return contract.Asked{}, temporal.NewApplicationErrorWithOptions("429", contract.ErrorTemporary,
				temporal.ApplicationErrorOptions{NextRetryDelay: 30 * time.Second})
		}
		return contract.Asked{Began: w.Now(), Delivered: w.Now(), Receipt: chat.Receipt{Ref: "7"}}, nil
	}
	start := w.Now()
	w.after(31*time.Second, w.says(ada, "yes"))
	result := w.invocation()
	require.Equal(t, "completed", result.Status)
	require.Equal(t, start.Add(150*time.Second).UTC(), *result.Approval.ExpiresAt, "the clock starts at the delivery")
}

// D18: a wait that is longer than the question lives is not waited for.
func TestAPlatformThatPutsOffTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post = func(context.Context, contract.AskInput) (contract.Asked, error) {
		return contract.Asked{}, temporal.NewApplicationErrorWithOptions("429", contract.ErrorTemporary,
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Hour})
	}
	require.Equal(t, "undeliverable", w.invocation().Reason)
	require.Len(t, w.asked, 1)
}

// closesSlowly keeps the workflow alive for late answers after the decision.
func (w *world) closesSlowly() {
	w.OnActivity(contract.ActivityClose, mock.Anything, mock.Anything).After(10*time.Second).
		Return(contract.Closed{Edited: true}, nil)
}
