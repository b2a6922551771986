package workflows

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// The statuses of a handoff besides pending.
const (
	statusCompleted = "completed"
	statusCancelled = "cancelled"
	statusTimedOut  = "timed_out"
)

// step is a question that asks a person to do something instead of agreeing (CONTRACT §4). The
// tool's run function is never called.
type step struct {
	contract.HandoffState
	claims []claim
}

// claim is a person's word that the step is done, until the business state has been read.
type claim struct {
	id       string
	decision chat.Decision
}

// seen is the handoff as others see it; nil where there is none.
func (s *step) seen() *contract.HandoffState {
	if s == nil {
		return nil
	}
	state := s.HandoffState
	return &state
}

// checking tells whether this answer still waits for the check.
func (s *step) checking(id string) bool {
	return s != nil && slices.ContainsFunc(s.claims, func(c claim) bool { return c.id == id })
}

// how says how a completed step is known to be done.
func (s *step) how() chat.Line {
	switch {
	case s.Verified && s.AssertedBy != "":
		return chat.Text(chat.LineDoneChecked, "by", approval.Escape(s.AssertedBy))
	case s.Verified:
		return chat.Text(chat.LineDoneSeen)
	case s.AssertedBy != "":
		return chat.Text(chat.LineDoneAsserted, "by", approval.Escape(s.AssertedBy))
	default:
		return chat.Text(chat.LineDoneAsserted).With("by", chat.LineProgram)
	}
}

// handOff puts the step to a person and waits until it is done, cancelled or too late.
func (i *invocation) handOff(ctx workflow.Context) {
	q, h := i.question, i.plan.Handoff
	q.step = &step{HandoffState: contract.HandoffState{
		Status: statusPending, Reason: h.Reason, Steps: h.Steps, Page: h.Page, Approvers: i.plan.Approvers,
	}}
	if h.Satisfied {
		q.step.Already = true
		q.finishStep(nil, "")
		i.endStep(ctx)
		return
	}
	i.plan.Timeout = h.Timeout
	q.prepare()
	if q.card.Text == "" {
		q.card.Text = handoffText(*h)
	}
	q.card.Buttons = []chat.Button{{Action: chat.ActionDone}, {Action: chat.ActionCancel}}
	q.put(ctx)
	q.awaitStep(ctx)
	i.endStep(ctx)
}

// handoffText is the step as a chat shows it, for a plan of an earlier version: those of today
// have it in their language.
func handoffText(h contract.Handoff) string {
	var b strings.Builder
	b.WriteString("👉 " + h.Reason)
	for n, s := range h.Steps {
		fmt.Fprintf(&b, "\n%d. %s", n+1, s.Text)
	}
	if h.Page != "" {
		b.WriteString("\nThe page for it: " + h.Page)
	}
	b.WriteString("\nReply 'Done' when it is done, or 'Cancel'.")
	return b.String()
}

// awaitStep waits for a claim that holds, a completion that is seen, a cancellation or the deadline.
func (q *question) awaitStep(ctx workflow.Context) {
	if !q.open {
		return
	}
	if q.asked != nil {
		at, until := q.asked.Delivered.UTC(), q.deadline.UTC()
		q.step.AskedAt, q.step.ExpiresAt = &at, &until
	}
	details(ctx, q.waiting("Waiting"))
	timer, stopClock := q.clock(ctx)
	defer stopClock()
	seen, stopWatch := q.watch(ctx)
	defer stopWatch()
	for q.open {
		if err := workflow.Await(ctx, func() bool {
			return !q.open || timer.IsReady() || seen() || len(q.step.claims) > 0 || len(q.returned) > 0
		}); err != nil {
			q.drain()
			q.end(approval.ReasonWithdrawn)
			return
		}
		q.giveBack(ctx)
		switch {
		case seen():
			q.finishStep(nil, "observed")
		case len(q.step.claims) > 0:
			q.checkClaim(ctx)
		case q.open && timer.IsReady():
			q.lastLook(ctx)
		}
	}
	q.dropClaims()
}

// claim takes done and cancel of somebody who may answer, in time.
func (q *question) claim(id string, d chat.Decision) chat.Verdict {
	if d.Decision == string(chat.ActionCancel) {
		q.open, q.status, q.decision, q.decisionID = false, statusCancelled, &d, id
		return chat.Verdict{Standing: chat.StandingTaken, Decision: &d}
	}
	q.step.claims = append(q.step.claims, claim{id: id, decision: d})
	return chat.Verdict{Standing: chat.StandingNoted, Reason: "it is being checked"}
}

// judgeStep weighs a text: the words done and cancel, by the rule of yes; anything else is talk.
func (q *question) judgeStep(r contract.Reply, d chat.Decision) {
	word := approval.ReadStep(r.Text)
	if word == "" {
		if r.Message != "" {
			q.returned = append(q.returned, r)
		}
		q.answers[r.ID] = answered{}
		return
	}
	d.Decision = string(word)
	q.answers[r.ID] = answered{decision: d.Decision, verdict: q.claim(r.ID, d)}
	if r.Message != "" {
		q.consumed = append(q.consumed, r.Message)
	}
}

// dropClaims answers those who said done while the step was ending otherwise.
func (q *question) dropClaims() {
	for _, c := range q.step.claims {
		q.answers[c.id] = answered{decision: c.decision.Decision, verdict: q.standing()}
	}
	q.step.claims = nil
}

// endStep turns the step's end into the invocation's result.
func (i *invocation) endStep(ctx workflow.Context) {
	q := i.question
	at := workflow.Now(ctx).UTC()
	if q.decision != nil {
		at, q.step.DecidedBy, q.step.Via = q.decision.At, q.decision.By, q.decision.Via
	}
	q.step.DecidedAt = &at
	switch q.status {
	case statusCompleted:
		i.complete(nil)
	case string(approval.ReasonTimeout):
		q.step.Status = statusTimedOut
		i.fail(approval.HandoffTimeout, "nobody did it in time")
	default:
		q.step.Status = statusCancelled
		i.fail(approval.HandoffCancelled, q.status)
		if i.plan.Handoff.Expects != "" && q.asked != nil {
			free, _ := workflow.NewDisconnectedContext(ctx)
			q.step.Observed, _ = q.check(free)
		}
	}
}
