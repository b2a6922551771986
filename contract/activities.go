package contract

import (
	"encoding/json"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// AskInput is what it takes to put a question to a person.
type AskInput struct {
	Open Open      `json:"open"`
	Card chat.Card `json:"card"`
	// Timeout runs from the delivery; it is also the life of the Redis keys.
	Timeout time.Duration `json:"timeout"`
	// Attributes as in Invocation.
	Attributes bool `json:"attributes,omitempty"`
}

// Asked is the platform's word that the person has the question.
type Asked struct {
	// Began is when the sending began: a text received before it never answers.
	Began     time.Time    `json:"began"`
	Delivered time.Time    `json:"delivered"`
	Receipt   chat.Receipt `json:"receipt"`
}

// CopyInput is what it takes to put a question to one more conversation.
type CopyInput struct {
	Card chat.Card `json:"card"`
}

// CloseInput is what has to happen when a question ends; it may be repeated.
type CloseInput struct {
	Close   Close        `json:"close"`
	Receipt chat.Receipt `json:"receipt"`
	Card    chat.Card    `json:"card"` // as it looks from now on
	// Outcome says on the card what happened. Earlier versions wrote it into Card.Closed.
	Outcome    chat.Line `json:"outcome,omitzero"`
	Attributes bool      `json:"attributes,omitempty"`
}

// Closed is what of it was done: an edit that the platform put off is repeated on its own.
type Closed struct {
	Edited     bool          `json:"edited"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

// RunInput is one attempt to run the operation.
type RunInput struct {
	Invocation Invocation `json:"invocation"`
	Plan       Plan       `json:"plan"`
	// Close is the bookkeeping of an approved question, done in the same breath.
	Close *CloseInput `json:"close,omitempty"`
	// Decision under which it runs, for the audit log.
	Decision *chat.Decision `json:"decision,omitempty"`
}

// RunOutput is how an attempt ended.
type RunOutput struct {
	Code   string          `json:"code,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
	// Unsettled means that nobody knows whether it happened: ask the tool's check.
	Unsettled bool    `json:"unsettled,omitempty"`
	Closed    *Closed `json:"closed,omitempty"`
}

// Phase is the heartbeat of a run: once begun, it may have happened.
type Phase struct {
	Begun  bool    `json:"begun"`
	Closed *Closed `json:"closed,omitempty"`
}

// Settled is what the tool's check found.
type Settled struct {
	// Happened is "done", "not_done" or "unknown".
	Happened string          `json:"happened"`
	Output   json.RawMessage `json:"output,omitempty"`
}

// The values of Settled.Happened.
const (
	HappenedDone    = "done"
	HappenedNotDone = "not_done"
	HappenedUnknown = "unknown"
)

// SignalInput sends a signal to another workflow; Gone in the answer means that it has ended.
type SignalInput struct {
	Workflow string `json:"workflow"`
	Word     *Word  `json:"word,omitempty"` // to an invocation
	Note     *Note  `json:"note,omitempty"` // to a conversation, which is started if need be
	// Thread and Attributes start the conversation.
	Thread     chat.Thread `json:"thread,omitzero"`
	Attributes bool        `json:"attributes,omitempty"`
}

// RouteInput asks where a message belongs.
type RouteInput struct {
	Message chat.Message `json:"message"`
	// Pending is the question that is open, empty for none.
	Pending string `json:"pending,omitempty"`
	// Forward tells that the message may answer it.
	Forward bool `json:"forward,omitempty"`
	// Copy is the question whose copy the message points at: it goes there instead.
	Copy string `json:"copy,omitempty"`
}

// Routed says what became of a message.
type Routed struct {
	// Taken: another program that waits on our Redis keys has it.
	Taken bool `json:"taken,omitempty"`
	// Forwarded: the pending invocation has it. Gone: that invocation has ended.
	Forwarded bool `json:"forwarded,omitempty"`
	Gone      bool `json:"gone,omitempty"`
}

// StepInput asks the agent for its next step.
type StepInput struct {
	Turn    Turn         `json:"turn"`
	Results []ToolResult `json:"results,omitempty"`
}

// Step is what the agent wants: calls, or the reply that ends the turn.
type Step struct {
	Calls []ToolCall `json:"calls,omitempty"`
	Reply string     `json:"reply,omitempty"`
}

// ReplyInput ends a turn.
type ReplyInput struct {
	Turn    Turn         `json:"turn"`
	Text    string       `json:"text"`
	Results []ToolResult `json:"results,omitempty"`
	// Line is what the turn itself says, instead of Text.
	Line chat.Line `json:"line,omitzero"`
}

// TellInput is one line to a person outside a turn.
type TellInput struct {
	Thread chat.Thread `json:"thread"`
	// Text is what earlier versions said, in English; now it is Line, in Language.
	Text     string    `json:"text"`
	Line     chat.Line `json:"line,omitzero"`
	Language string    `json:"language,omitempty"`
	// Key makes the line the same over retries.
	Key string `json:"key"`
}

// CheckInput asks the tool whether the business state shows that a person did the step.
type CheckInput struct {
	Invocation Invocation `json:"invocation"`
	Plan       Plan       `json:"plan"`
}
