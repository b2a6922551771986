package workflows

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/contract"
)

// reruns bounds how often an operation is tried again that provably did not happen.
const reruns = 5

// execute runs the operation at most once (CONTRACT §1, "Run once"). A run that had not begun,
// or that the tool's check says did not happen, may be tried again; nothing else is.
func (i *invocation) execute(ctx workflow.Context, closing *contract.CloseInput) {
	// Once the run is on its way a cancellation no longer withdraws it.
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	details(ctx, fmt.Sprintf("Running %s %s.", i.in.Tool, i.in.Operation))
	in := contract.RunInput{Invocation: i.in, Plan: i.plan, Close: closing, Decision: i.question.decision}
	for try := 0; ; try++ {
		out, begun, err := i.attempt(ctx, in)
		if out.Closed != nil {
			i.question.closed = out.Closed
			in.Close = nil
		}
		switch {
		case err == nil && !out.Unsettled:
			i.settleWith(out)
			return
		case err != nil && !begun && try < reruns:
			continue
		case err != nil && !begun:
			i.fail(approval.ToolFailed, "it was never begun: "+cause(err))
			return
		}
		why := out.Reason
		if err != nil {
			why = "the worker that ran it did not come back"
		}
		if !i.settle(ctx, why) || try >= reruns {
			return
		}
		// It goes on: nobody may read the failure of this try as the end.
		i.result.Status, i.result.Code, i.result.Reason = string(approval.StatusRunning), "", ""
	}
}

// attempt is one activity; begun tells whether the effect may have happened.
func (i *invocation) attempt(ctx workflow.Context, in contract.RunInput) (out contract.RunOutput, begun bool, err error) {
	out, err = runActivity.do(ctx, running(i.in, i.plan), in)
	if err == nil {
		return out, true, nil
	}
	phase := contract.Phase{}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		if timeout.HasLastHeartbeatDetails() {
			if e := timeout.LastHeartbeatDetails(&phase); e != nil {
				return out, true, err
			}
		}
		out.Closed = phase.Closed
		return out, phase.Begun, err
	}
	var failure *temporal.ApplicationError
	if errors.As(err, &failure) && failure.Type() == contract.ErrorNotBegun {
		return out, false, err
	}
	// Any other failure: assume the worst.
	return out, true, err
}

func (i *invocation) settleWith(out contract.RunOutput) {
	if out.Code != "" {
		i.fail(approval.Code(out.Code), out.Reason)
		return
	}
	i.complete(out.Output)
}

func (i *invocation) complete(output json.RawMessage) {
	i.result.Status, i.result.Code, i.result.Reason = string(approval.StatusCompleted), "", ""
	i.result.Output = output
}

// settle asks the tool's check what became of a run; it returns true if it may be run again
// because it did not happen.
func (i *invocation) settle(ctx workflow.Context, why string) (again bool) {
	in := contract.CheckInput{Invocation: i.in, Plan: i.plan}
	s, err := settleActivity.do(ctx, planning("Find out whether it happened: "+why), in)
	if err != nil {
		i.fail(approval.OutcomeUnknown, why+"; the tool's own check failed: "+cause(err))
		return false
	}
	switch s.Happened {
	case contract.HappenedDone:
		i.complete(s.Output)
		return false
	case contract.HappenedNotDone:
		i.fail(approval.ToolFailed, why+"; it did not happen")
		return true
	default:
		i.fail(approval.OutcomeUnknown, why+"; it was not run again: look whether it happened")
		return false
	}
}
