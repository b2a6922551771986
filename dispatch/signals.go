package dispatch

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// Word signals an invocation what its conversation has to say.
func (d *Dispatcher) Word(ctx context.Context, workflowID string, word contract.Word) error {
	return d.signal(ctx, workflowID, contract.SignalWord, word)
}

// Reply signals an invocation a text that may answer.
func (d *Dispatcher) Reply(ctx context.Context, invocation string, reply contract.Reply) error {
	return d.signal(ctx, contract.InvocationID(invocation), contract.SignalReply, reply)
}

func (d *Dispatcher) signal(ctx context.Context, workflowID, name string, arg any) error {
	defer d.frozen.forgetWorkflow(workflowID)
	err := d.Client.SignalWorkflow(ctx, workflowID, "", name, arg)
	if absent(err) {
		return contract.ErrGone
	}
	return err
}

// Asked puts a question into the inbox.
func (d *Dispatcher) Asked(ctx context.Context, pending contract.Pending) error {
	return d.inbox(ctx, contract.SignalAsked, pending)
}

// Ended takes a question out of the inbox.
func (d *Dispatcher) Ended(ctx context.Context, invocation string) error {
	defer d.frozen.forget(invocation)
	return d.inbox(ctx, contract.SignalEnded, invocation)
}

func (d *Dispatcher) inbox(ctx context.Context, signal string, arg any) error {
	_, err := d.Client.SignalWithStartWorkflow(ctx, contract.InboxID, signal, arg, client.StartWorkflowOptions{
		TaskQueue: contract.TaskQueue, StaticSummary: "What is pending over all conversations",
	}, contract.WorkflowInbox, contract.Box{})
	return err
}

// Alive tells whether a workflow is running.
func (d *Dispatcher) Alive(ctx context.Context, workflowID string) (bool, error) {
	described, err := d.Client.DescribeWorkflow(ctx, workflowID, "")
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return described.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}

// Talking tells whether there is a conversation in this thread: the bot is part of it.
func (d *Dispatcher) Talking(ctx context.Context, t chat.Thread) (bool, error) {
	return d.Alive(ctx, contract.ConversationID(t))
}

// Known tells whether there is an invocation with this id, running or ended.
func (d *Dispatcher) Known(ctx context.Context, invocation string) (bool, error) {
	_, err := d.Client.DescribeWorkflow(ctx, contract.InvocationID(invocation), "")
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

// Bounced tells a conversation that a prompt did not arrive although its platform had taken it.
func (d *Dispatcher) Bounced(ctx context.Context, t chat.Thread, b contract.Bounced) error {
	return unreachable(d.Note(ctx, t, d.attributes.Load(), contract.Note{Bounced: &b}))
}

// Heartbeat records a phase of an activity and returns only once Temporal has it.
func (d *Dispatcher) Heartbeat(ctx context.Context, taskToken []byte, phase contract.Phase) error {
	return d.Client.RecordActivityHeartbeat(ctx, taskToken, phase)
}

// Listen makes sure that a connector's one poller is running.
func (d *Dispatcher) Listen(ctx context.Context, connector string) error {
	_, err := d.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: contract.ListenerID(connector), TaskQueue: contract.TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "Polls " + connector,
	}, contract.WorkflowListener, contract.Listen{Connector: connector})
	return err
}
