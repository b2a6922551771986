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
		Attributes: q.of.in.Attributes,
	}
	in.Card.Closed, in.Card.Buttons = q.outcome(), nil
	if q.asked != nil {
		in.Receipt = q.asked.Receipt
		in.Close.Ref = in.Receipt.Ref
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
		done, err := closeActivity.do(ctx, bookkeeping("Close the question: "+q.outcome()), *in)
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
func (q *question) outcome() string {
	by := func(verb string) string {
		return fmt.Sprintf("%s by %s at %s.", verb, named(q.decision.By), clockTime(q.decision.At))
	}
	switch q.status {
	case statusCompleted:
		return "✅ Done. " + q.step.how()
	case statusCancelled:
		return "❌ " + by("Cancelled") + " The step did not happen."
	case statusApproved:
		if q.decision.Decision == chat.AllowAlways {
			return "✅ " + by("Always allowed in this conversation")
		}
		return "✅ " + by("Approved")
	case statusDenied:
		return "❌ " + by("Denied") + " It was not run."
	case string(approval.ReasonTimeout):
		return "⌛ No answer until " + clockTime(q.deadline) + ". It was not run."
	case string(approval.ReasonSuperseded):
		return "↪️ Replaced by a newer question. It was not run."
	case string(approval.ReasonUndeliverable):
		return "⚠️ The question could not be delivered. It was not run."
	default:
		return "↩️ Withdrawn. It was not run."
	}
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
