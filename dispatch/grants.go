package dispatch

import (
	"context"
	"fmt"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// conversations bounds how many conversations a list of grants looks at.
const conversations = 1000

// Standing returns the grants of a conversation.
func (d *Dispatcher) Standing(ctx context.Context, thread chat.Thread) ([]contract.Grant, error) {
	talk, err := d.talk(ctx, thread)
	return talk.Grants, err
}

// Grants lists the standing answers of one conversation, or of all.
func (d *Dispatcher) Grants(ctx context.Context, thread *chat.Thread) ([]contract.ListedGrant, error) {
	if thread != nil {
		talk, err := d.talk(ctx, *thread)
		return listed(talk), err
	}
	executions, err := d.list(ctx, fmt.Sprintf("WorkflowType = %q AND ExecutionStatus = 'Running'", contract.WorkflowConversation), conversations)
	if err != nil {
		return nil, err
	}
	var grants []contract.ListedGrant
	for _, e := range executions {
		var talk contract.Talk
		if err := d.query(ctx, e.GetExecution().GetWorkflowId(), contract.QueryTalk, &talk); err != nil {
			return nil, err
		}
		grants = append(grants, listed(talk)...)
	}
	return grants, nil
}

func listed(talk contract.Talk) []contract.ListedGrant {
	grants := make([]contract.ListedGrant, 0, len(talk.Grants))
	for _, g := range talk.Grants {
		grants = append(grants, contract.ListedGrant{Grant: g, Thread: talk.Thread})
	}
	return grants
}

// Revoke ends a grant.
func (d *Dispatcher) Revoke(ctx context.Context, g contract.ListedGrant, by string) error {
	note := contract.Note{Revoke: &contract.Revoke{Grant: g.ID, By: by}}
	return unreachable(d.Note(ctx, g.Thread, d.attributes.Load(), note))
}
