package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// handle is an activity with the types of its input and output, so that a wrong call does not compile.
type handle[In, Out any] string

const (
	planActivity   = handle[contract.Invocation, contract.Plan](contract.ActivityPlan)
	openActivity   = handle[contract.AskInput, struct{}](contract.ActivityOpen)
	askActivity    = handle[contract.AskInput, contract.Asked](contract.ActivityAsk)
	copyActivity   = handle[contract.CopyInput, chat.Receipt](contract.ActivityCopy)
	runActivity    = handle[contract.RunInput, contract.RunOutput](contract.ActivityRun)
	settleActivity = handle[contract.CheckInput, contract.Settled](contract.ActivitySettle)
	closeActivity  = handle[contract.CloseInput, contract.Closed](contract.ActivityClose)
	editActivity   = handle[contract.CloseInput, struct{}](contract.ActivityEdit)
	tellActivity   = handle[contract.TellInput, struct{}](contract.ActivityTell)
	checkActivity  = handle[contract.CheckInput, bool](contract.ActivityCheck)
	watchActivity  = handle[contract.CheckInput, bool](contract.ActivityWatch)
	signalActivity = handle[contract.SignalInput, contract.Routed](contract.ActivitySignal)
	routeActivity  = handle[contract.RouteInput, contract.Routed](contract.ActivityRoute)
	aliveActivity  = handle[string, bool](contract.ActivityAlive)
	stepActivity   = handle[contract.StepInput, contract.Step](contract.ActivityStep)
	replyActivity  = handle[contract.ReplyInput, contract.TurnResult](contract.ActivityReply)
	listenActivity = handle[contract.Listen, contract.Listen](contract.ActivityListen)
)

// start schedules the activity.
func (h handle[In, Out]) start(ctx workflow.Context, o workflow.ActivityOptions, in In) workflow.Future {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), string(h), in)
}

// do runs the activity to its end.
func (h handle[In, Out]) do(ctx workflow.Context, o workflow.ActivityOptions, in In) (out Out, err error) {
	err = h.start(ctx, o, in).Get(ctx, &out)
	return out, err
}

// first makes the first attempt as a local activity, which costs one event instead of three
// and no workflow task; only what fails there becomes an activity with retries.
func (h handle[In, Out]) first(ctx workflow.Context, o workflow.ActivityOptions, in In) (out Out, err error) {
	local := workflow.WithLocalActivityOptions(ctx, localOptions(o.Summary))
	err = workflow.ExecuteLocalActivity(local, string(h), in).Get(local, &out)
	if err == nil || final(err) || ctx.Err() != nil {
		return out, err
	}
	if wait := retryDelay(err); wait > 0 {
		if o.ScheduleToCloseTimeout > 0 && wait >= o.ScheduleToCloseTimeout {
			return out, err
		}
		if e := workflow.Sleep(ctx, wait); e != nil {
			return out, e
		}
	}
	return h.do(ctx, o, in)
}
