package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/contract"
)

// Listener keeps one poller of a connector running over all workers: where it dies, another
// worker takes over within the heartbeat, from the offset that was last recorded.
func Listener(ctx workflow.Context, in contract.Listen) error {
	details(ctx, "Polls "+in.Connector+" for messages.")
	o := workflow.ActivityOptions{
		// A poller ends by itself now and then, so that the history stays short.
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		Summary:             "Poll " + in.Connector,
	}
	next, err := listenActivity.do(ctx, o, in)
	if err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, contract.WorkflowListener, next)
}
