package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// editingCopies bounds how long the end of a question waits for the platforms of its copies: a
// platform that is away must not hold up a result that was decided on another one.
const editingCopies = 2 * time.Minute

// copied is a question that is put to one more conversation: to somebody who may answer it and
// does not read the one it comes from.
type copied struct {
	contract.Copy
	card    chat.Card
	receipt *chat.Receipt // nil until the platform has it
	done    bool
}

// spread puts the question, which its own conversation has by now, to the others, beside the wait:
// none of them can hold it up, and one that cannot be reached takes nothing away.
func (q *question) spread(ctx workflow.Context) {
	if q.asked == nil {
		return
	}
	free, _ := workflow.NewDisconnectedContext(ctx)
	for _, to := range q.of.plan.Copies {
		c := &copied{Copy: to, card: q.card}
		c.card.Thread, c.card.Text, c.card.Language = to.Thread, to.Prompt, to.Language
		c.card.ReplyTo, c.card.Expires = "", q.deadline
		// "Always" is an answer of the conversation it is for.
		c.card.Buttons = q.card.Buttons[:2]
		q.copies = append(q.copies, c)
		workflow.Go(free, func(ctx workflow.Context) {
			q.show(ctx, c)
			c.done = true
		})
	}
}

// show sends a copy and, when the question has ended, takes it back.
func (q *question) show(ctx workflow.Context, c *copied) {
	if !q.open {
		return
	}
	o := telling("Ask in " + c.Thread.String() + " too")
	o.ScheduleToCloseTimeout = q.of.plan.Timeout
	var receipt chat.Receipt
	var err error
	done := q.sending(ctx, func(ctx workflow.Context) {
		receipt, err = copyActivity.first(ctx, o, contract.CopyInput{Card: c.card})
	})
	if !done || err != nil {
		workflow.GetLogger(ctx).Warn("the question could not be put to one more conversation", "thread", c.Thread.String(), "error", err)
		return
	}
	c.receipt = &receipt
	if receipt.Thread != (chat.Thread{}) {
		c.Thread, c.card.Thread = receipt.Thread, receipt.Thread
	}
	if q.open {
		q.note(ctx, c.Thread, "Make the question known in "+c.Thread.String(),
			contract.Note{Copied: &contract.Copied{Open: q.opening(), Ref: receipt.Ref}})
	}
	if err := workflow.Await(ctx, func() bool { return !q.open }); err != nil {
		return
	}
	in := contract.CloseInput{
		Close:   contract.Close{Invocation: q.of.in.ID, Ref: receipt.Ref, Consumed: q.consumed},
		Receipt: receipt, Card: c.card, Outcome: q.outcome(),
	}
	in.Card.Buttons = nil
	q.note(ctx, c.Thread, "End the question in "+c.Thread.String(), contract.Note{Close: &in.Close})
	editing := telling("Show in " + c.Thread.String() + " what became of the question")
	editing.ScheduleToCloseTimeout = editingCopies
	if _, err := editActivity.first(ctx, editing, in); err != nil {
		workflow.GetLogger(ctx).Warn("a copy of the question could not be edited", "thread", c.Thread.String(), "error", err)
	}
}

// note tells a conversation something about this question, and returns whether it could.
func (q *question) note(ctx workflow.Context, thread chat.Thread, summary string, note contract.Note) bool {
	in := contract.SignalInput{
		Workflow: contract.ConversationID(thread), Thread: thread, Attributes: q.of.in.Attributes, Note: &note,
	}
	if _, err := signalActivity.first(ctx, bookkeeping(summary), in); err != nil {
		workflow.GetLogger(ctx).Warn("a conversation could not be told", "thread", thread.String(), "error", err)
		return false
	}
	return true
}

// gather waits until the copies say what became of the question.
func (q *question) gather(ctx workflow.Context) {
	_ = workflow.Await(ctx, func() bool {
		return !slices.ContainsFunc(q.copies, func(c *copied) bool { return !c.done })
	})
}

// copyIn is the copy in a conversation; nil for none.
func (q *question) copyIn(thread chat.Thread) *copied {
	for _, c := range q.copies {
		if c.Thread == thread {
			return c
		}
	}
	return nil
}

// asksIn tells whether the question is in a conversation.
func (q *question) asksIn(thread chat.Thread) bool {
	return thread == q.of.plan.Thread || q.copyIn(thread) != nil
}

// pointsElsewhere tells that a text belongs to another prompt than this one. In its own
// conversation it may point at none; at a copy it has to point.
func (q *question) pointsElsewhere(r contract.Reply) bool {
	if c := q.copyIn(r.Thread); c != nil {
		return c.receipt == nil || c.receipt.Ref != r.ReplyTo
	}
	return r.ReplyTo != "" && q.asked != nil && r.ReplyTo != q.asked.Receipt.Ref
}

// places are the conversations that may hold answers to the question, its own first.
func (q *question) places() []chat.Thread {
	all := []chat.Thread{q.of.plan.Thread}
	for _, c := range q.copies {
		if c.receipt != nil {
			all = append(all, c.Thread)
		}
	}
	return all
}

// home is the conversation that a text came from.
func (q *question) home(r contract.Reply) chat.Thread {
	if r.Thread == (chat.Thread{}) {
		return q.of.plan.Thread
	}
	return r.Thread
}

// languageIn is the one in which a conversation has the question.
func (q *question) languageIn(thread chat.Thread) string {
	if c := q.copyIn(thread); c != nil {
		return c.Language
	}
	return q.of.plan.Language
}
