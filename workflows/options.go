package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/contract"
)

const (
	// grace keeps a deadline's timer open for answers that the gateway took in time and is
	// still handing over; the answer's own time decides, so it lets nothing late through.
	grace = time.Second
	// wordTimeout bounds the wait for the conversation's word at a deadline.
	wordTimeout = 30 * time.Second
	// localTimeout is long enough for a slow platform, so that a prompt which is on its way is
	// not sent a second time by the activity that follows; the SDK keeps the workflow task alive.
	localTimeout = 20 * time.Second
	// heartbeat tells a dead worker within seconds.
	heartbeat = 10 * time.Second
	// defaultRun bounds a run whose operation declares nothing.
	defaultRun = time.Minute
)

// planning is how often a plan is tried: reads only.
func planning(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout:    30 * time.Second,
		ScheduleToCloseTimeout: 5 * time.Minute,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 20 * time.Second},
		Summary:                summary,
	}
}

// bookkeeping must happen in the end, whatever is down meanwhile.
func bookkeeping(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, MaximumInterval: 20 * time.Second},
		Summary:             summary,
	}
}

// closing is bookkeeping that the conversation waits for.
func closing(summary string) workflow.ActivityOptions {
	o := bookkeeping(summary)
	o.HeartbeatTimeout = heartbeat
	return o
}

// telling is worth a good many tries, but not for ever.
func telling(summary string) workflow.ActivityOptions {
	o := bookkeeping(summary)
	o.StartToCloseTimeout = time.Minute
	o.ScheduleToCloseTimeout = 15 * time.Minute
	return o
}

// replying takes as long as its files are large; that its worker is dead is seen within seconds,
// since the conversation's next message waits for it.
func replying(summary string) workflow.ActivityOptions {
	o := telling(summary)
	o.StartToCloseTimeout = o.ScheduleToCloseTimeout
	o.HeartbeatTimeout = heartbeat
	return o
}

// running follows the operation: one attempt unless it is declared idempotent.
func running(in contract.Invocation, plan contract.Plan) workflow.ActivityOptions {
	bound := plan.RunTimeout
	if bound <= 0 {
		bound = defaultRun
	}
	attempts := int32(1)
	if plan.Repeatable {
		attempts = 3
	}
	return workflow.ActivityOptions{
		StartToCloseTimeout: bound,
		HeartbeatTimeout:    heartbeat,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: attempts, InitialInterval: time.Second},
		Summary:             fmt.Sprintf("Run %s %s", in.Tool, in.Operation),
	}
}

// localOptions is one attempt inside the workflow task.
func localOptions(summary string) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		StartToCloseTimeout: localTimeout,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             summary,
	}
}

// final tells whether an error is classified as not worth a retry.
func final(err error) bool {
	var failure *temporal.ApplicationError
	return errors.As(err, &failure) && failure.NonRetryable()
}

// retryDelay is the wait that a platform asked for.
func retryDelay(err error) time.Duration {
	var failure *temporal.ApplicationError
	if errors.As(err, &failure) {
		return failure.NextRetryDelay()
	}
	return 0
}

// cause is the innermost message, for people.
func cause(err error) string {
	var failure *temporal.ApplicationError
	if errors.As(err, &failure) {
		return failure.Message()
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return "it took too long"
	}
	return err.Error()
}

// details puts words on the workflow's page in Temporal's Web UI.
func details(ctx workflow.Context, text string) { workflow.SetCurrentDetails(ctx, text) }

// mark sets the search attribute by which Temporal's lists are filtered, where the namespace knows it.
func (i *invocation) mark(ctx workflow.Context, value string) {
	if !i.in.Attributes {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, contract.StatusAttribute.ValueSet(value)); err != nil {
		workflow.GetLogger(ctx).Warn("the search attribute could not be set", "error", err)
	}
}
