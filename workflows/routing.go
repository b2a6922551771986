package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// message routes one message: to another program that waits on our keys, to the pending
// question, or to the agent.
func (c *conversation) message(ctx workflow.Context, m chat.Message) {
	if c.seen(m.EventID) || m.From.Bot {
		return
	}
	command, language := chat.ReadCommand(m.Text)
	// A command is no answer: `!new` takes the question back, the others leave it as it is.
	question := c.answers(m)
	forward := command == chat.CommandNone && question != ""
	in := contract.RouteInput{Message: m, Forward: forward}
	if c.Pending != nil {
		in.Pending = c.Pending.Invocation
	}
	if question != in.Pending {
		in.Copy = question
	}
	routed, err := routeActivity.first(ctx, bookkeeping("Route a message"), in)
	switch {
	case err != nil:
		workflow.GetLogger(ctx).Error("a message could not be routed; it goes to the agent", "error", err)
		c.enqueue(ctx, m)
	case routed.Taken:
	case routed.Forwarded:
		c.InFlight = append(c.InFlight, contract.Forwarded{Invocation: question, Message: m})
	case forward && !routed.Gone:
		// A file without text: stored, and the question stays open.
	case command == chat.CommandNew:
		c.afresh(ctx, m)
	case command != chat.CommandNone:
		if language != "" {
			c.Language = language
		}
		c.answerAside(ctx, m)
	default:
		c.enqueue(ctx, m)
	}
}

// answers returns the question that a message goes to, empty for none: the copy that it points at,
// else the pending one. What it turns out not to answer comes back as Returned, or with the
// question's end.
func (c *conversation) answers(m chat.Message) string {
	if m.Forwarded || slices.Contains(c.Closed, m.ReplyTo) {
		return ""
	}
	for _, copied := range c.Copies {
		if m.ReplyTo == copied.Ref {
			if mayAnswer(copied.Open, m) {
				return copied.Open.Invocation
			}
			return ""
		}
	}
	if c.Pending != nil && mayAnswer(*c.Pending, m) {
		return c.Pending.Invocation
	}
	return ""
}

func mayAnswer(o contract.Open, m chat.Message) bool {
	if o.Handoff && approval.ReadStep(m.Text) == "" {
		return false // only done and cancel answer a handoff; everything else is talk
	}
	if approval.Read(m.Text).Kind == approval.NoText && len(m.Files) == 0 {
		return false
	}
	ok, _ := approval.MayAnswer(o.Approvers, m.From, o.Requester, false)
	return ok
}

// afresh is "!new": the pending question is withdrawn, grants end, and the agent forgets.
func (c *conversation) afresh(ctx workflow.Context, m chat.Message) {
	questions := c.Waiting
	if c.Pending != nil {
		questions = append([]contract.Open{*c.Pending}, questions...)
	}
	for _, q := range questions {
		c.say(ctx, q.Invocation, contract.Word{Kind: contract.WordWithdrawn, By: m.From.Key()})
	}
	c.Grants = nil
	c.enqueue(ctx, m)
}

// answerAside gives a command its turn at once, beside the one that may be waiting for a person:
// "!help" is of most use while a question is open. Earlier versions took it for a normal message.
func (c *conversation) answerAside(ctx workflow.Context, m chat.Message) {
	if workflow.GetVersion(ctx, "commands-aside", workflow.DefaultVersion, 1) == workflow.DefaultVersion || m.Album != "" {
		c.enqueue(ctx, m)
		return
	}
	if _, err := c.turn(ctx, m); err != nil {
		workflow.GetLogger(ctx).Error("a command's turn could not be started", "uuid", m.UUID, "error", err)
	}
}

// open registers a question before its prompt is sent.
func (c *conversation) open(ctx workflow.Context, o contract.Open) {
	if c.Pending != nil && c.Pending.Invocation == o.Invocation ||
		slices.ContainsFunc(c.Waiting, func(w contract.Open) bool { return w.Invocation == o.Invocation }) {
		return // told again
	}
	if o.Queue && c.Pending != nil {
		// One that was terminated never says that it has ended.
		alive, err := aliveActivity.first(ctx, bookkeeping("See whether the pending question is still open"),
			contract.InvocationID(c.Pending.Invocation))
		if err == nil && !alive {
			c.release(ctx, c.Pending.Invocation, nil)
			c.Pending = nil
		}
	}
	switch {
	case c.Pending == nil:
		c.Pending = &o
	case o.Queue:
		c.Waiting = append(c.Waiting, o)
		return
	default:
		c.say(ctx, c.Pending.Invocation, contract.Word{Kind: contract.WordSuperseded, By: o.Invocation})
		c.Pending = &o
	}
	if o.Queue {
		c.say(ctx, o.Invocation, contract.Word{Kind: contract.WordGo})
	}
}

// copied notes a question of another conversation that is asked here too.
func (c *conversation) copied(n contract.Copied) {
	c.Copies = slices.DeleteFunc(c.Copies, func(o contract.Copied) bool { return o.Open.Invocation == n.Open.Invocation })
	c.Copies = append(c.Copies, n)
	if extra := len(c.Copies) - maxCopies; extra > 0 { // one that was terminated never says that it has ended
		c.Copies = slices.Delete(c.Copies, 0, extra)
	}
}

// close frees the place of a question that has ended.
func (c *conversation) close(ctx workflow.Context, e contract.Close) {
	if e.Ref != "" {
		c.Closed = append(c.Closed, e.Ref)
		if extra := len(c.Closed) - maxClosed; extra > 0 {
			c.Closed = slices.Delete(c.Closed, 0, extra)
		}
	}
	if e.Grant != nil && !slices.ContainsFunc(c.Grants, func(g contract.Grant) bool { return g.ID == e.Grant.ID }) {
		c.Grants = append(c.Grants, *e.Grant)
	}
	c.release(ctx, e.Invocation, e.Consumed)
	c.Copies = slices.DeleteFunc(c.Copies, func(o contract.Copied) bool { return o.Open.Invocation == e.Invocation })
	c.Waiting = slices.DeleteFunc(c.Waiting, func(w contract.Open) bool { return w.Invocation == e.Invocation })
	if c.Pending == nil || c.Pending.Invocation != e.Invocation {
		return
	}
	c.Pending = nil
	if len(c.Waiting) > 0 {
		next := c.Waiting[0]
		c.Waiting = slices.Delete(c.Waiting, 0, 1)
		c.Pending = &next
		c.say(ctx, next.Invocation, contract.Word{Kind: contract.WordGo})
	}
}

// bounced passes on that a prompt did not arrive; the invocation knows whether it was its own. A
// copy that did not arrive is a warning.
func (c *conversation) bounced(ctx workflow.Context, b contract.Bounced) {
	if c.seen(b.EventID) {
		return
	}
	workflow.GetLogger(ctx).Warn("a question did not arrive", "thread", c.Thread.String(), "reason", b.Reason)
	c.Copies = slices.DeleteFunc(c.Copies, func(o contract.Copied) bool { return o.Ref == b.Ref }) // it is open elsewhere
	if c.Pending == nil {
		return
	}
	c.say(ctx, c.Pending.Invocation, contract.Word{Kind: contract.WordBounced, Ref: b.Ref})
}

// release turns what was handed to a question that has ended, and was no answer, into normal messages.
func (c *conversation) release(ctx workflow.Context, invocation string, consumed []string) {
	c.takeBack(ctx, func(f contract.Forwarded) (back, drop bool) {
		mine := f.Invocation == invocation
		answered := slices.Contains(consumed, f.Message.UUID)
		return mine && !answered, mine && answered
	})
}

// unanswered takes back messages that a question, which stays open, did not take for answers.
func (c *conversation) unanswered(ctx workflow.Context, messages []string) {
	c.takeBack(ctx, func(f contract.Forwarded) (back, drop bool) { return slices.Contains(messages, f.Message.UUID), false })
}

func (c *conversation) takeBack(ctx workflow.Context, which func(contract.Forwarded) (back, drop bool)) {
	kept := make([]contract.Forwarded, 0, len(c.InFlight))
	for _, f := range c.InFlight {
		switch back, drop := which(f); {
		case back:
			c.enqueue(ctx, f.Message)
		case !drop:
			kept = append(kept, f)
		}
	}
	c.InFlight = kept
}

// confirm gives its word at a deadline: everything that was received before is in it.
func (c *conversation) confirm(ctx workflow.Context, invocation string) {
	w := contract.Word{Kind: contract.WordConfirmed}
	for _, f := range c.InFlight {
		if f.Invocation == invocation {
			w.Replies = append(w.Replies, contract.ReplyOf(f.Message))
		}
	}
	c.say(ctx, invocation, w)
}

// say sends a word to an invocation; one that has ended needs none.
func (c *conversation) say(ctx workflow.Context, invocation string, w contract.Word) {
	in := contract.SignalInput{Workflow: contract.InvocationID(invocation), Word: &w}
	if _, err := signalActivity.first(ctx, bookkeeping("Tell "+contract.InvocationID(invocation)+": "+w.Kind), in); err != nil {
		workflow.GetLogger(ctx).Error("an invocation could not be told", "invocation", invocation, "word", w.Kind, "error", err)
	}
}
