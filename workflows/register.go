package workflows

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/contract"
)

// Register registers every workflow under the type that histories record.
func Register(r worker.WorkflowRegistry) {
	named := func(name string) workflow.RegisterOptions { return workflow.RegisterOptions{Name: name} }
	r.RegisterWorkflowWithOptions(ToolInvocation, named(contract.WorkflowToolInvocation))
	r.RegisterWorkflowWithOptions(Conversation, named(contract.WorkflowConversation))
	r.RegisterWorkflowWithOptions(Turn, named(contract.WorkflowTurn))
	r.RegisterWorkflowWithOptions(Inbox, named(contract.WorkflowInbox))
	r.RegisterWorkflowWithOptions(Listener, named(contract.WorkflowListener))
}
