package activities

import (
	"cmp"
	"context"
	"errors"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/contract"
)

// Route finds out where a message belongs: another program that waits on the Redis keys takes it
// first, then the pending question.
func (a *Activities) Route(ctx context.Context, in contract.RouteInput) (contract.Routed, error) {
	m := in.Message
	if a.Mirror != nil {
		text := m.Raw
		if text == "" {
			text = m.Text
		}
		taken, err := a.Mirror.Intercept(ctx, m.Thread, in.Pending, m.EventID, text, len(m.Files) > 0)
		if err != nil {
			a.Logger.Warn("redis: could not see whether another program waits for this message",
				"thread", m.Thread.String(), "error", err)
		}
		if taken {
			return contract.Routed{Taken: true}, nil
		}
	}
	if !in.Forward {
		return contract.Routed{}, nil
	}
	if len(m.Files) > 0 {
		// Its files belong to the conversation, also where no turn will handle them.
		if err := a.Transcript.Record(ctx, m); err != nil {
			return contract.Routed{}, err
		}
	}
	if approval.Read(m.Text).Kind == approval.NoText {
		return contract.Routed{}, nil
	}
	switch err := a.Signals.Reply(ctx, cmp.Or(in.Copy, in.Pending), contract.ReplyOf(m)); {
	case errors.Is(err, contract.ErrGone):
		return contract.Routed{Gone: true}, nil
	case err != nil:
		return contract.Routed{}, err
	}
	return contract.Routed{Forwarded: true}, nil
}

// Signal tells another workflow something; an invocation that has ended needs no word.
func (a *Activities) Signal(ctx context.Context, in contract.SignalInput) (contract.Routed, error) {
	var err error
	switch {
	case in.Word != nil:
		err = a.Signals.Word(ctx, in.Workflow, *in.Word)
	case in.Note != nil:
		err = a.Signals.Note(ctx, in.Thread, in.Attributes, *in.Note)
	}
	if errors.Is(err, contract.ErrGone) {
		return contract.Routed{Gone: true}, nil
	}
	return contract.Routed{}, err
}

// Alive tells whether a workflow is running.
func (a *Activities) Alive(ctx context.Context, workflowID string) (bool, error) {
	return a.Signals.Alive(ctx, workflowID)
}
