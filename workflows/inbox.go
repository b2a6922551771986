package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/contract"
)

// Inbox keeps what is pending now over all conversations, so that a list of pending questions
// is exact at once: Temporal's visibility store may lag behind, a workflow's state does not.
func Inbox(ctx workflow.Context, box contract.Box) error {
	if err := workflow.SetQueryHandler(ctx, contract.QueryPending, func() ([]contract.Pending, error) {
		return box.Pending, nil
	}); err != nil {
		return fmt.Errorf("serve the pending query: %w", err)
	}
	asked := workflow.GetSignalChannel(ctx, contract.SignalAsked)
	ended := workflow.GetSignalChannel(ctx, contract.SignalEnded)
	changed := func() bool { return asked.Len()+ended.Len() > 0 }
	for taken := 0; ; {
		details(ctx, fmt.Sprintf("%d questions and handoffs are pending.", len(box.Pending)))
		if err := workflow.Await(ctx, changed); err != nil {
			return err
		}
		taken += take(&box, asked, ended)
		if taken >= maxNotes || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			take(&box, asked, ended)
			return workflow.NewContinueAsNewError(ctx, contract.WorkflowInbox, box)
		}
	}
}

// take adds what was asked before it removes what has ended: a question ends after it was asked.
func take(box *contract.Box, asked, ended workflow.ReceiveChannel) (n int) {
	for {
		var p contract.Pending
		if !asked.ReceiveAsync(&p) {
			break
		}
		n++
		at := slices.IndexFunc(box.Pending, func(o contract.Pending) bool { return o.Invocation == p.Invocation })
		if at >= 0 {
			box.Pending[at] = p
		} else {
			box.Pending = append(box.Pending, p)
		}
	}
	for {
		var id string
		if !ended.ReceiveAsync(&id) {
			return n
		}
		n++
		box.Pending = slices.DeleteFunc(box.Pending, func(p contract.Pending) bool { return p.Invocation == id })
	}
}
