package dispatch_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

func click(action chat.Action) chat.Click {
	return chat.Click{EventID: "cb7", Invocation: "01J", Action: action, Thread: thread, By: ada, ReceivedAt: start}
}

func TestClicksBecomeDecisions(t *testing.T) {
	t.Parallel()
	for action, want := range map[chat.Action]string{
		chat.ActionYes: chat.Allow, chat.ActionNo: chat.Deny, chat.ActionAlways: chat.AllowAlways,
		chat.ActionDone: "done", chat.ActionCancel: "cancel", "": "", "approve": "", // decides nothing
	} {
		d, c := newDispatcher(t)
		verdict := chat.Verdict{Standing: chat.StandingTaken, Decision: &chat.Decision{By: "ada"}}
		sent := updated(t, c, verdict, nil)
		have, err := d.Click(t.Context(), click(action))
		require.NoError(t, err)
		require.Equal(t, verdict, have)
		require.Equal(t, "invocation/01J", (*sent)[0].WorkflowID)
		require.Equal(t, contract.UpdateDecide, (*sent)[0].UpdateName)
		require.Equal(t, client.WorkflowUpdateStageCompleted, (*sent)[0].WaitForStage)
		require.Equal(t, []any{contract.Answer{
			ID: "cb7", Decision: want, By: ada, Via: "telegram", Thread: thread, ReceivedAt: start,
		}}, (*sent)[0].Args)
	}
}

// An id that is too long for a button stands as a digest: it can only be the one pending there.
func TestAButtonWithADigest(t *testing.T) {
	t.Parallel()
	long := "order-" + string(make([]byte, 100))
	sum := sha256.Sum256([]byte(long))
	digest := "sha256:" + hex.EncodeToString(sum[:])[:32]
	for name, test := range map[string]struct {
		talk    contract.Talk
		decides bool
	}{
		"the pending one": {contract.Talk{Pending: &contract.Open{Invocation: long}}, true},
		"a copy of it":    {contract.Talk{Copies: []contract.Copied{{Open: contract.Open{Invocation: "x"}}, {Open: contract.Open{Invocation: long}}}}, true},
		"another one":     {contract.Talk{Pending: &contract.Open{Invocation: "other"}}, false},
		"none":            {contract.Talk{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := newDispatcher(t)
			answers(t, c, "conversation/telegram/1001", "state", test.talk)
			in := click(chat.ActionYes)
			in.Invocation = digest
			if !test.decides {
				verdict, err := d.Click(t.Context(), in)
				require.NoError(t, err)
				require.Equal(t, chat.StandingUnknown, verdict.Standing)
				return
			}
			sent := updated(t, c, chat.Verdict{Standing: chat.StandingTaken}, nil)
			_, err := d.Click(t.Context(), in)
			require.NoError(t, err)
			require.Equal(t, contract.InvocationID(long), (*sent)[0].WorkflowID)
		})
	}
	d, c := newDispatcher(t)
	noQuery(c, "conversation/telegram/1001", errGone)
	in := click(chat.ActionYes)
	in.Invocation = digest
	verdict, err := d.Click(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, chat.StandingUnknown, verdict.Standing, "no such conversation")

	d, c = newDispatcher(t)
	noQuery(c, "conversation/telegram/1001", errAway)
	_, err = d.Click(t.Context(), in)
	require.ErrorIs(t, err, chat.ErrUnreachable)
}

func answer(id, decision string) contract.Answer {
	return contract.Answer{ID: id, Decision: decision, By: ada, Via: "api", ReceivedAt: start}
}

// The same answer is the same update; another decision or person under its id is another.
func TestRepeatsAreOneUpdate(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	sent := updated(t, c, chat.Verdict{Standing: chat.StandingTaken}, nil)
	eve := answer("d1", chat.Allow)
	eve.By = chat.Person{Name: "eve"}
	later := answer("d1", chat.Allow)
	later.ReceivedAt = start.Add(time.Minute)
	for _, a := range []contract.Answer{answer("d1", chat.Allow), later, answer("d1", chat.Deny), answer("d2", chat.Allow), eve} {
		_, err := d.Decide(t.Context(), "01J", a)
		require.NoError(t, err)
	}
	ids := map[string]int{}
	for _, o := range *sent {
		ids[o.UpdateID]++
	}
	require.Len(t, ids, 4)
	require.Equal(t, (*sent)[0].UpdateID, (*sent)[1].UpdateID)
}

// A question that has ended tells truthfully how.
func TestDecideAfterwards(t *testing.T) {
	t.Parallel()
	in := contract.Invocation{ID: "01J", Tool: "t", Operation: "o", Thread: thread, Requester: ada}
	yes := &chat.Decision{Decision: chat.Allow, By: "ada", Via: "telegram", At: start}
	for name, test := range map[string]struct {
		result contract.Result
		answer contract.Answer
		want   chat.Verdict
	}{
		"the same again": {
			contract.Result{Approval: &contract.Approval{Status: "approved", Decision: yes, DecisionID: "d1"}}, answer("d1", chat.Allow),
			chat.Verdict{Standing: chat.StandingTaken, Decision: yes},
		},
		"another id": {
			contract.Result{Approval: &contract.Approval{Status: "approved", Decision: yes, DecisionID: "d1"}}, answer("d2", chat.Allow),
			chat.Verdict{Standing: chat.StandingDecided, Decision: yes},
		},
		"another decision": {
			contract.Result{Approval: &contract.Approval{Status: "approved", Decision: yes, DecisionID: "d1"}}, answer("d1", chat.Deny),
			chat.Verdict{Standing: chat.StandingDecided, Decision: yes},
		},
		"timed out": {
			contract.Result{Approval: &contract.Approval{Status: "timeout"}}, answer("d1", chat.Allow),
			chat.Verdict{Standing: chat.StandingClosed, Reason: "timeout"},
		},
		"a handoff": {
			contract.Result{Handoff: &contract.HandoffState{Status: "cancelled"}}, answer("d1", "done"),
			chat.Verdict{Standing: chat.StandingClosed, Reason: "cancelled"},
		},
		"nobody was asked": {contract.Result{Status: "completed"}, answer("d1", chat.Allow), chat.Verdict{Standing: chat.StandingUnknown}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := newDispatcher(t)
			updated(t, c, chat.Verdict{}, errGone)
			described(c, "01J", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
			began(t, c, in)
			ended(t, c, "invocation/01J", test.result, nil)
			verdict, err := d.Decide(t.Context(), "01J", test.answer)
			require.NoError(t, err)
			require.Equal(t, test.want, verdict)
		})
	}
	d, c := newDispatcher(t)
	updated(t, c, chat.Verdict{}, errGone)
	c.On("DescribeWorkflow", mock.Anything, "invocation/01J", "").Return(nil, errGone)
	verdict, err := d.Decide(t.Context(), "01J", answer("d1", chat.Allow))
	require.NoError(t, err)
	require.Equal(t, chat.StandingUnknown, verdict.Standing, "there was never one")
}

// CONTRACT §9: where no engine answers the decision is kept with its time.
func TestDecideIsKept(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]error{
		"the update timed out": client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded),
		"our patience":         context.DeadlineExceeded,
		"Temporal is away":     errAway,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := newDispatcher(t)
			updated(t, c, chat.Verdict{}, fault)
			c.On("SignalWorkflow", mock.Anything, "invocation/01J", "", "decision", answer("d1", chat.Allow)).Return(nil).Once()
			verdict, err := d.Decide(t.Context(), "01J", answer("d1", chat.Allow))
			require.NoError(t, err)
			require.Equal(t, chat.StandingKept, verdict.Standing)
		})
	}
}

func TestDecideThatCannotBeKept(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	updated(t, c, chat.Verdict{}, errAway)
	c.On("SignalWorkflow", mock.Anything, "invocation/01J", "", "decision", mock.Anything).Return(errAway)
	_, err := d.Decide(t.Context(), "01J", answer("d1", chat.Allow))
	require.ErrorIs(t, err, chat.ErrUnreachable)

	d, c = newDispatcher(t)
	updated(t, c, chat.Verdict{}, context.DeadlineExceeded)
	c.On("SignalWorkflow", mock.Anything, "invocation/01J", "", "decision", mock.Anything).Return(errGone)
	c.On("DescribeWorkflow", mock.Anything, "invocation/01J", "").Return(nil, errGone)
	verdict, err := d.Decide(t.Context(), "01J", answer("d1", chat.Allow))
	require.NoError(t, err)
	require.Equal(t, chat.StandingUnknown, verdict.Standing, "it ended meanwhile")

	d, c = newDispatcher(t)
	refused := serviceerror.NewInvalidArgument("no")
	updated(t, c, chat.Verdict{}, refused)
	_, err = d.Decide(t.Context(), "01J", answer("d1", chat.Allow))
	require.ErrorIs(t, err, refused, "no reason to keep it")
}
