package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

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
