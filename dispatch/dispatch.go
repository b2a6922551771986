package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

const (
	// patience is how long Temporal may take with a message before the platform is asked to
	// send it again (CONTRACT §8: 503 within 5 s).
	patience = 4 * time.Second
	// verdictPatience is how long a decision waits for an engine's word, and keepPatience how
	// long Temporal may then take to keep it: together less than the 5 s of CONTRACT §9.
	verdictPatience = 3 * time.Second
	keepPatience    = 1700 * time.Millisecond
	// textLimit is what a signal carries of a text; the rest lies on the disk.
	textLimit = 64 << 10
)

// Params are what a Dispatcher needs.
type Params struct {
	Client client.Client
	// Spill keeps a text that is too long for a signal as a file of the message.
	Spill func(ctx context.Context, uuid, text string) (chat.File, error)
	Now   func() time.Time
	// CallTimeout of a query; zero means 5 s.
	CallTimeout time.Duration
	Logger      *slog.Logger
}

// Dispatcher talks to Temporal for everybody else. It is safe for use by several goroutines.
type Dispatcher struct {
	Params
	attributes atomic.Bool
	pending    shared[[]contract.State]
	frozen     frozen
	outbox     outbox
}

// New returns a Dispatcher.
func New(p Params) *Dispatcher {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Logger == nil {
		p.Logger = slog.Default()
	}
	if p.CallTimeout <= 0 {
		p.CallTimeout = 5 * time.Second
	}
	d := &Dispatcher{Params: p}
	d.outbox = outbox{send: d.sendMessages, waiting: map[chat.Thread][]*parcel{}}
	return d
}

// UseAttributes tells that the search attributes are registered on the namespace.
func (d *Dispatcher) UseAttributes(registered bool) { d.attributes.Store(registered) }

// Deliver implements chat.Desk: nil means that Temporal has the message.
func (d *Dispatcher) Deliver(ctx context.Context, m chat.Message) error {
	if len(m.Text) > textLimit || len(m.Raw) > textLimit {
		if err := d.spill(ctx, &m); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return unreachable(d.outbox.deliver(ctx, m))
}

// sendMessages hands over what waits for a conversation as one signal.
func (d *Dispatcher) sendMessages(ctx context.Context, t chat.Thread, messages []chat.Message) error {
	note := contract.Note{Messages: messages}
	if len(messages) == 1 {
		note = contract.Note{Message: &messages[0]}
	}
	return d.Note(ctx, t, d.attributes.Load(), note)
}

// spill puts a long text on the disk and leaves its head in the signal. The head is cut at the
// end of a rune; an answer is on the first line, which stays whole.
func (d *Dispatcher) spill(ctx context.Context, m *chat.Message) error {
	if d.Spill != nil {
		file, err := d.Spill(ctx, m.UUID, m.Text)
		if err != nil {
			return fmt.Errorf("keep a long message on the disk: %w", err)
		}
		m.Files = append(m.Files, file)
	}
	m.Text, m.Raw = head(m.Text), head(m.Raw)
	return nil
}

func head(s string) string {
	if len(s) <= textLimit {
		return s
	}
	cut := textLimit
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut]
}

// Note signals a conversation and starts it if need be.
func (d *Dispatcher) Note(ctx context.Context, t chat.Thread, attributes bool, note contract.Note) error {
	_, err := d.Client.SignalWithStartWorkflow(ctx, contract.ConversationID(t), contract.SignalNote, note,
		client.StartWorkflowOptions{
			TaskQueue:             contract.TaskQueue,
			StaticSummary:         "Conversation in " + t.String(),
			TypedSearchAttributes: contract.ThreadAttributes(t, attributes),
		}, contract.WorkflowConversation, contract.Talk{Thread: t, Attributes: attributes})
	return err
}

// Start starts an invocation. The same id again returns the first one, also when the rest differs.
func (d *Dispatcher) Start(ctx context.Context, in contract.Invocation) (string, error) {
	in.Attributes = d.attributes.Load()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := d.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       contract.InvocationID(in.ID),
		TaskQueue:                contract.TaskQueue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            fmt.Sprintf("%s %s for %s", in.Tool, in.Operation, in.Requester.Label()),
		TypedSearchAttributes:    in.SearchAttributes(),
	}, contract.WorkflowToolInvocation, in)
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &started) {
		return in.ID, nil
	}
	return in.ID, unreachable(err)
}

// unreachable marks the errors that say that Temporal is away or too busy.
func unreachable(err error) error {
	if err == nil {
		return nil
	}
	var unavailable *serviceerror.Unavailable
	var exhausted *serviceerror.ResourceExhausted
	var deadline *serviceerror.DeadlineExceeded
	var cancelled *serviceerror.Canceled
	if errors.As(err, &unavailable) || errors.As(err, &exhausted) || errors.As(err, &deadline) || errors.As(err, &cancelled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w (%w)", chat.ErrUnreachable, err)
	}
	return err
}

// absent tells that there is no such workflow, or that it has ended.
func absent(err error) bool { return errors.As(err, new(*serviceerror.NotFound)) }
