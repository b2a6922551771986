package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// ToolInvocation is one call of a tool's operation, from the check of its parameters to its
// result (CONTRACT §1). Denied, cancelled and timed out are results, never errors.
func ToolInvocation(ctx workflow.Context, in contract.Invocation) (contract.Result, error) {
	i := newInvocation(in)
	if err := i.serve(ctx); err != nil {
		return contract.Result{}, err
	}
	i.run(ctx)
	return i.finish(ctx)
}

// invocation is the state of one ToolInvocation.
type invocation struct {
	in     contract.Invocation
	plan   contract.Plan
	result contract.Result
	// question is set from the start, so that an answer that comes early is kept for it.
	question *question
	ended    bool
}

func newInvocation(in contract.Invocation) *invocation {
	i := &invocation{in: in, result: contract.Result{ID: in.ID, Status: string(approval.StatusRunning)}}
	i.question = newQuestion(i)
	return i
}

// serve answers queries and updates and takes signals, from the first task on.
func (i *invocation) serve(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, contract.QueryState, func() (contract.State, error) { return i.state(), nil }); err != nil {
		return fmt.Errorf("serve the state query: %w", err)
	}
	return i.question.serve(ctx)
}

// state is the result so far.
func (i *invocation) state() contract.State {
	s := contract.State{
		Result: i.result, Tool: i.in.Tool, Operation: i.in.Operation,
		Thread: i.in.Thread, Requester: i.in.Requester.Key(),
	}
	s.Approval, s.Handoff = i.question.approval(), i.question.step.seen()
	return s
}

// run walks the pipeline; the first step that fails ends it.
func (i *invocation) run(ctx workflow.Context) {
	details(ctx, "Checking the call.")
	plan, err := planActivity.first(ctx, planning("Check the call and freeze what has to be asked"), i.in)
	switch {
	case err != nil && ctx.Err() != nil:
		i.fail(approval.PermissionDenied, string(approval.ReasonWithdrawn))
		return
	case err != nil:
		i.fail(approval.Unavailable, "the call could not be checked: "+cause(err))
		return
	case plan.Code != "":
		i.fail(approval.Code(plan.Code), plan.Reason)
		return
	}
	i.plan = plan
	switch approval.Mode(plan.Mode) {
	case approval.None:
		i.execute(ctx, nil)
	case approval.Ask, approval.AskAlways:
		if i.question.ask(ctx) {
			i.execute(ctx, i.question.closing(ctx))
			return
		}
		i.fail(approval.PermissionDenied, i.question.reason())
	case approval.ByHandoff:
		i.handOff(ctx)
	default:
		// A mode this version does not know may come from a newer plan: never run it.
		i.fail(approval.Unavailable, fmt.Sprintf("this worker does not know the approval mode %q; update it", plan.Mode))
	}
}

func (i *invocation) fail(code approval.Code, reason string) {
	i.result.Code, i.result.Reason = string(code), reason
	i.result.Status = string(approval.StatusOf(code))
}

// finish closes what is still open, also when the workflow was cancelled, and returns the result.
func (i *invocation) finish(ctx workflow.Context) (contract.Result, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	i.result.Approval, i.result.Handoff = i.question.approval(), i.question.step.seen()
	i.ended = true
	i.mark(ctx, i.result.Status)
	details(ctx, i.epitaph())
	i.question.close(ctx)
	i.tell(ctx)
	i.question.gather(ctx)
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return contract.Result{}, fmt.Errorf("wait for running updates: %w", err)
	}
	return i.result, nil
}

// epitaph says in words how it ended, for Temporal's Web UI.
func (i *invocation) epitaph() string {
	if i.result.Code == "" {
		return "Done."
	}
	return fmt.Sprintf("Ended: %s. %s", i.result.Code, i.result.Reason)
}

// tell writes one line to the person where no turn will: the call was started on its own and
// the question's card does not say it.
func (i *invocation) tell(ctx workflow.Context) {
	var line chat.Line
	switch {
	case i.in.Turn || !i.question.posted():
		return
	case i.result.Code == string(approval.OutcomeUnknown):
		line = chat.Text(chat.LineOutcomeUnknown, "reason", i.result.Reason)
	case i.result.Reason == string(approval.ReasonDrift):
		line = chat.Text(chat.LineDrift)
	case i.result.Code == string(approval.ToolFailed):
		line = chat.Text(chat.LineFailed, "reason", i.result.Reason)
	case i.question.deniedByText():
		line = chat.Text(chat.LineNotRun)
	default:
		return
	}
	in := contract.TellInput{Thread: i.plan.Thread, Line: line, Language: i.plan.Language, Key: "tell:" + i.in.ID}
	if _, err := tellActivity.do(ctx, telling("Say how it ended"), in); err != nil {
		workflow.GetLogger(ctx).Warn("the person could not be told how the call ended", "error", err)
	}
}
