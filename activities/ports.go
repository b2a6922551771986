package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
)

// Signals reaches other workflows; package dispatch implements it.
type Signals interface {
	// Word and Reply signal an invocation; contract.ErrGone if it has ended.
	Word(ctx context.Context, workflowID string, word contract.Word) error
	Reply(ctx context.Context, invocation string, reply contract.Reply) error
	// Note signals a conversation and starts it if need be.
	Note(ctx context.Context, thread chat.Thread, attributes bool, note contract.Note) error
	// Asked and Ended keep the inbox.
	Asked(ctx context.Context, pending contract.Pending) error
	Ended(ctx context.Context, invocation string) error
	// Standing returns the grants of a conversation.
	Standing(ctx context.Context, thread chat.Thread) ([]contract.Grant, error)
	// Alive tells whether a workflow is running.
	Alive(ctx context.Context, workflowID string) (bool, error)
	// Heartbeat records a phase and returns only once Temporal has it.
	Heartbeat(ctx context.Context, taskToken []byte, phase contract.Phase) error
}

// Mirror shows pending questions to programs that read the Redis keys (CONTRACT §5).
type Mirror interface {
	Open(ctx context.Context, thread chat.Thread, invocation string, ttl time.Duration) error
	Renew(ctx context.Context, thread chat.Thread, invocation string, ttl time.Duration) error
	Close(ctx context.Context, thread chat.Thread, invocation string) error
	// Intercept gives a text to another program that waits for it; taken means that it goes no further.
	Intercept(ctx context.Context, thread chat.Thread, pending, eventID, text string, hasFile bool) (taken bool, err error)
}

// Transcript remembers what was said in a conversation, until it starts afresh.
type Transcript interface {
	// Record keeps a message; the same uuid again is the same entry.
	Record(ctx context.Context, message chat.Message) error
	// Close adds what was done and answered.
	Close(ctx context.Context, message chat.Message, results []contract.ToolResult, reply string) error
	// Afresh forgets the conversation.
	Afresh(ctx context.Context, thread chat.Thread) error
	// History returns the entries before this message, oldest first.
	History(ctx context.Context, message chat.Message) ([]agent.Exchange, error)
}

// Audit keeps what was run without a question, or by whose word.
type Audit interface {
	Record(ctx context.Context, entry AuditEntry) error
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	At         time.Time      `json:"at"`
	Kind       string         `json:"kind"` // approved, unsupported_connector, confirm_false, granted, revoked
	Invocation string         `json:"invocation"`
	Tool       string         `json:"tool"`
	Operation  string         `json:"operation"`
	Thread     chat.Thread    `json:"thread"`
	Requester  string         `json:"requester,omitempty"`
	Digest     string         `json:"digest,omitempty"`
	Decision   *chat.Decision `json:"decision,omitempty"`
}

// Revoked is the entry, written at, about a grant that somebody ends: by and via as in
// chat.Decision, asked is when they asked for it.
func Revoked(at time.Time, g contract.ListedGrant, by, via string, asked time.Time) AuditEntry {
	return AuditEntry{
		At: at.UTC(), Kind: "revoked", Invocation: g.ID, Tool: g.Tool, Operation: g.Operation, Thread: g.Thread, Requester: g.For,
		Decision: &chat.Decision{Decision: chat.Deny, By: by, Via: via, At: asked.UTC()},
	}
}

// Scope tells whether a person in a conversation may use an operation: nil or a reason.
type Scope func(invocation contract.Invocation) error

// Poller is a connector that has to fetch its messages (Telegram long polling).
type Poller interface {
	Poll(ctx context.Context, offset string, heartbeat func(offset string)) error
}

// Publish tells this process's live feed what happened.
type Publish func(kind, invocation string, thread chat.Thread, text string)

// Defaults are the configured values for what an operation leaves open.
type Defaults struct {
	ConfirmTimeout time.Duration
	HandoffTimeout time.Duration
	// Unsupported is run, deny or route: for connectors that cannot ask.
	Unsupported string
	Route       chat.Thread
	Queue       bool
	// Page is the address of the web page, which handoffs in chats link to; empty for no link.
	Page string
}

// Params are what the activities need. Mirror, Audit and Publish may be nil.
type Params struct {
	Registry    *tool.Registry
	Scope       Scope
	Senders     map[string]chat.Sender
	Pollers     map[string]Poller
	Signals     Signals
	Mirror      Mirror
	Attachments *attachments.Store
	Agent       agent.Agent
	Transcript  Transcript
	Audit       Audit
	Publish     Publish
	Defaults    Defaults
	// AlsoAsk says for a tool.operation where else its questions are put (the policy's `ask_also`).
	AlsoAsk map[string][]chat.Audience
	// Languages are the configured ones; the zero value is English.
	Languages words.Choice
	Now       func() time.Time
	Logger    *slog.Logger
}

// Activities are the methods that the worker registers under the names in contract.
type Activities struct{ Params }

// New returns the activities.
func New(p Params) *Activities {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Logger == nil {
		p.Logger = slog.Default()
	}
	if p.Publish == nil {
		p.Publish = func(string, string, chat.Thread, string) {}
	}
	return &Activities{Params: p}
}
