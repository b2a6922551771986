package dispatch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/dispatch"
)

var started = contract.Invocation{ID: "01J", Tool: "t", Operation: "o", Thread: thread, Requester: ada}

const running, completed = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED

func TestState(t *testing.T) {
	t.Parallel()
	known := contract.State{Tool: "t", Operation: "o", Thread: thread, Requester: "ada"}
	with := func(r contract.Result) contract.State {
		s := known
		s.Result = r
		return s
	}
	waiting := with(contract.Result{ID: "01J", Status: "waiting"})
	done := contract.Result{ID: "01J", Status: "completed", Output: []byte("{}")}
	atFirst := with(contract.Result{ID: "01J", Status: "running"})
	for name, test := range map[string]struct {
		world func(*testing.T, *mocks.Client)
		want  contract.State
		err   error
	}{
		"running": {func(t *testing.T, c *mocks.Client) {
			t.Helper()
			described(c, "01J", running)
			answers(t, c, "invocation/01J", "state", waiting)
		}, waiting, nil},
		"completed": {func(t *testing.T, c *mocks.Client) {
			t.Helper()
			described(c, "01J", completed)
			began(t, c, started)
			ended(t, c, "invocation/01J", done, nil)
		}, with(done), nil},
		"terminated": {func(t *testing.T, c *mocks.Client) {
			t.Helper()
			described(c, "01J", enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED)
			began(t, c, started)
			ended(t, c, "invocation/01J", nil, &temporal.WorkflowExecutionError{})
		}, with(contract.Result{ID: "01J", Status: "unknown", Code: "OUTCOME_UNKNOWN", Reason: "the workflow was ended from outside"}), nil},
		"Temporal goes away over a call that has ended": {func(t *testing.T, c *mocks.Client) {
			t.Helper()
			described(c, "01J", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
			began(t, c, started)
			ended(t, c, "invocation/01J", nil, errAway)
		}, contract.State{}, chat.ErrUnreachable},
		"ended since": {func(t *testing.T, c *mocks.Client) {
			t.Helper()
			described(c, "01J", running)
			noQuery(c, "invocation/01J", nil)
			began(t, c, started)
			ended(t, c, "invocation/01J", done, nil)
		}, with(done), nil},
		"no engine": {func(t *testing.T, c *mocks.Client) {
			t.Helper()
			described(c, "01J", running)
			noQuery(c, "invocation/01J", serviceerror.NewDeadlineExceeded("no worker"))
			began(t, c, started)
		}, atFirst, nil},
		"not there": {func(t *testing.T, c *mocks.Client) {
			t.Helper()
			c.On("DescribeWorkflow", mock.Anything, "invocation/01J", "").Return(nil, errGone)
		}, contract.State{}, contract.ErrNotFound},
		"Temporal is away": {func(t *testing.T, c *mocks.Client) {
			t.Helper()
			c.On("DescribeWorkflow", mock.Anything, "invocation/01J", "").Return(nil, errAway)
		}, contract.State{}, chat.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := newDispatcher(t)
			test.world(t, c)
			state, err := d.State(t.Context(), "01J", 0)
			require.ErrorIs(t, err, test.err)
			require.Equal(t, test.want.Status, state.Status)
			require.Equal(t, test.want.Code, state.Code)
			require.Equal(t, test.want.Reason, state.Reason)
			require.Equal(t, test.want.Thread, state.Thread)
			require.Equal(t, test.want.Requester, state.Requester)
		})
	}
}

func TestStateWaits(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	run := mocks.NewWorkflowRun(t)
	run.On("Get", mock.Anything, nil).Return(func(ctx context.Context, _ any) error {
		<-ctx.Done() // it is still running
		return ctx.Err()
	})
	c.On("GetWorkflow", mock.Anything, "invocation/01J", "").Return(run)
	described(c, "01J", running)
	answers(t, c, "invocation/01J", "state", contract.State{Result: contract.Result{Status: "waiting"}})
	state, err := d.State(t.Context(), "01J", 10*time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, "waiting", state.Status)

	d, c = newDispatcher(t)
	ended(t, c, "invocation/01J", nil, errGone)
	_, err = d.State(t.Context(), "01J", time.Minute)
	require.ErrorIs(t, err, contract.ErrNotFound)
}

func TestPending(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	asked := func(id, status string) contract.State {
		return contract.State{Result: contract.Result{ID: id, Approval: &contract.Approval{ID: id, Status: status}}}
	}
	ids := []string{"old", "decided", "handoff", "terminated", "broken", "new"}
	pending := []contract.Pending{}
	for _, id := range ids {
		pending = append(pending, contract.Pending{Invocation: id})
	}
	answers(t, c, "inbox", "pending", pending)
	answers(t, c, "invocation/old", "state", asked("old", "pending"))
	answers(t, c, "invocation/decided", "state", asked("decided", "approved"))
	answers(t, c, "invocation/handoff", "state", contract.State{Result: contract.Result{ID: "handoff", Handoff: &contract.HandoffState{Status: "pending"}}})
	noQuery(c, "invocation/terminated", nil)
	noQuery(c, "invocation/broken", errAway)
	answers(t, c, "invocation/new", "state", asked("new", "pending"))
	c.On("SignalWithStartWorkflow", mock.Anything, "inbox", "ended", "terminated", mock.Anything, "Inbox", mock.Anything).Return(nil, nil).Once()
	states, err := d.Pending(t.Context())
	require.NoError(t, err)
	have := []string{}
	for _, s := range states {
		have = append(have, s.ID)
	}
	require.Equal(t, []string{"old", "handoff", "new"}, have, "in the order they were asked")

	d, c = newDispatcher(t)
	noQuery(c, "inbox", errGone)
	states, err = d.Pending(t.Context())
	require.NoError(t, err)
	require.Empty(t, states, "nothing was ever asked")

	d, c = newDispatcher(t)
	noQuery(c, "inbox", serviceerror.NewDeadlineExceeded("no worker"))
	_, err = d.Pending(t.Context())
	require.ErrorIs(t, err, contract.ErrNoEngine)
}

// Where many questions are open, those that have not changed are asked once.
func TestPendingOfMany(t *testing.T) {
	t.Parallel()
	at := time.Date(2029, 1, 2, 3, 4, 5, 0, time.UTC)
	now := at
	d, c := newDispatcher(t, func(p *dispatch.Params) { p.Now = func() time.Time { return now } })
	var pending []contract.Pending
	for n := range 120 {
		id := fmt.Sprintf("%03d", n)
		expires := at.Add(time.Minute)
		state := contract.State{Result: contract.Result{ID: id, Approval: &contract.Approval{ID: id, Status: "pending", ExpiresAt: &expires}}}
		switch id {
		case "001": // a vote may come in
			state.Approval.Approvers.Quorum = 2
		case "002": // the clock does not run yet
			state.Approval.ExpiresAt = nil
		case "003":
			state = contract.State{Result: contract.Result{ID: id, Handoff: &contract.HandoffState{Status: "pending"}}}
		case "004":
			*state.Approval.ExpiresAt = at.Add(time.Second)
		}
		pending = append(pending, contract.Pending{Invocation: id})
		answers(t, c, "invocation/"+id, "state", state)
	}
	answers(t, c, "inbox", "pending", pending)
	c.On("SignalWorkflow", mock.Anything, "invocation/006", "", "reply", mock.Anything).Return(nil)
	c.On("SignalWithStartWorkflow", mock.Anything, "inbox", "ended", "007", mock.Anything, "Inbox", mock.Anything).Return(nil, nil)
	c.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(nil, serviceerror.NewUnimplemented("no"))
	// read lists them and returns which were asked.
	read := func() (asked []string) {
		before := len(c.Calls)
		states, err := d.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, states, 120)
		require.True(t, slices.IsSortedFunc(states, func(a, b contract.State) int { return strings.Compare(a.ID, b.ID) }))
		for _, call := range c.Calls[before:] {
			if r, ok := call.Arguments.Get(1).(*client.QueryWorkflowWithOptionsRequest); ok && r.WorkflowID != "inbox" {
				asked = append(asked, strings.TrimPrefix(r.WorkflowID, "invocation/"))
			}
		}
		slices.Sort(asked)
		return asked
	}
	require.Len(t, read(), 120)
	require.Equal(t, []string{"001", "002", "003"}, read())
	_, err := d.Decide(t.Context(), "005", contract.Answer{ID: "1", Decision: chat.Allow})
	require.Error(t, err)
	require.NoError(t, d.Reply(t.Context(), "006", contract.Reply{}))
	require.NoError(t, d.Ended(t.Context(), "007"))
	now = at.Add(time.Second)
	require.Equal(t, []string{"001", "002", "003", "004", "005", "006", "007"}, read(), "what was touched, and what is past its deadline")
	require.Equal(t, []string{"001", "002", "003", "004"}, read())
}

func listed(c *mocks.Client, ids ...string) {
	executions := []*workflowpb.WorkflowExecutionInfo{}
	for n, id := range ids {
		executions = append(executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: id}, StartTime: timestamppb.New(start.Add(time.Duration(n) * time.Minute)),
		})
	}
	c.On("ListWorkflow", mock.Anything, mock.Anything).Return(&workflowservice.ListWorkflowExecutionsResponse{Executions: executions}, nil)
}

// Somebody may have started a ToolInvocation by hand, under any id.
func TestInvocations(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	listed(c, "invocation/a", "x", "", "invocation/b")
	for _, id := range []string{"a", "b"} {
		described(c, id, running)
		answers(t, c, "invocation/"+id, "state", contract.State{Result: contract.Result{ID: id}})
	}
	states, err := d.Invocations(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, states, 2)
	require.Equal(t, "b", states[0].ID, "the newest first")
}

func TestGrants(t *testing.T) {
	t.Parallel()
	grant := contract.Grant{ID: "g", Tool: "t", Operation: "o"}
	talk := contract.Talk{Thread: thread, Grants: []contract.Grant{grant}}
	d, c := newDispatcher(t)
	answers(t, c, "conversation/telegram/1001", "state", talk)
	listed(c, "conversation/telegram/1001")
	want := []contract.ListedGrant{{Grant: grant, Thread: thread}}
	standing, err := d.Standing(t.Context(), thread)
	require.NoError(t, err)
	require.Equal(t, talk.Grants, standing)
	one, err := d.Grants(t.Context(), &thread)
	require.NoError(t, err)
	require.Equal(t, want, one)
	all, err := d.Grants(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, want, all)

	c.On("SignalWithStartWorkflow", mock.Anything, "conversation/telegram/1001", "note",
		contract.Note{Revoke: &contract.Revoke{Grant: "g", By: "ada"}}, mock.Anything, "Conversation", mock.Anything).Return(nil, nil).Once()
	require.NoError(t, d.Revoke(t.Context(), all[0], "ada"))
}

func TestTurn(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	run := mocks.NewWorkflowRun(t)
	run.On("Get", mock.Anything, mock.Anything).Return(errGone).Twice() // the conversation has not started it yet
	run.On("Get", mock.Anything, mock.Anything).Return(func(_ context.Context, out any) error {
		*out.(*contract.TurnResult) = contract.TurnResult{Text: "done"}
		return nil
	})
	c.On("GetWorkflow", mock.Anything, "turn/0198", "").Return(run)
	result, err := d.Turn(t.Context(), "0198")
	require.NoError(t, err)
	require.Equal(t, "done", result.Text)

	d, c = newDispatcher(t)
	ended(t, c, "turn/0198", nil, errGone)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = d.Turn(ctx, "0198")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t, func(p *dispatch.Params) { p.CallTimeout = time.Second })
	c.On("CheckHealth", mock.Anything, mock.Anything).Return(nil, errAway)
	require.ErrorIs(t, d.Healthy(t.Context()), errAway)
}
