package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// digestPrefix marks an invocation id that was too long for a button; see connectors/telegram.
const digestPrefix = "sha256:"

// Click implements chat.Desk.
func (d *Dispatcher) Click(ctx context.Context, c chat.Click) (chat.Verdict, error) {
	id, err := d.resolve(ctx, c)
	if err != nil {
		return chat.Verdict{}, err
	}
	if id == "" {
		return chat.Verdict{Standing: chat.StandingUnknown}, nil
	}
	return d.Decide(ctx, id, contract.Answer{
		ID: c.EventID, Decision: decisionOf(c.Action), By: c.By, Via: c.Thread.Connector,
		Thread: c.Thread, ReceivedAt: c.ReceivedAt,
	})
}

// decisionOf a button; an unknown one decides nothing.
func decisionOf(a chat.Action) string {
	switch a {
	case chat.ActionYes:
		return chat.Allow
	case chat.ActionAlways:
		return chat.AllowAlways
	case chat.ActionNo:
		return chat.Deny
	case chat.ActionDone, chat.ActionCancel:
		return string(a)
	default:
		return ""
	}
}

// resolve finds the invocation behind a button whose id did not fit: it can only be one that is
// pending in the chat the button is in, or has a copy there.
func (d *Dispatcher) resolve(ctx context.Context, c chat.Click) (string, error) {
	want, short := strings.CutPrefix(c.Invocation, digestPrefix)
	if !short {
		return c.Invocation, nil
	}
	talk, err := d.talk(ctx, c.Thread)
	if err != nil {
		return "", err
	}
	var open []contract.Open
	if talk.Pending != nil {
		open = append(open, *talk.Pending)
	}
	for _, copied := range talk.Copies {
		open = append(open, copied.Open)
	}
	for _, o := range open {
		sum := sha256.Sum256([]byte(o.Invocation))
		if strings.HasPrefix(hex.EncodeToString(sum[:]), want) {
			return o.Invocation, nil
		}
	}
	return "", nil
}

// Decide hands in a decision and returns what became of it. Where no engine answers in time the
// decision is kept as a signal, with the time at which it was received.
func (d *Dispatcher) Decide(ctx context.Context, id string, answer contract.Answer) (chat.Verdict, error) {
	defer d.frozen.forget(id)
	waiting, cancel := context.WithTimeout(ctx, verdictPatience)
	defer cancel()
	verdict, err := d.update(waiting, id, answer)
	switch {
	case err == nil:
		return verdict, nil
	case absent(err):
		return d.afterwards(ctx, id, answer)
	case !noAnswer(err):
		return chat.Verdict{}, unreachable(err)
	}
	keeping, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepPatience)
	defer cancel()
	switch err := d.Client.SignalWorkflow(keeping, contract.InvocationID(id), "", contract.SignalDecision, answer); {
	case absent(err):
		return d.afterwards(ctx, id, answer)
	case err != nil:
		return chat.Verdict{}, unreachable(err)
	}
	return chat.Verdict{Standing: chat.StandingKept}, nil
}

func (d *Dispatcher) update(ctx context.Context, id string, answer contract.Answer) (chat.Verdict, error) {
	// The same answer again is the same update, also after the workflow has ended; another
	// decision under the same id is another one, and is told so.
	sum := sha256.Sum256([]byte(answer.ID + "\x00" + answer.Decision + "\x00" + answer.By.Key()))
	handle, err := d.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		UpdateID: hex.EncodeToString(sum[:]), WorkflowID: contract.InvocationID(id),
		UpdateName: contract.UpdateDecide, Args: []any{answer},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return chat.Verdict{}, err
	}
	var verdict chat.Verdict
	err = handle.Get(ctx, &verdict)
	return verdict, err
}

// noAnswer tells an engine that is away from every other failure.
func noAnswer(err error) bool {
	var timeout *client.WorkflowUpdateServiceTimeoutOrCanceledError
	return errors.As(err, &timeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(unreachable(err), chat.ErrUnreachable)
}

// afterwards tells what became of a question that has ended.
func (d *Dispatcher) afterwards(ctx context.Context, id string, answer contract.Answer) (chat.Verdict, error) {
	state, err := d.State(ctx, id, 0)
	switch {
	case errors.Is(err, contract.ErrNotFound), err == nil && state.Approval == nil && state.Handoff == nil:
		return chat.Verdict{Standing: chat.StandingUnknown}, nil
	case err != nil:
		return chat.Verdict{}, err
	case state.Approval == nil:
		return chat.Verdict{Standing: chat.StandingClosed, Reason: state.Handoff.Status}, nil
	}
	a := state.Approval
	switch {
	case a.Decision == nil:
		return chat.Verdict{Standing: chat.StandingClosed, Reason: a.Status}, nil
	case a.DecisionID == answer.ID && a.Decision.Decision == answer.Decision:
		return chat.Verdict{Standing: chat.StandingTaken, Decision: a.Decision}, nil
	default:
		return chat.Verdict{Standing: chat.StandingDecided, Decision: a.Decision}, nil
	}
}
