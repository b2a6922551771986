package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// readers bounds how many workflows are asked at the same time.
const readers = 16

// State returns how an invocation stands; with wait > 0 it waits that long for its end.
func (d *Dispatcher) State(ctx context.Context, id string, wait time.Duration) (contract.State, error) {
	if wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, wait)
		err := d.Client.GetWorkflow(waiting, contract.InvocationID(id), "").Get(waiting, nil)
		cancel()
		if absent(err) {
			return contract.State{}, contract.ErrNotFound
		}
	}
	asking, cancel := context.WithTimeout(ctx, d.CallTimeout)
	defer cancel()
	described, err := d.Client.DescribeWorkflow(asking, contract.InvocationID(id), "")
	switch {
	case absent(err):
		return contract.State{}, contract.ErrNotFound
	case err != nil:
		return contract.State{}, unreachable(err)
	case described.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return d.ended(asking, id)
	}
	var state contract.State
	if err := d.query(asking, contract.InvocationID(id), contract.QueryState, &state); err != nil {
		switch {
		case errors.Is(err, contract.ErrGone): // it has ended since
			return d.ended(ctx, id)
		case errors.Is(err, contract.ErrNoEngine): // it is there and goes on once an engine is back
			return d.begun(ctx, id)
		}
		return contract.State{}, err
	}
	return state, nil
}

// ended reads a closed invocation from its history, which takes no engine.
func (d *Dispatcher) ended(ctx context.Context, id string) (contract.State, error) {
	state, err := d.begun(ctx, id)
	if err != nil {
		return contract.State{}, err
	}
	var result contract.Result
	err = d.Client.GetWorkflow(ctx, contract.InvocationID(id), "").Get(ctx, &result)
	switch {
	case errors.As(err, new(*temporal.WorkflowExecutionError)):
		// Terminated by an operator: nobody knows how far it came.
		state.Status, state.Code, state.Reason = "unknown", "OUTCOME_UNKNOWN", "the workflow was ended from outside"
		return state, nil
	case err != nil:
		// Temporal did not answer: that says nothing about the call.
		return contract.State{}, unreachable(err)
	}
	state.Result = result
	return state, nil
}

// begun is what is known of an invocation from its first event.
func (d *Dispatcher) begun(ctx context.Context, id string) (contract.State, error) {
	ctx, cancel := context.WithTimeout(ctx, d.CallTimeout)
	defer cancel()
	events := d.Client.GetWorkflowHistory(ctx, contract.InvocationID(id), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !events.HasNext() {
		return contract.State{}, contract.ErrNotFound
	}
	first, err := events.Next()
	if err != nil {
		return contract.State{}, unreachable(err)
	}
	var in contract.Invocation
	if err := converter.GetDefaultDataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &in); err != nil {
		return contract.State{}, fmt.Errorf("read the input of %s: %w", contract.InvocationID(id), err)
	}
	return contract.State{
		Result: contract.Result{ID: in.ID, Status: "running"}, Tool: in.Tool, Operation: in.Operation,
		Thread: in.Thread, Requester: in.Requester.Key(),
	}, nil
}

// query asks a workflow; contract.ErrNoEngine where no worker answers.
func (d *Dispatcher) query(ctx context.Context, workflowID, name string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, d.CallTimeout)
	defer cancel()
	answer, err := d.Client.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflowID, QueryType: name, QueryRejectCondition: enumspb.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	var deadline *serviceerror.DeadlineExceeded
	var rejected *serviceerror.FailedPrecondition
	switch {
	case absent(err):
		return contract.ErrNotFound
	case errors.As(err, &deadline), errors.As(err, &rejected), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w (%w)", contract.ErrNoEngine, err)
	case err != nil:
		return unreachable(err)
	}
	if answer.QueryRejected != nil {
		return contract.ErrGone
	}
	return answer.QueryResult.Get(out)
}

// talk reads a conversation's state.
func (d *Dispatcher) talk(ctx context.Context, t chat.Thread) (talk contract.Talk, err error) {
	err = d.query(ctx, contract.ConversationID(t), contract.QueryTalk, &talk)
	if errors.Is(err, contract.ErrNotFound) || errors.Is(err, contract.ErrGone) {
		return contract.Talk{Thread: t}, nil
	}
	return talk, err
}

// Inbox lists what is pending now, as the inbox has it.
func (d *Dispatcher) Inbox(ctx context.Context) (pending []contract.Pending, err error) {
	err = d.query(ctx, contract.InboxID, contract.QueryPending, &pending)
	if errors.Is(err, contract.ErrNotFound) || errors.Is(err, contract.ErrGone) {
		return nil, nil
	}
	return pending, err
}

// Pending lists what is open now with all there is to know of it, oldest first. Those who ask at
// the same time share one read.
func (d *Dispatcher) Pending(ctx context.Context) ([]contract.State, error) {
	states, err := d.pending.do(ctx, d.readPending)
	return slices.Clone(states), err
}

func (d *Dispatcher) readPending(ctx context.Context) ([]contract.State, error) {
	pending, err := d.Inbox(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(pending))
	for n, p := range pending {
		ids[n] = p.Invocation
	}
	remember := len(ids) >= many
	if remember {
		d.frozen.begin(ids)
		defer d.frozen.end()
	}
	states := d.states(ctx, ids, func(ctx context.Context, id string) (state contract.State, err error) {
		if remember {
			if state, ok := d.frozen.get(id, d.Now()); ok {
				return state, nil
			}
			defer func() {
				if err == nil {
					d.frozen.keep(id, state)
				}
			}()
		}
		err = d.query(ctx, contract.InvocationID(id), contract.QueryState, &state)
		if errors.Is(err, contract.ErrGone) {
			// Terminated, or just ended: it tells nobody any more, or is about to.
			err = d.Ended(ctx, id)
		}
		return state, err
	})
	return slices.DeleteFunc(states, func(s contract.State) bool {
		return (s.Approval == nil || s.Approval.Status != "pending") && (s.Handoff == nil || s.Handoff.Status != "pending")
	}), ctx.Err()
}

// states reads several invocations at once, in their order; those that cannot be read are left out.
func (d *Dispatcher) states(ctx context.Context, ids []string, read func(context.Context, string) (contract.State, error)) []contract.State {
	found := make([]*contract.State, len(ids))
	slots := make(chan struct{}, readers)
	var wg sync.WaitGroup
	for n, id := range ids {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			state, err := read(ctx, id)
			if err != nil {
				d.Logger.Warn("an invocation could not be read", "invocation", id, "error", err)
				return
			}
			found[n] = &state
		})
	}
	wg.Wait()
	states := make([]contract.State, 0, len(ids))
	for _, s := range found {
		if s != nil {
			states = append(states, *s)
		}
	}
	return states
}

// Invocations lists the newest first, from visibility.
func (d *Dispatcher) Invocations(ctx context.Context, limit int) ([]contract.State, error) {
	executions, err := d.list(ctx, fmt.Sprintf("WorkflowType = %q", contract.WorkflowToolInvocation), limit)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(executions))
	for _, e := range executions {
		// Anybody may start a workflow of this type under an id of their own; it is none of ours.
		if id, ours := strings.CutPrefix(e.GetExecution().GetWorkflowId(), contract.InvocationID("")); ours {
			ids = append(ids, id)
		}
	}
	return d.states(ctx, ids, func(ctx context.Context, id string) (contract.State, error) { return d.State(ctx, id, 0) }), nil
}

func (d *Dispatcher) list(ctx context.Context, query string, limit int) ([]*workflowpb.WorkflowExecutionInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, d.CallTimeout)
	defer cancel()
	answer, err := d.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: int32(limit)})
	if err != nil {
		return nil, unreachable(err)
	}
	executions := answer.GetExecutions()
	slices.SortStableFunc(executions, func(a, b *workflowpb.WorkflowExecutionInfo) int {
		return cmp.Compare(b.GetStartTime().AsTime().UnixNano(), a.GetStartTime().AsTime().UnixNano())
	})
	return executions, nil
}

// Turn waits until the turn that answers a message has ended. The conversation may not have
// started it yet.
func (d *Dispatcher) Turn(ctx context.Context, uuid string) (contract.TurnResult, error) {
	var result contract.TurnResult
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		err := d.Client.GetWorkflow(ctx, contract.TurnID(uuid), "").Get(ctx, &result)
		if !absent(err) {
			return result, unreachable(err)
		}
		select {
		case <-ctx.Done():
			return result, fmt.Errorf("wait for the turn: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// Healthy tells whether Temporal answers.
func (d *Dispatcher) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := d.Client.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}
