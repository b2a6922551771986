package activities

import (
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/countersignhq/countersign/contract"
)

// Register registers every activity under the name that histories record.
func (a *Activities) Register(r worker.ActivityRegistry) {
	for name, do := range map[string]any{
		contract.ActivityPlan:   a.Plan,
		contract.ActivityOpen:   a.Open,
		contract.ActivityAsk:    a.Ask,
		contract.ActivityCopy:   a.Copy,
		contract.ActivityRun:    a.Run,
		contract.ActivitySettle: a.Settle,
		contract.ActivityClose:  a.CloseAlone,
		contract.ActivityEdit:   a.Edit,
		contract.ActivityTell:   a.Tell,
		contract.ActivityCheck:  a.Check,
		contract.ActivityWatch:  a.Watch,
		contract.ActivitySignal: a.Signal,
		contract.ActivityRoute:  a.Route,
		contract.ActivityAlive:  a.Alive,
		contract.ActivityStep:   a.Step,
		contract.ActivityReply:  a.Reply,
		contract.ActivityListen: a.Listen,
	} {
		r.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
}
