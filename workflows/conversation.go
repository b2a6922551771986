package workflows

import (
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

const (
	// maxSeen event ids are kept: platforms redeliver within hours, not after this many messages.
	maxSeen = 500
	// maxClosed prompts are remembered, so that a reply to one of them answers nothing.
	maxClosed = 50
	// maxCopies are questions of other conversations that are open here at once.
	maxCopies = 100
	// maxNotes before the history starts afresh, well before Temporal suggests it.
	maxNotes = 2000
)

// Conversation is the only router of one thread, for ever. It takes messages in the order in
// which they came, drops redeliveries, hands what may answer to the pending question, and gives
// everything else a Turn, one at a time.
func Conversation(ctx workflow.Context, talk contract.Talk) error {
	c := &conversation{Talk: talk, notes: workflow.GetSignalChannel(ctx, contract.SignalNote)}
	if err := workflow.SetQueryHandler(ctx, contract.QueryTalk, func() (contract.Talk, error) { return c.Talk, nil }); err != nil {
		return fmt.Errorf("serve the state query: %w", err)
	}
	return c.run(ctx)
}

type conversation struct {
	contract.Talk
	notes workflow.ReceiveChannel
	taken int
	// albumUntil is when the album that is coming in is taken for complete.
	albumUntil time.Time
	// own is set when the running turn was started by this run, which then hears of its end.
	own bool
}

func (c *conversation) run(ctx workflow.Context) error {
	for {
		c.describe(ctx)
		if err := c.await(ctx); err != nil {
			return err
		}
		for {
			var note contract.Note
			if !c.notes.ReceiveAsync(&note) {
				break
			}
			c.take(ctx, note)
		}
		c.startTurn(ctx)
		if c.taken >= maxNotes || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return c.continueAsNew(ctx)
		}
	}
}

// await waits for a note, or for the moment when the next message may have its turn.
func (c *conversation) await(ctx workflow.Context) error {
	if wait := c.collecting(ctx); wait > 0 && c.Turn == "" {
		_, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout: wait, TimerOptions: workflow.TimerOptions{Summary: "Waits for the rest of an album"},
		}, func() bool { return c.notes.Len() > 0 })
		return err
	}
	return workflow.Await(ctx, func() bool { return c.notes.Len() > 0 || c.idle() })
}

// idle tells that a message waits and no turn is running.
func (c *conversation) idle() bool { return c.Turn == "" && len(c.Queue) > 0 }

// continueAsNew starts the history afresh; what was signalled meanwhile is taken first, and
// nothing yields between the last look and the return.
func (c *conversation) continueAsNew(ctx workflow.Context) error {
	for {
		var note contract.Note
		if !c.notes.ReceiveAsync(&note) {
			return workflow.NewContinueAsNewError(ctx, contract.WorkflowConversation, c.Talk)
		}
		c.take(ctx, note)
	}
}

// take handles one note.
func (c *conversation) take(ctx workflow.Context, note contract.Note) {
	c.taken++
	switch {
	case note.Message != nil:
		c.message(ctx, *note.Message)
	case len(note.Messages) > 0:
		for _, m := range note.Messages {
			c.message(ctx, m)
		}
	case note.Open != nil:
		c.open(ctx, *note.Open)
	case note.Copied != nil:
		c.copied(*note.Copied)
	case note.Close != nil:
		c.close(ctx, *note.Close)
	case note.Closing != nil:
		c.confirm(ctx, note.Closing.Invocation)
	case note.Returned != nil:
		c.unanswered(ctx, note.Returned.Messages)
	case note.TurnDone != nil && note.TurnDone.UUID == c.Turn:
		c.Turn = ""
	case note.Bounced != nil:
		c.bounced(ctx, *note.Bounced)
	case note.Revoke != nil:
		c.Grants = slices.DeleteFunc(c.Grants, func(g contract.Grant) bool { return g.ID == note.Revoke.Grant })
	}
}

// startTurn gives the next waiting message its turn, if none is running.
func (c *conversation) startTurn(ctx workflow.Context) {
	if c.Turn != "" && !c.own && len(c.Queue) > 0 {
		// The turn belongs to an earlier run; if it was terminated, nobody told us.
		alive, err := aliveActivity.first(ctx, bookkeeping("See whether the turn is still running"), contract.TurnID(c.Turn))
		if err == nil && !alive {
			c.Turn = ""
		}
	}
	if !c.idle() || c.collecting(ctx) > 0 {
		return
	}
	m := c.Queue[0]
	c.Queue = slices.Delete(c.Queue, 0, 1)
	c.remember(m)
	free, _ := workflow.NewDisconnectedContext(ctx)
	future, err := c.turn(free, m)
	if err != nil {
		workflow.GetLogger(ctx).Error("the turn could not be started", "uuid", m.UUID, "error", err)
		return
	}
	c.Turn, c.own = m.UUID, true
	workflow.Go(free, func(ctx workflow.Context) {
		// A turn that ends without a word (terminated, failed) must not hold up the rest.
		_ = future.Get(ctx, nil)
		if c.Turn == m.UUID {
			c.Turn = ""
		}
	})
}

// turn starts the Turn that answers a message, and returns when it is started.
func (c *conversation) turn(ctx workflow.Context, m chat.Message) (workflow.ChildWorkflowFuture, error) {
	in := contract.Turn{Message: m, Attributes: c.Attributes, Language: c.Language}
	free, _ := workflow.NewDisconnectedContext(ctx)
	child := workflow.WithChildOptions(free, workflow.ChildWorkflowOptions{
		WorkflowID:            contract.TurnID(m.UUID),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		// It outlives this run, which may continue as new while a person is thinking.
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		StaticSummary:         fmt.Sprintf("Answers %s in %s", m.From.Label(), c.Thread),
		TypedSearchAttributes: contract.ThreadAttributes(c.Thread, c.Attributes),
	})
	future := workflow.ExecuteChildWorkflow(child, contract.WorkflowTurn, in)
	return future, future.GetChildWorkflowExecution().Get(free, nil)
}

// seen tells whether this event was handled before, and remembers it.
func (c *conversation) seen(id string) bool {
	if slices.Contains(c.Seen, id) {
		return true
	}
	c.Seen = append(c.Seen, id)
	if extra := len(c.Seen) - maxSeen; extra > 0 {
		c.Seen = slices.Delete(c.Seen, 0, extra)
	}
	return false
}

// describe says in words on the workflow's page what is going on.
func (c *conversation) describe(ctx workflow.Context) {
	text := "Waiting for messages."
	if c.Turn != "" {
		text = "Answering message " + c.Turn + "."
	}
	if c.Pending != nil {
		text += " Question pending: " + contract.InvocationID(c.Pending.Invocation) + "."
	}
	if n := len(c.Waiting); n > 0 {
		text += fmt.Sprintf(" %d more questions wait behind it.", n)
	}
	if n := len(c.Queue); n > 0 {
		text += fmt.Sprintf(" %d messages wait for their turn.", n)
	}
	details(ctx, text)
}
