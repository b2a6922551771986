package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
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

// watch reads the state beside the wait, where the declaration says that it shows by itself.
func (q *question) watch(ctx workflow.Context) (seen func() bool, stop func()) {
	h := q.of.plan.Handoff
	if !h.Observable || h.Expects == "" {
		return func() bool { return false }, func() {}
	}
	ctx, stop = workflow.WithCancel(ctx)
	future := watchActivity.start(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: h.Timeout + time.Minute, HeartbeatTimeout: heartbeat,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 10 * time.Second},
		Summary:     "Watch whether it is done: " + h.Expects,
	}, q.checkInput())
	return func() bool {
		if !q.open || !future.IsReady() {
			return false
		}
		var done bool
		return future.Get(ctx, &done) == nil && done
	}, stop
}

func (q *question) checkInput() contract.CheckInput {
	return contract.CheckInput{Invocation: q.of.in, Plan: q.of.plan}
}

// check reads the business state; a check that fails is never a success.
func (q *question) check(ctx workflow.Context) (done bool, why lack) {
	done, err := checkActivity.do(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 15 * time.Second, ScheduleToCloseTimeout: 40 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: 3},
		Summary:     "Look whether it is done: " + q.of.plan.Handoff.Expects,
	}, q.checkInput())
	if err != nil {
		return false, lack{
			said: "it could not be checked just now: " + cause(err),
			line: chat.Text(chat.LineStepUnchecked, "cause", cause(err)),
		}
	}
	if !done {
		missing := q.of.plan.Handoff.Expects
		return false, lack{said: missing, line: chat.Text(chat.LineStepMissing, "missing", missing)}
	}
	return true, lack{}
}

// lack is why a step is not done yet.
type lack struct {
	said string // in the state
	line chat.Line
}

// checkClaim looks whether the step is done, now that somebody says so.
func (q *question) checkClaim(ctx workflow.Context) {
	c := q.step.claims[0]
	done, why := true, lack{}
	if q.of.plan.Handoff.Expects != "" {
		done, why = q.check(ctx)
	}
	q.step.claims = slices.Delete(q.step.claims, 0, 1)
	if !done {
		q.step.Missing = why.said
		verdict := chat.Verdict{Standing: chat.StandingNoted, Reason: why.said, Why: why.line}
		q.answers[c.id] = answered{decision: c.decision.Decision, verdict: verdict}
		q.say(ctx, c.id, why.line)
		return
	}
	if !q.open {
		return // cancelled during the check
	}
	q.answers[c.id] = answered{decision: c.decision.Decision, verdict: chat.Verdict{Standing: chat.StandingTaken, Decision: &c.decision}}
	q.finishStep(&c.decision, c.decision.Via)
	q.decisionID = c.id
}

// say tells the person what is still missing.
func (q *question) say(ctx workflow.Context, claim string, missing chat.Line) {
	in := contract.TellInput{
		Thread: q.of.plan.Thread, Line: missing, Language: q.of.plan.Language, Key: "missing:" + q.of.in.ID + ":" + claim,
	}
	if _, err := tellActivity.do(ctx, telling("Say what is still missing"), in); err != nil {
		workflow.GetLogger(ctx).Warn("the person could not be told what is missing", "error", err)
	}
}

// lastLook is the end of the time: everything said in time is heard, and the state is read once more.
func (q *question) lastLook(ctx workflow.Context) {
	q.hearOut(ctx)
	if len(q.step.claims) > 0 || !q.open {
		return
	}
	if q.of.plan.Handoff.Expects != "" {
		if done, _ := q.check(ctx); done && q.open {
			q.finishStep(nil, "observed")
			return
		}
	}
	q.end(approval.ReasonTimeout)
}

// finishStep records that the step is done, by somebody's word, by what the state shows, or both.
func (q *question) finishStep(by *chat.Decision, via string) {
	s := q.step
	q.open, q.status, q.decision = false, statusCompleted, by
	s.Status, s.Missing, s.Via = statusCompleted, "", via
	s.Observed = via == "observed"
	s.Verified = s.Already || s.Observed || q.of.plan.Handoff.Expects != ""
	if by != nil {
		s.AssertedBy = by.By
	}
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
			q.returned = append(q.returned, r.Message)
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
