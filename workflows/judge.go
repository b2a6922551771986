package workflows

import (
	"cmp"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// signals are the channels on which answers come.
type signals struct {
	replies, decisions, handoffs, words workflow.ReceiveChannel
}

// serve takes answers from the first task on, whatever the invocation is doing.
func (q *question) serve(ctx workflow.Context) error {
	// Answers are heard until the end, also after a cancellation.
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	q.signals = signals{
		replies:   workflow.GetSignalChannel(ctx, contract.SignalReply),
		decisions: workflow.GetSignalChannel(ctx, contract.SignalDecision),
		handoffs:  workflow.GetSignalChannel(ctx, contract.SignalHandoff),
		words:     workflow.GetSignalChannel(ctx, contract.SignalWord),
	}
	channels := []workflow.ReceiveChannel{q.replies, q.decisions, q.handoffs, q.words}
	waiting := func() bool {
		return slices.ContainsFunc(channels, func(c workflow.ReceiveChannel) bool { return c.Len() > 0 })
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for workflow.Await(ctx, waiting) == nil {
			q.drain()
		}
	})
	return workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateDecide, q.decide, workflow.UpdateHandlerOptions{
		Description: "Decide a pending question or handoff",
	})
}

// decide answers an update truthfully: what became of this answer.
func (q *question) decide(ctx workflow.Context, a contract.Answer) (chat.Verdict, error) {
	if err := workflow.Await(ctx, func() bool { return q.status != "" || q.of.ended }); err != nil {
		return chat.Verdict{Standing: chat.StandingKept}, nil //nolint:nilerr // a cancelled wait is not the caller's failure
	}
	q.drain()
	q.judge([]arrival{{answer: &a}})
	if err := workflow.Await(ctx, func() bool { return !q.step.checking(a.ID) }); err != nil {
		return chat.Verdict{Standing: chat.StandingKept}, nil //nolint:nilerr // as above
	}
	return q.answers[a.ID].verdict, nil
}

// drain takes everything that has arrived and judges it.
func (q *question) drain() {
	var got []arrival
	for {
		var r contract.Reply
		if !q.replies.ReceiveAsync(&r) {
			break
		}
		got = append(got, arrival{reply: &r})
	}
	for _, c := range []workflow.ReceiveChannel{q.decisions, q.handoffs} {
		for {
			var a contract.Answer
			if !c.ReceiveAsync(&a) {
				break
			}
			got = append(got, arrival{answer: &a})
		}
	}
	var words []contract.Word
	for {
		var w contract.Word
		if !q.words.ReceiveAsync(&w) {
			break
		}
		for n := range w.Replies {
			got = append(got, arrival{reply: &w.Replies[n]})
		}
		words = append(words, w)
	}
	// Answers before words: what was received before a question was superseded still decides.
	q.judge(got)
	for _, w := range words {
		q.word(w)
	}
}

func (q *question) word(w contract.Word) {
	switch w.Kind {
	case contract.WordSuperseded:
		q.superseder = w.By
		q.end(approval.ReasonSuperseded)
	case contract.WordWithdrawn:
		q.end(approval.ReasonWithdrawn)
	case contract.WordGo:
		q.mayGo = true
	case contract.WordConfirmed:
		q.confirmed++
	case contract.WordBounced:
		if q.asked != nil && q.asked.Receipt.Ref == w.Ref {
			q.end(approval.ReasonUndeliverable)
		}
	}
}

// judge weighs answers in the order in which the gateway received them.
func (q *question) judge(got []arrival) {
	got = append(q.arrivals, got...)
	q.arrivals = nil
	if q.status == "" {
		// Nothing is asked yet: keep them.
		q.arrivals = got
		return
	}
	slices.SortStableFunc(got, func(a, b arrival) int { return cmp.Compare(a.at().UnixNano(), b.at().UnixNano()) })
	for _, a := range got {
		if a.answer != nil {
			q.judgeAnswer(*a.answer)
		} else {
			q.judgeText(*a.reply)
		}
	}
}

func (a arrival) at() time.Time {
	if a.answer != nil {
		return a.answer.ReceivedAt
	}
	return a.reply.ReceivedAt
}

// judgeAnswer weighs a button press or an HTTP decision.
func (q *question) judgeAnswer(a contract.Answer) {
	if before, known := q.answers[a.ID]; known {
		if before.decision != a.Decision {
			// Another decision under the same id never replaces the first one.
			before.verdict = q.standing()
			q.answers[a.ID] = before
		} else if before.verdict.Standing == chat.StandingNoted {
			// A vote that was noted may have completed the quorum since.
			before.verdict = q.standingOf(before.verdict)
			q.answers[a.ID] = before
		}
		return
	}
	q.answers[a.ID] = answered{decision: a.Decision, verdict: q.weigh(a)}
}

// weigh applies the rules of CONTRACT §3 to an answer that was not seen before.
func (q *question) weigh(a contract.Answer) chat.Verdict {
	plan := q.of.plan
	switch {
	case q.step != nil && a.Decision != string(chat.ActionDone) && a.Decision != string(chat.ActionCancel):
		return chat.Verdict{Standing: chat.StandingInvalid, Reason: "this is a step to do: answer done or cancel"}
	case q.step != nil:
	case a.Decision != chat.Allow && a.Decision != chat.AllowAlways && a.Decision != chat.Deny,
		a.Decision == chat.AllowAlways && !plan.OfferAlways:
		return chat.Verdict{Standing: chat.StandingInvalid}
	}
	switch {
	case a.Thread != (chat.Thread{}) && !q.asksIn(a.Thread):
		return chat.Verdict{Standing: chat.StandingRefused, Reason: "this button belongs to another chat"}
	case !q.entitled(a.By, a.Entitled):
		return chat.Verdict{Standing: chat.StandingRefused, Reason: "this question is for " + q.whom()}
	case !q.open:
		return q.standing()
	case q.late(a.ReceivedAt):
		return chat.Verdict{Standing: chat.StandingClosed, Reason: string(approval.ReasonTimeout)}
	}
	return q.vote(a.ID, chat.Decision{
		Decision: a.Decision, By: a.By.Key(), Via: a.Via, At: a.ReceivedAt.UTC(), Reason: a.Reason,
	}, a.By)
}

// judgeText weighs a text that may answer. What does not answer goes back to the conversation.
func (q *question) judgeText(r contract.Reply) {
	if _, known := q.answers[r.ID]; known {
		return
	}
	fromRedis := r.Message == ""
	switch {
	case !q.open:
		return // the close gives it back
	case q.asked == nil && !fromRedis:
		q.texts = append(q.texts, r)
		return
	case q.late(r.ReceivedAt):
		return // the end of the question gives it back
	case !fromRedis && r.ReceivedAt.Before(q.asked.Began),
		q.pointsElsewhere(r),
		!q.entitled(r.By, false):
		q.answers[r.ID] = answered{}
		if !fromRedis {
			q.returned = append(q.returned, r)
		}
		return
	}
	d := chat.Decision{By: r.By.Key(), Via: r.Via, At: r.ReceivedAt.UTC()}
	if q.step != nil {
		q.judgeStep(r, d)
		return
	}
	switch said := approval.Read(r.Text); {
	case said.Kind == approval.NoText:
		return
	case said.Kind == approval.Yes:
		d.Decision = chat.Allow
	case said.Kind == approval.Always && q.of.plan.OfferAlways:
		d.Decision = chat.AllowAlways
	default:
		d.Decision, d.Reason = chat.Deny, approval.EscapeShort(said.Text, maxReason)
	}
	q.byText = true
	verdict := q.vote(r.ID, d, r.By)
	q.answers[r.ID] = answered{decision: d.Decision, verdict: verdict}
	if verdict.Standing == chat.StandingNoted && !fromRedis {
		q.noted = append(q.noted, r)
	}
	if !fromRedis {
		q.consumed = append(q.consumed, r.Message)
	}
}

// vote counts an answer of somebody who may answer, in time.
func (q *question) vote(id string, d chat.Decision, by chat.Person) chat.Verdict {
	if q.step != nil {
		return q.claim(id, d)
	}
	if d.Decision == chat.Deny {
		q.open, q.status, q.decision, q.decisionID = false, statusDenied, &d, id
		return chat.Verdict{Standing: chat.StandingTaken, Decision: q.decision}
	}
	if !q.tally.Yes(by.Key(), d) {
		return chat.Verdict{Standing: chat.StandingNoted, Reason: "more people have to agree"}
	}
	// "Always" stands only if all who had to agree said so.
	d.Decision = q.tally.Decision()
	q.open, q.status, q.decision, q.decisionID = false, statusApproved, &d, id
	return chat.Verdict{Standing: chat.StandingTaken, Decision: q.decision}
}

// standing is what an answer hears that changes nothing any more.
func (q *question) standing() chat.Verdict {
	switch {
	case q.decision != nil:
		return chat.Verdict{Standing: chat.StandingDecided, Decision: q.decision}
	case q.open:
		return chat.Verdict{Standing: chat.StandingInvalid, Reason: "this id was used for another decision"}
	default:
		return chat.Verdict{Standing: chat.StandingClosed, Reason: q.status}
	}
}

// standingOf is what a vote that was noted before has become.
func (q *question) standingOf(before chat.Verdict) chat.Verdict {
	if q.open {
		return before
	}
	if q.status == statusApproved {
		return chat.Verdict{Standing: chat.StandingTaken, Decision: q.decision}
	}
	return q.standing()
}

// late tells whether the gateway received an answer only after the deadline.
func (q *question) late(at time.Time) bool { return q.asked != nil && !at.Before(q.deadline) }

func (q *question) entitled(who chat.Person, owner bool) bool {
	ok, _ := approval.MayAnswer(q.of.plan.Approvers, who, q.of.in.Requester.Key(), owner)
	return ok
}
