package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
)

// stepWorld is a world whose operation is a handoff; published is the business state.
type stepWorld struct {
	*world
	published  bool
	checkFails bool
	checks     int
}

func newStepWorld(t *testing.T, change ...func(*contract.Handoff)) *stepWorld {
	t.Helper()
	w := &stepWorld{world: newWorld(t)}
	h := &contract.Handoff{
		Reason: "Confirm before publishing.", Steps: []tool.Step{{Text: "Enter the code."}, {Text: "Press Publish."}},
		Expects: "the changes are published", Timeout: 5 * time.Minute,
	}
	for _, c := range change {
		c(h)
	}
	w.plan = contract.Plan{Mode: string(approval.ByHandoff), Thread: thread, Handoff: h}
	w.RegisterActivityWithOptions(func(context.Context, contract.CheckInput) (bool, error) {
		w.checks++
		if w.checkFails {
			return false, errors.New("database away")
		}
		return w.published, nil
	}, activity.RegisterOptions{Name: contract.ActivityCheck})
	w.RegisterActivityWithOptions(func(context.Context, contract.CheckInput) (bool, error) {
		return true, nil
	}, activity.RegisterOptions{Name: contract.ActivityWatch})
	return w
}

func TestHandoff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*contract.Handoff)
		play   func(*stepWorld)
		code   approval.Code
		want   contract.HandoffState
		asked  int
	}{
		"already satisfied": {
			change: func(h *contract.Handoff) { h.Satisfied = true },
			want:   contract.HandoffState{Status: "completed", Already: true, Verified: true},
		},
		"done and it is": {
			play: func(w *stepWorld) { w.published = true; w.after(time.Second, w.says(ada, "Done")) },
			want: contract.HandoffState{Status: "completed", Verified: true, Via: "telegram", AssertedBy: "ada", DecidedBy: "ada"}, asked: 1,
		},
		"done and it is not, then it is": {
			play: func(w *stepWorld) {
				w.after(time.Second, w.says(ada, "done"))
				w.after(time.Minute, func() { w.published = true })
				w.after(2*time.Minute, w.says(ada, "done"))
			},
			want: contract.HandoffState{Status: "completed", Verified: true, Via: "telegram", AssertedBy: "ada", DecidedBy: "ada"}, asked: 1,
		},
		"seen by itself": {
			change: func(h *contract.Handoff) { h.Observable = true },
			want:   contract.HandoffState{Status: "completed", Verified: true, Observed: true, Via: "observed"}, asked: 1,
		},
		"cancelled": {
			play: func(w *stepWorld) { w.after(time.Second, w.says(ada, "cancel")) },
			code: approval.HandoffCancelled, want: contract.HandoffState{Status: "cancelled", Via: "telegram", DecidedBy: "ada"}, asked: 1,
		},
		"cancelled, and it is done anyway": {
			play: func(w *stepWorld) { w.published = true; w.after(time.Second, w.says(ada, "cancel")) },
			code: approval.HandoffCancelled, want: contract.HandoffState{Status: "cancelled", Observed: true, Via: "telegram", DecidedBy: "ada"}, asked: 1,
		},
		"too late": {
			code: approval.HandoffTimeout, want: contract.HandoffState{Status: "timed_out"}, asked: 1,
		},
		"done at the deadline, nobody said so": {
			play: func(w *stepWorld) { w.after(4*time.Minute, func() { w.published = true }) },
			want: contract.HandoffState{Status: "completed", Verified: true, Observed: true, Via: "observed"}, asked: 1,
		},
		"a check that fails is no success": {
			play: func(w *stepWorld) { w.checkFails = true; w.after(time.Second, w.says(ada, "done")) },
			code: approval.HandoffTimeout,
			want: contract.HandoffState{Status: "timed_out", Missing: "it could not be checked just now: database away"}, asked: 1,
		},
		"nothing to check": {
			change: func(h *contract.Handoff) { h.Expects = "" },
			play:   func(w *stepWorld) { w.after(time.Second, w.says(bob, "done\n\n> quoted")) },
			want:   contract.HandoffState{Status: "completed", Via: "telegram", AssertedBy: "bob", DecidedBy: "bob"}, asked: 1,
		},
		"talk does not answer": {
			play: func(w *stepWorld) { w.published = false; w.after(time.Second, w.says(ada, "where is the field?")) },
			code: approval.HandoffTimeout, want: contract.HandoffState{Status: "timed_out"}, asked: 1,
		},
		"withdrawn": {
			play: func(w *stepWorld) {
				w.after(time.Second, func() { w.SignalWorkflow(contract.SignalWord, contract.Word{Kind: contract.WordWithdrawn}) })
			},
			code: approval.HandoffCancelled, want: contract.HandoffState{Status: "cancelled"}, asked: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := test.change
			if change == nil {
				change = func(*contract.Handoff) {}
			}
			w := newStepWorld(t, change)
			if test.play != nil {
				test.play(w)
			}
			result := w.invocation()
			require.Equal(t, string(test.code), result.Code)
			require.Len(t, w.asked, test.asked)
			require.Zero(t, w.runs, "the tool's run function is never called")
			require.Nil(t, result.Approval, "no approval prompt beside a handoff")
			got := *result.Handoff
			require.NotNil(t, got.DecidedAt)
			got.Reason, got.Steps, got.Approvers = "", nil, tool.Approvers{}
			got.AskedAt, got.ExpiresAt, got.DecidedAt = nil, nil, nil
			require.Equal(t, test.want, got)
		})
	}
}

func TestHandoffPrompt(t *testing.T) {
	t.Parallel()
	w := newStepWorld(t)
	w.invocation()
	require.Equal(t, "👉 Confirm before publishing.\n1. Enter the code.\n2. Press Publish.\nReply 'Done' when it is done, or 'Cancel'.", w.asked[0].Card.Text)
	require.True(t, w.asked[0].Open.Handoff)
}

func TestHandoffDecisionsHearTheTruth(t *testing.T) {
	t.Parallel()
	w := newStepWorld(t)
	var early, allowed, done verdict
	w.after(time.Second, w.decides("1", "done", ada, &early))
	w.after(2*time.Second, w.decides("2", chat.Allow, ada, &allowed))
	w.after(time.Minute, func() { w.published = true })
	w.after(2*time.Minute, w.decides("3", "done", ada, &done))
	require.Equal(t, "completed", w.invocation().Status)
	require.Equal(t, chat.StandingNoted, early.Standing)
	require.Equal(t, "the changes are published", early.Reason)
	require.Equal(t, "It is still open. What is missing: the changes are published.", words.Say("", words.Press(early.Verdict, "")))
	require.Equal(t, []string{"It is still open. What is missing: the changes are published."}, w.told)
	require.Equal(t, chat.StandingInvalid, allowed.Standing)
	require.Equal(t, chat.StandingTaken, done.Standing)
}
