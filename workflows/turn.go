package workflows

import (
	"fmt"
	"slices"
	"strconv"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// maxSteps bounds an agent that never comes to an end.
const maxSteps = 25

// finalRefusals are a person's word, or the lack of one: nothing retries them (CONTRACT §4).
var finalRefusals = []approval.Code{approval.PermissionDenied, approval.HandoffCancelled, approval.HandoffTimeout}

// Turn answers one message: it asks the agent for its next step, runs the calls that it wants
// as invocations of their own, and replies with what lies in outbound/{uuid}/.
func Turn(ctx workflow.Context, in contract.Turn) (contract.TurnResult, error) {
	t := &turn{in: in, refused: map[string]contract.Result{}}
	result := t.run(ctx)
	return result, t.done(ctx)
}

type turn struct {
	in      contract.Turn
	results []contract.ToolResult
	// refused are calls that a person has turned down; the same call is not asked for twice in a turn.
	refused map[string]contract.Result
}

func (t *turn) run(ctx workflow.Context) contract.TurnResult {
	text, line := t.think(ctx)
	details(ctx, "Replying.")
	// A person who wrote gets an answer, also when the turn was cancelled.
	free, _ := workflow.NewDisconnectedContext(ctx)
	result, err := replyActivity.do(free, replying("Reply in "+t.in.Message.Thread.String()),
		contract.ReplyInput{Turn: t.in, Text: text, Line: line, Results: t.results})
	if err != nil {
		workflow.GetLogger(ctx).Error("the reply could not be delivered", "error", err)
		return contract.TurnResult{Text: text, Undelivered: cause(err)}
	}
	return result
}

// think walks the agent's steps until it has a reply, or the turn has to say something itself.
func (t *turn) think(ctx workflow.Context) (reply string, own chat.Line) {
	for n := range maxSteps {
		details(ctx, fmt.Sprintf("Asking the agent for step %d.", n+1))
		step, err := stepActivity.first(ctx, planning("The agent's next step"), contract.StepInput{Turn: t.in, Results: t.results})
		switch {
		case ctx.Err() != nil:
			return "", chat.Text(chat.LineTurnCancelled)
		case err != nil:
			return "", chat.Text(chat.LineTurnFailed, "cause", cause(err))
		case len(step.Calls) == 0:
			return step.Reply, chat.Line{}
		}
		for _, call := range step.Calls {
			t.results = append(t.results, contract.ToolResult{Call: call, Result: t.invoke(ctx, call)})
		}
	}
	return "", chat.Text(chat.LineTurnEndless, "steps", strconv.Itoa(maxSteps))
}

// invoke runs one call as a ToolInvocation of its own.
func (t *turn) invoke(ctx workflow.Context, call contract.ToolCall) contract.Result {
	if before, ok := t.refused[call.Key]; ok {
		before.ID = call.ID
		return before
	}
	details(ctx, fmt.Sprintf("Running %s %s.", call.Tool, call.Operation))
	in := contract.Invocation{
		ID: call.ID, Tool: call.Tool, Operation: call.Operation, Parameters: call.Parameters,
		Thread: t.in.Message.Thread, Requester: t.in.Message.From, MessageUUID: t.in.Message.UUID,
		MessageRef: t.in.Message.Ref, Language: t.in.Language,
		Turn: true, Attributes: t.in.Attributes,
	}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            contract.InvocationID(call.ID),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		// The prompt of a turn that is cancelled has to be closed.
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		StaticSummary:         fmt.Sprintf("%s %s for %s", call.Tool, call.Operation, in.Requester.Label()),
		TypedSearchAttributes: in.SearchAttributes(),
	})
	var result contract.Result
	if err := workflow.ExecuteChildWorkflow(child, contract.WorkflowToolInvocation, in).Get(ctx, &result); err != nil {
		return contract.Result{
			ID: call.ID, Status: string(approval.StatusUnknown), Code: string(approval.OutcomeUnknown),
			Reason: "the invocation ended without a result: " + cause(err),
		}
	}
	if code := approval.Code(result.Code); slices.Contains(finalRefusals, code) {
		t.refused[call.Key] = result
	}
	return result
}

// done tells the conversation that the next message may have its turn.
func (t *turn) done(ctx workflow.Context) error {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	_, err := signalActivity.first(ctx, bookkeeping("Give the conversation its next turn"), contract.SignalInput{
		Workflow: contract.ConversationID(t.in.Message.Thread), Thread: t.in.Message.Thread, Attributes: t.in.Attributes,
		Note: &contract.Note{TurnDone: &contract.TurnDone{UUID: t.in.Message.UUID}},
	})
	return err
}
