package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// question is one prompt and what people answer to it (CONTRACT §3).
//
// Answers only ever arrive: a coroutine of its own judges them in the order in which the gateway
// received them, so that neither the order of signals within one task nor a worker that was away
// changes who was first. The deadline is compared with the answer's own time, never with the
// moment a workflow task happens to run.
type question struct {
	of       *invocation
	card     chat.Card
	asked    *contract.Asked
	deadline time.Time
	// open is set while an answer may still decide.
	open   bool
	status string // contract.Approval.Status; empty where nothing was asked

	arrivals   []arrival
	texts      []contract.Reply // that came before the prompt's delivery is known
	answers    map[string]answered
	tally      *approval.Tally
	decision   *chat.Decision
	decisionID string
	byText     bool
	consumed   []string
	returned   []contract.Reply
	noted      []contract.Reply // answers in words that others have to join

	superseder string
	mayGo      bool // the conversation let it ask (queue)
	confirmed  int  // the conversations that gave their word at the deadline

	// step is set where the question is a handoff: a person does something instead of agreeing.
	step *step

	copies []*copied
	opened bool             // the conversation was told: it must be told of the end
	closed *contract.Closed // what was done when it ended
	signals
}

// arrival is one answer on its way to the judge.
type arrival struct {
	answer *contract.Answer
	reply  *contract.Reply
}

// answered remembers what an answer's id has said, so that a repeat is a no-op.
type answered struct {
	decision string
	verdict  chat.Verdict
}

func newQuestion(of *invocation) *question {
	return &question{of: of, answers: map[string]answered{}}
}

// ask puts the question to the people and waits for an answer; true means that they agreed.
func (q *question) ask(ctx workflow.Context) bool {
	q.prepare()
	q.put(ctx)
	q.await(ctx)
	return q.agreed()
}

// put makes the question known and sends its prompt.
func (q *question) put(ctx workflow.Context) {
	plan := q.of.plan
	q.of.result.Status = string(approval.StatusWaiting)
	q.of.mark(ctx, q.of.result.Status)
	details(ctx, q.waiting("Asking"))
	timeout := telling("Send the question to " + plan.Thread.String())
	timeout.ScheduleToCloseTimeout = plan.Timeout
	in := contract.AskInput{Open: q.opening(), Card: q.card, Timeout: plan.Timeout, Attributes: q.of.in.Attributes}
	q.opened = true
	if plan.Queue {
		q.takeTurn(ctx, in)
	}
	if q.open {
		q.send(ctx, timeout, in)
		q.spread(ctx)
	}
}

// send sends the prompt.
func (q *question) send(ctx workflow.Context, o workflow.ActivityOptions, in contract.AskInput) {
	var sent contract.Asked
	var err error
	done := q.sending(ctx, func(ctx workflow.Context) { sent, err = askActivity.first(ctx, o, in) })
	switch {
	case done && err == nil:
		q.deliver(sent, q.of.plan.Timeout)
	default:
		q.end(approval.ReasonUndeliverable)
	}
}

// sending runs what sends a prompt, and returns whether that came to its end. A question that ends
// meanwhile still waits a moment for the platform's word, for a prompt that is out has to be edited.
func (q *question) sending(ctx workflow.Context, do func(workflow.Context)) (done bool) {
	free, _ := workflow.NewDisconnectedContext(ctx)
	asking, stop := workflow.WithCancel(free)
	defer stop()
	workflow.Go(asking, func(ctx workflow.Context) {
		do(ctx)
		done = true
	})
	if e := workflow.Await(ctx, func() bool { return done || !q.open }); e != nil {
		q.end(approval.ReasonWithdrawn)
	}
	if !done {
		_, _ = workflow.AwaitWithOptions(free, workflow.AwaitOptions{
			Timeout: localTimeout, TimerOptions: workflow.TimerOptions{Summary: "Waits for a prompt that is on its way"},
		}, func() bool { return done })
	}
	return done
}

// prepare sets the question up; from here on an answer counts.
func (q *question) prepare() {
	plan := q.of.plan
	q.open, q.status = true, statusPending
	q.tally = approval.NewTally(plan.Approvers)
	q.card = chat.Card{
		Invocation: q.of.in.ID, Thread: plan.Thread, Text: plan.Prompt, Language: plan.Language,
		// Their labels are filled in where the card is sent.
		Buttons: []chat.Button{{Action: chat.ActionYes}, {Action: chat.ActionNo}},
	}
	if plan.Thread == q.of.in.Thread { // a question that is routed elsewhere replies to nothing there
		q.card.ReplyTo = q.of.in.MessageRef
	}
	if plan.OfferAlways {
		q.card.Buttons = append(q.card.Buttons, chat.Button{Action: chat.ActionAlways})
	}
}

func (q *question) opening() contract.Open {
	return contract.Open{
		Invocation: q.of.in.ID, Approvers: q.of.plan.Approvers,
		Requester: q.of.in.Requester.Key(), Queue: q.of.plan.Queue,
		Handoff: q.step != nil,
	}
}

// takeTurn waits in the conversation's queue until the questions before this one have ended.
func (q *question) takeTurn(ctx workflow.Context, in contract.AskInput) {
	if _, err := openActivity.first(ctx, bookkeeping("Queue behind the pending question"), in); err != nil {
		q.end(approval.ReasonWithdrawn)
		return
	}
	if err := workflow.Await(ctx, func() bool { return q.mayGo || !q.open }); err != nil {
		q.end(approval.ReasonWithdrawn)
	}
}

// deliver starts the clock: from the moment the platform's answer reached the worker.
func (q *question) deliver(sent contract.Asked, timeout time.Duration) {
	q.asked = &sent
	q.deadline = sent.Delivered.Add(timeout)
	texts := q.texts
	q.texts = nil
	for n := range texts {
		q.judgeText(texts[n])
	}
}

// end closes the question without a person's decision; a decision that stands is left alone.
func (q *question) end(why approval.Reason) {
	if !q.open {
		return
	}
	q.open = false
	q.status = string(why)
}

func (q *question) agreed() bool { return q.status == statusApproved }

// posted tells whether the platform has the prompt.
func (q *question) posted() bool { return q.asked != nil }

// deniedByText tells whether the person wrote something other than yes and was shown no button change.
func (q *question) deniedByText() bool { return q.byText && q.status == statusDenied }

// reason is what the result says for a question that was not answered with yes.
func (q *question) reason() string {
	if q.status == statusDenied {
		return string(approval.ReasonDenied)
	}
	return q.status
}

// maxReason is how many characters of a refusal go to the agent, as data.
const maxReason = 2000

// The statuses of a question besides the reasons that approval declares.
const (
	statusPending  = "pending"
	statusApproved = "approved"
	statusDenied   = "denied"
)

// approval is the question as others see it; nil where nothing was asked.
func (q *question) approval() *contract.Approval {
	if q.status == "" || q.step != nil {
		return nil
	}
	in, plan := q.of.in, q.of.plan
	a := &contract.Approval{
		ID: in.ID, Status: q.status, Prompt: plan.Prompt, Tool: in.Tool, Operation: in.Operation,
		Parameters: plan.Parameters, Connector: plan.Thread.Connector, ThreadKey: plan.Thread.Key,
		Requester: in.Requester.Key(), Approvers: plan.Approvers, Always: plan.OfferAlways,
		Decision: q.decision, DecisionID: q.decisionID,
	}
	if q.asked != nil {
		at, until := q.asked.Delivered.UTC(), q.deadline.UTC()
		a.AskedAt, a.ExpiresAt = &at, &until
	}
	for _, c := range q.copies {
		if c.receipt != nil {
			a.Copies = append(a.Copies, c.Thread)
		}
	}
	if q.tally != nil && plan.Approvers.Quorum > 1 {
		a.Votes = slices.Clone(q.tally.Votes())
	}
	return a
}
