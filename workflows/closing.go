package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

// closing is the bookkeeping of a question that has ended: the card says what happened, the
// Redis keys go, and last of all the conversation is free again.
func (q *question) closing(ctx workflow.Context) *contract.CloseInput {
	in := contract.CloseInput{
		Close:      contract.Close{Invocation: q.of.in.ID, Consumed: q.consumed, Grant: q.grant(ctx)},
		Card:       q.card,
		Outcome:    q.outcome(),
		Attributes: q.of.in.Attributes,
	}
	in.Card.Buttons = nil
	if q.asked != nil {
		in.Receipt = q.asked.Receipt
		in.Close.Ref = in.Receipt.Ref
	}
	if q.status == string(approval.ReasonUndeliverable) {
		in.Receipt = chat.Receipt{} // nobody has a card; a mail about it would come back too
	}
	return &in
}

// close does what is left of it; a card that the platform puts off is tried again on its own,
// so that the conversation does not wait for it.
func (q *question) close(ctx workflow.Context) {
	if !q.opened {
		return
	}
	in := q.closing(ctx)
	if q.closed == nil {
		done, err := closeActivity.do(ctx, closing("Close the question: "+q.ending()), *in)
		if err != nil {
			workflow.GetLogger(ctx).Error("the question could not be closed", "error", err)
			return
		}
		q.closed = &done
	}
	if q.closed.Edited || in.Receipt.Ref == "" {
		return
	}
	if q.closed.RetryAfter > 0 && workflow.Sleep(ctx, q.closed.RetryAfter) != nil {
		return
	}
	if _, err := editActivity.do(ctx, telling("Show what became of the question"), *in); err != nil {
		workflow.GetLogger(ctx).Warn("the question's card could not be edited", "error", err)
	}
}

// grant is the standing answer that "Always allow" gave.
func (q *question) grant(ctx workflow.Context) *contract.Grant {
	if q.decision == nil || q.decision.Decision != chat.AllowAlways {
		return nil
	}
	return &contract.Grant{
		ID: q.of.in.ID, Tool: q.of.in.Tool, Operation: q.of.in.Operation, By: q.decision.By,
		For: q.of.in.Requester.Key(), Declaration: q.of.plan.Declaration, Since: workflow.Now(ctx).UTC(),
	}
}

// outcome says in one line, on the card, what happened and by whom.
func (q *question) outcome() chat.Line {
	switch q.status {
	case statusCompleted:
		return q.step.how()
	case statusCancelled:
		return q.decided(chat.LineCancelled)
	case statusApproved:
		if q.decision.Decision == chat.AllowAlways {
			return q.decided(chat.LineAlways)
		}
		return q.decided(chat.LineApproved)
	case statusDenied:
		return q.decided(chat.LineDenied)
	case string(approval.ReasonTimeout):
		return chat.Text(chat.LineTimeout, "at", clockTime(q.deadline))
	case string(approval.ReasonSuperseded):
		return chat.Text(chat.LineSuperseded)
	case string(approval.ReasonUndeliverable):
		return chat.Text(chat.LineUndeliverable)
	default:
		return chat.Text(chat.LineWithdrawn)
	}
}

// decided is a line about the person who decided, and when.
func (q *question) decided(id string) chat.Line {
	return by(chat.Text(id, "at", clockTime(q.decision.At)), q.decision.By, chat.LineProgramBy)
}

// by puts a name into a line; an answer without an identity is another program's.
func by(line chat.Line, key, program string) chat.Line {
	if key == "" {
		return line.With("by", program)
	}
	line.Args["by"] = approval.Escape(key)
	return line
}

// ending says for Temporal's Web UI, in English, how the question ended.
func (q *question) ending() string {
	if q.decision == nil {
		return q.status + "."
	}
	return fmt.Sprintf("%s by %s at %s.", q.status, named(q.decision.By), clockTime(q.decision.At))
}

func named(key string) string {
	if key == "" {
		return "another program"
	}
	return approval.Escape(key)
}

// waiting says in words, for Temporal's Web UI, what is waited for, from whom, until when.
func (q *question) waiting(verb string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s for an answer from %s", verb, q.of.plan.Thread, q.whom())
	if q.asked != nil {
		fmt.Fprintf(&b, " until %s", clockTime(q.deadline))
	}
	if copies := q.of.plan.Copies; len(copies) > 0 {
		places := make([]string, len(copies))
		for n, c := range copies {
			places[n] = c.Thread.String()
		}
		fmt.Fprintf(&b, ", asked in %s too", strings.Join(places, ", "))
	}
	fmt.Fprintf(&b, ".\n\n> %s", strings.ReplaceAll(q.card.Text, "\n", "\n> "))
	return b.String()
}

// whom names who may answer.
func (q *question) whom() string {
	a := q.of.plan.Approvers
	who := ""
	switch a.Who {
	case tool.WhoRequester:
		who = named(q.of.in.Requester.Key())
	case tool.WhoOther:
		who = "anyone but " + named(q.of.in.Requester.Key())
	case tool.WhoList:
		who = approval.Escape(strings.Join(a.People, ", "))
	default:
		who = "anyone in the conversation"
	}
	if a.Quorum > 1 {
		return fmt.Sprintf("%d of: %s", a.Quorum, who)
	}
	return who
}

// clockTime shows a moment to a person; all of them are UTC.
func clockTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
