package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

// beat is how often a run says that it is alive; the workflow misses it after ten seconds.
const beat = 2 * time.Second

// Run checks once more what was approved, records that it begins, and does it. It also does the
// bookkeeping of the question that was answered, at the same time.
func (a *Activities) Run(ctx context.Context, in contract.RunInput) (contract.RunOutput, error) {
	op, ok := a.Registry.Find(in.Invocation.Tool, in.Invocation.Operation)
	if !ok {
		return contract.RunOutput{}, notBegun(fmt.Errorf("this worker does not know %s.%s", in.Invocation.Tool, in.Invocation.Operation))
	}
	// The effect comes first: what is told to others must not hold up the word that it begins.
	var closing <-chan *contract.Closed
	tell := sync.OnceFunc(func() { closing = a.closeAside(ctx, in.Close) })
	r := &attempt{Activities: a, in: in, op: op, call: in.Invocation.Call(), begun: tell}
	r.call.Parameters = in.Plan.Parameters
	out, err := r.run(ctx)
	tell() // also where it was never begun
	out.Closed = <-closing
	return out, err
}

// closeAside closes the answered question beside the run; what fails is left to the workflow.
func (a *Activities) closeAside(ctx context.Context, in *contract.CloseInput) <-chan *contract.Closed {
	done := make(chan *contract.Closed, 1)
	if in == nil {
		done <- nil
		return done
	}
	go func() {
		closed, err := a.Close(ctx, *in)
		if err != nil {
			a.Logger.Warn("a question is not closed yet", "invocation", in.Close.Invocation, "error", err)
			done <- nil
			return
		}
		done <- &closed
	}()
	return done
}

// attempt is one run of one operation.
type attempt struct {
	*Activities
	in   contract.RunInput
	op   *tool.Operation
	call tool.Call
	// begun is called once Temporal knows that the run begins.
	begun func()
}

func (r *attempt) run(ctx context.Context) (contract.RunOutput, error) {
	if r.in.Decision != nil || r.in.Plan.Grant != "" {
		if drifted, err := r.drifted(ctx); err != nil {
			return contract.RunOutput{}, notBegun(err)
		} else if drifted {
			return contract.RunOutput{Code: string(approval.PermissionDenied), Reason: string(approval.ReasonDrift)}, nil
		}
	}
	stop, err := r.begin(ctx)
	if err != nil {
		return contract.RunOutput{}, notBegun(err)
	}
	defer stop()
	r.begun()
	// Between the two, so that a crash in front of it leaves one entry, not one for each try,
	// and nothing runs without one.
	if err := r.audit(ctx); err != nil {
		return contract.RunOutput{}, notBegun(err)
	}
	output, err := r.do(ctx)
	switch {
	case err == nil:
		return marshalled(output), nil
	case (ctx.Err() != nil || errors.As(err, new(*panicError))) && r.op.Idempotent:
		return contract.RunOutput{}, fmt.Errorf("it was cut off while it ran: %w", err) // run again under its own key
	case ctx.Err() != nil, errors.As(err, new(*panicError)):
		// It was cut off in the middle: nobody knows how far it came.
		return contract.RunOutput{Unsettled: true, Reason: "it was cut off while it ran: " + err.Error()}, nil
	default:
		return contract.RunOutput{Code: string(approval.ToolFailed), Reason: err.Error()}, nil
	}
}

// drifted is step 5: is it still in scope and available, and is it what was approved?
func (r *attempt) drifted(ctx context.Context) (bool, error) {
	if r.Scope != nil && r.Scope(r.in.Invocation) != nil {
		return true, nil
	}
	contents, err := r.available(ctx, r.op, r.call)
	if errors.As(err, new(*tool.UnavailableError)) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("check once more what was approved: %w", err)
	}
	digest, err := approval.Digest(r.in.Invocation.Tool, r.in.Invocation.Operation, r.in.Plan.Parameters, contents)
	if err != nil {
		return false, fmt.Errorf("digest what was approved: %w", err)
	}
	return digest != r.in.Plan.Digest || tool.Hash(r.in.Invocation.Tool, *r.op) != r.in.Plan.Declaration, nil
}

// begin records that from now on it may have happened. Temporal has that before the first byte
// changes; without its word nothing is begun.
func (r *attempt) begin(ctx context.Context) (stop func(), err error) {
	phase := contract.Phase{Begun: true}
	if r.op.Idempotent {
		activity.RecordHeartbeat(ctx, phase)
	} else if err := r.Signals.Heartbeat(ctx, activity.GetInfo(ctx).TaskToken, phase); err != nil {
		return nil, fmt.Errorf("record that the run begins: %w", err)
	}
	return beating(ctx, func() any { return phase }), nil
}

// beating tells Temporal every few seconds that the activity is alive, until stop is called.
func beating(ctx context.Context, details func() any) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx, details())
			}
		}
	}()
	return stop
}

// panicError is a tool's panic: it may have happened, or half of it.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("the tool panicked: %v", e.value) }

func (r *attempt) do(ctx context.Context) (output any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v}
		}
	}()
	if r.op.Handoff != nil || r.op.Run == nil {
		return nil, errors.New("this operation is a handoff: only a person does it")
	}
	return r.op.Run(ctx, r.call)
}

// audit keeps what was run, by whose word or without one.
func (r *attempt) audit(ctx context.Context) error {
	kind := ""
	switch {
	case r.in.Plan.Unasked:
		kind = "unsupported_connector"
	case r.in.Plan.Grant != "":
		kind = "granted"
	case r.in.Decision != nil:
		kind = "approved"
	case r.op.Kind == tool.Danger:
		kind = "confirm_false"
	}
	if kind == "" || r.Audit == nil {
		return nil
	}
	return r.Audit.Record(ctx, AuditEntry{
		At: r.Now().UTC(), Kind: kind, Invocation: r.in.Invocation.ID, Tool: r.in.Invocation.Tool,
		Operation: r.in.Invocation.Operation, Thread: r.in.Invocation.Thread,
		Requester: r.in.Invocation.Requester.Key(), Digest: r.in.Plan.Digest, Decision: r.in.Decision,
	})
}

// Settle asks the tool's own check what became of a run that nobody saw the end of.
func (a *Activities) Settle(ctx context.Context, in contract.CheckInput) (contract.Settled, error) {
	op, ok := a.Registry.Find(in.Invocation.Tool, in.Invocation.Operation)
	if !ok || op.Check == nil {
		return contract.Settled{Happened: contract.HappenedUnknown}, nil
	}
	call := in.Invocation.Call()
	call.Parameters = in.Plan.Parameters
	outcome, err := op.Check(ctx, call)
	if err != nil {
		return contract.Settled{}, fmt.Errorf("check whether it happened: %w", err)
	}
	switch outcome.Happened {
	case tool.OutcomeDone:
		return contract.Settled{Happened: contract.HappenedDone, Output: marshalled(outcome.Output).Output}, nil
	case tool.OutcomeNotDone:
		return contract.Settled{Happened: contract.HappenedNotDone}, nil
	default:
		return contract.Settled{Happened: contract.HappenedUnknown}, nil
	}
}

// Check reads the business state that a handoff expects.
func (a *Activities) Check(ctx context.Context, in contract.CheckInput) (bool, error) {
	op, ok := a.Registry.Find(in.Invocation.Tool, in.Invocation.Operation)
	if !ok || op.Handoff == nil || op.Handoff.Expect == nil {
		return false, finalError("this operation declares no check")
	}
	call := in.Invocation.Call()
	call.Parameters = in.Plan.Parameters
	return op.Handoff.Expect.Check(ctx, call)
}

// watchEvery is how often a state that a person is changing is read.
const watchEvery = time.Second

// Watch returns true once the business state shows by itself that the person did the step. It
// goes on until then, or until it is cancelled; a check that fails is tried again.
func (a *Activities) Watch(ctx context.Context, in contract.CheckInput) (bool, error) {
	defer beating(ctx, func() any { return nil })()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		done, err := a.Check(ctx, in)
		if err != nil {
			a.Logger.Warn("a handoff's state could not be read", "invocation", in.Invocation.ID, "error", err)
		}
		if err == nil && done {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-activity.GetWorkerStopChannel(ctx):
			return false, errStopping
		case <-ticker.C:
		}
	}
}

func marshalled(output any) contract.RunOutput {
	if output == nil {
		return contract.RunOutput{}
	}
	raw, err := json.Marshal(output)
	if err != nil {
		// It has happened, so it is not a failure.
		raw, _ = json.Marshal(map[string]string{"warning": "the tool's output could not be shown: " + err.Error()})
	}
	return contract.RunOutput{Output: raw}
}

// notBegun tells the workflow that trying again is safe.
func notBegun(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), contract.ErrorNotBegun, err)
}
