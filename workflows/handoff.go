package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
)

// handOff is where a person does the step; the tool's run function is never called (CONTRACT §4).
// Until it can be shown to a person the call ends without having been done.
func (i *invocation) handOff(_ workflow.Context) {
	if h := i.plan.Handoff; h != nil && h.Satisfied {
		i.result.Status = string(approval.StatusCompleted)
		return
	}
	i.fail(approval.PermissionDenied, string(approval.ReasonNoApprover))
}
