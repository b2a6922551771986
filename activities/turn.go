package activities

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/words"
)

// Step asks the agent what to do next. Commands are handled before the agent sees anything.
func (a *Activities) Step(ctx context.Context, in contract.StepInput) (contract.Step, error) {
	m, language := in.Turn.Message, a.spoken(in.Turn)
	command, _ := chat.ReadCommand(m.Text)
	if command == chat.CommandNew {
		if err := a.Transcript.Afresh(ctx, m.Thread); err != nil {
			return contract.Step{}, fmt.Errorf("start the conversation afresh: %w", err)
		}
		return contract.Step{Reply: words.Say(language, chat.Text(chat.LineNew))}, nil
	}
	if len(in.Results) == 0 {
		if err := a.Transcript.Record(ctx, m); err != nil {
			return contract.Step{}, fmt.Errorf("keep the message: %w", err)
		}
	}
	if command != chat.CommandNone {
		reply, err := a.command(ctx, in.Turn, command)
		return contract.Step{Reply: reply}, err
	}
	history, err := a.Transcript.History(ctx, m)
	if err != nil {
		return contract.Step{}, fmt.Errorf("read the conversation: %w", err)
	}
	step, err := a.Agent.Next(ctx, agent.Turn{Message: m, History: history, Results: in.Results, Language: language})
	if err != nil {
		return contract.Step{}, fmt.Errorf("ask the agent: %w", err)
	}
	return step, nil
}

// Reply sends the agent's answer with everything that lies in outbound/{uuid}/; that folder goes
// only after the platform has all of it, and only where the connector deletes (CONTRACT §6).
func (a *Activities) Reply(ctx context.Context, in contract.ReplyInput) (contract.TurnResult, error) {
	m, language := in.Turn.Message, a.spoken(in.Turn)
	text := in.Text
	if !in.Line.Empty() {
		text = words.Say(language, in.Line)
	}
	outbound := a.Attachments.Outbound(m.UUID)
	files, err := outbound.List(ctx)
	if err != nil {
		return contract.TurnResult{}, fmt.Errorf("list the files of the reply: %w", err)
	}
	result := contract.TurnResult{Text: text, Files: files}
	sender, ok := a.Senders[m.Thread.Connector]
	if !ok {
		return contract.TurnResult{}, finalError(fmt.Sprintf("the connector %q is not configured here", m.Thread.Connector))
	}
	reply := chat.Reply{Thread: m.Thread, To: m.Ref, UUID: m.UUID, Text: text, Files: files, Language: language}
	sent := remembered(ctx)
	defer beating(ctx, sent.sent)()
	if err := sender.Reply(ctx, reply, sent); err != nil {
		return contract.TurnResult{}, classified(err)
	}
	if sender.Traits().DeletesOutbound && len(files) > 0 {
		if err := outbound.Clear(ctx); err != nil {
			return contract.TurnResult{}, fmt.Errorf("clear the files that were sent: %w", err)
		}
	}
	if err := a.Transcript.Close(ctx, m, in.Results, text); err != nil {
		a.Logger.Warn("the transcript misses a reply", "uuid", m.UUID, "error", err)
	}
	a.Publish("reply", "", m.Thread, text)
	return result, nil
}

// spoken is the language of a turn's own words.
func (a *Activities) spoken(in contract.Turn) string {
	return a.Languages.Of(in.Message.From, in.Message.Thread, in.Language)
}

// Listen runs one poller; the heartbeat carries the offset over to whoever takes over.
func (a *Activities) Listen(ctx context.Context, in contract.Listen) (contract.Listen, error) {
	poller, ok := a.Pollers[in.Connector]
	if !ok {
		return in, finalError(fmt.Sprintf("the connector %q does not poll here", in.Connector))
	}
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &in.Offset); err != nil {
			a.Logger.Warn("the poller's offset could not be read; messages may come again", "error", err)
		}
	}
	var mu sync.Mutex
	offset := in.Offset
	current := func() any { mu.Lock(); defer mu.Unlock(); return offset }
	defer beating(ctx, current)()
	polling, stop := untilStop(ctx)
	defer stop()
	err := poller.Poll(polling, in.Offset, func(next string) {
		mu.Lock()
		offset = next
		mu.Unlock()
		activity.RecordHeartbeat(ctx, next)
	})
	if polling.Err() != nil && ctx.Err() == nil {
		return in, errStopping
	}
	in.Offset, _ = current().(string)
	return in, classified(err)
}

// errStopping ends an activity that has no end of its own when its worker stops; another worker
// goes on. Nothing is wrong, so it is not logged as an error.
var errStopping = temporal.NewApplicationErrorWithOptions("this worker stops", "stopping",
	temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})

// untilStop ends also when the worker stops, which waits for what is running.
func untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	until, cancel := context.WithCancel(ctx)
	stopping := activity.GetWorkerStopChannel(ctx)
	go func() {
		select {
		case <-stopping:
			cancel()
		case <-until.Done():
		}
	}()
	return until, cancel
}

// progress is chat.Progress over an activity's heartbeats.
type progress struct {
	ctx   context.Context
	mu    sync.Mutex
	parts []string
}

// remembered returns which parts of a reply an earlier attempt has sent.
func remembered(ctx context.Context) *progress {
	p := &progress{ctx: ctx}
	if activity.HasHeartbeatDetails(ctx) {
		// Unreadable details mean that nothing is known to be sent.
		_ = activity.GetHeartbeatDetails(ctx, &p.parts)
	}
	return p
}

// Done implements chat.Progress.
func (p *progress) Done(part string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.parts, part)
}

// Mark implements chat.Progress.
func (p *progress) Mark(part string) {
	p.mu.Lock()
	p.parts = append(p.parts, part)
	p.mu.Unlock()
	activity.RecordHeartbeat(p.ctx, p.sent())
}

// sent are the details of a heartbeat.
func (p *progress) sent() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.parts)
}
