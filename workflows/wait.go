package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// await waits until somebody decides, the deadline passes or the question is taken back.
func (q *question) await(ctx workflow.Context) {
	if !q.open {
		return
	}
	details(ctx, q.waiting("Waiting"))
	timer, stop := q.clock(ctx)
	defer stop()
	for q.open {
		err := workflow.Await(ctx, func() bool { return !q.open || timer.IsReady() || len(q.returned)+len(q.noted) > 0 })
		if err != nil || ctx.Err() != nil {
			// Cancelled, which makes the timer ready too: what the gateway had taken before still counts.
			q.drain()
			q.end(approval.ReasonWithdrawn)
			return
		}
		q.giveBack(ctx)
		q.acknowledge(ctx)
		if q.open && timer.IsReady() {
			q.hearOut(ctx)
			q.end(approval.ReasonTimeout)
		}
	}
}

// clock is the deadline's timer.
func (q *question) clock(ctx workflow.Context) (timer workflow.Future, stop func()) {
	ctx, stop = workflow.WithCancel(ctx)
	return workflow.NewTimerWithOptions(ctx, q.deadline.Add(grace).Sub(workflow.Now(ctx)), workflow.TimerOptions{
		Summary: fmt.Sprintf("Waits for %s until %s", q.whom(), clockTime(q.deadline)),
	}), stop
}

// hearOut hears everything that was received in time before the question ends: first what this
// workflow has been sent, then what the conversation still holds.
func (q *question) hearOut(ctx workflow.Context) {
	q.drain()
	if !q.open {
		return
	}
	told := 0
	for _, place := range q.places() {
		if q.note(ctx, place, "Ask the conversation for what it has received", contract.Note{Closing: &contract.Closing{Invocation: q.of.in.ID}}) {
			told++
		}
	}
	if told > 0 {
		_, _ = workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout: wordTimeout, TimerOptions: workflow.TimerOptions{Summary: "Waits for the conversation's word"},
		}, func() bool { return q.confirmed >= told || !q.open })
	}
	q.drain()
}

// giveBack returns messages that do not answer to the conversation, which treats them as normal ones.
func (q *question) giveBack(ctx workflow.Context) {
	if len(q.returned) == 0 || !q.open {
		return
	}
	returned := q.returned
	q.returned = nil
	for _, place := range q.places() {
		var messages []string
		for _, r := range returned {
			if q.home(r) == place {
				messages = append(messages, r.Message)
			}
		}
		if len(messages) > 0 {
			// If it fails: the close names what was consumed, and everything else becomes a normal message then.
			q.note(ctx, place, "Give back a message that does not answer",
				contract.Note{Returned: &contract.Returned{Invocation: q.of.in.ID, Messages: messages}})
		}
	}
}

// acknowledge tells those who have agreed in words that others have to agree too; a button shows it
// by itself.
func (q *question) acknowledge(ctx workflow.Context) {
	noted := q.noted
	q.noted = nil
	if len(noted) == 0 || !q.open || workflow.GetVersion(ctx, "acknowledge", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	for _, r := range noted {
		in := contract.TellInput{
			Thread: q.home(r), Line: chat.Text(chat.LineVoteNoted), Language: q.languageIn(q.home(r)), Key: "noted:" + q.of.in.ID + ":" + r.ID,
		}
		// Beside the wait: a platform that puts it off must not hold up the deadline.
		workflow.Go(ctx, func(ctx workflow.Context) {
			if _, err := tellActivity.do(ctx, telling("Say that others have to agree too"), in); err != nil {
				workflow.GetLogger(ctx).Warn("the person could not be told that others have to agree", "error", err)
			}
		})
	}
}
