package contract

import (
	"encoding/json"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/tool"
)

// Invocation is the input of ToolInvocation: one call of a tool's operation.
type Invocation struct {
	ID         string          `json:"id"`
	Tool       string          `json:"tool"`
	Operation  string          `json:"operation"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Thread is the conversation the call comes from.
	Thread    chat.Thread `json:"thread"`
	Requester chat.Person `json:"requester,omitzero"`
	// MessageUUID is empty for a call that was started on its own; its id then stands for it.
	MessageUUID string `json:"message_uuid,omitempty"`
	// MessageRef is the platform's id of that message, which the question then replies to.
	MessageRef string `json:"message_ref,omitempty"`
	// Turn is set where an agent's turn made the call: the agent then tells the person how it ended.
	Turn bool `json:"turn,omitempty"`
	// Attributes tells whether the search attributes are registered on this namespace.
	Attributes bool `json:"attributes,omitempty"`
	// Language is what the conversation has chosen (`!language`); empty for none.
	Language string `json:"language,omitempty"`
}

// Call returns the invocation as tools see it.
func (i Invocation) Call() tool.Call {
	uuid := i.MessageUUID
	if uuid == "" {
		uuid = i.ID
	}
	return tool.Call{
		ID: i.ID, Tool: i.Tool, Operation: i.Operation, Parameters: i.Parameters,
		Connector: i.Thread.Connector, ThreadKey: i.Thread.Key, MessageUUID: uuid,
		Requester: i.Requester.Key(),
	}
}

// Plan is what the plan activity froze: the workflow never looks at the registry.
type Plan struct {
	// Code ends the invocation at once, with Reason for the person.
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`

	// Mode is approval.Mode as text: none, ask, ask_always or handoff.
	Mode       string          `json:"mode,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // canonical
	Digest     string          `json:"digest,omitempty"`
	// Thread is where the question is asked: the call's own, or the configured route.
	Thread chat.Thread `json:"thread,omitzero"`
	// Language in which the people are spoken to, one of package words; empty for English.
	Language string `json:"language,omitempty"`
	// Prompt as sent, also that of a handoff.
	Prompt      string         `json:"prompt,omitempty"`
	OfferAlways bool           `json:"offer_always,omitempty"`
	Approvers   tool.Approvers `json:"approvers,omitzero"`
	Timeout     time.Duration  `json:"timeout,omitempty"`
	// Copies are put to people who are not in the question's conversation.
	Copies []Copy `json:"copies,omitempty"`
	// Queue makes a question wait for its turn instead of superseding the pending one.
	Queue bool `json:"queue,omitempty"`
	// Handoff is set for operations that a person does.
	Handoff *Handoff `json:"handoff,omitempty"`
	// Declaration is the declaration's hash, which a grant is bound to.
	Declaration string `json:"declaration,omitempty"`
	// Grant is the id of the grant that answered instead of a person.
	Grant string `json:"grant,omitempty"`
	// Unasked is set where nobody was asked because the connector cannot ask.
	Unasked bool `json:"unasked,omitempty"`

	Repeatable bool          `json:"repeatable,omitempty"` // declared idempotent
	RunTimeout time.Duration `json:"run_timeout,omitempty"`
}

// Copy is a question as it is put to one more conversation. It is answered by its buttons, or by a
// reply that points at it: whatever else is said there is no answer to it.
type Copy struct {
	Thread chat.Thread `json:"thread"`
	Prompt string      `json:"prompt"`
	// Language as in Plan.
	Language string `json:"language,omitempty"`
}

// Handoff is the frozen declaration of a step that a person does, in the plan's language.
type Handoff struct {
	Reason     string        `json:"reason"`
	Steps      []tool.Step   `json:"steps"`
	Expects    string        `json:"expects,omitempty"` // Expect.Desc; empty where there is no check
	Observable bool          `json:"observable,omitempty"`
	Satisfied  bool          `json:"satisfied,omitempty"` // already true before anybody was asked
	Timeout    time.Duration `json:"timeout,omitempty"`
	// Page is the address of the page where it is done, as a chat shows it; empty for none.
	Page string `json:"page,omitempty"`
}

// Result is how an invocation ended (CONTRACT §1).
type Result struct {
	ID       string          `json:"id"`
	Status   string          `json:"status"`
	Code     string          `json:"code"`
	Reason   string          `json:"reason"`
	Output   json.RawMessage `json:"output"`
	Approval *Approval       `json:"approval"`
	Handoff  *HandoffState   `json:"handoff"`
}

// Approval is a question and what became of it.
type Approval struct {
	ID         string          `json:"id"`
	Status     string          `json:"status"` // pending, approved, denied, timeout, superseded, undeliverable, withdrawn, granted
	Prompt     string          `json:"prompt"`
	Tool       string          `json:"tool"`
	Operation  string          `json:"operation"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Connector  string          `json:"connector"`
	ThreadKey  string          `json:"thread_key"`
	Requester  string          `json:"requester,omitempty"`
	Approvers  tool.Approvers  `json:"approvers"`
	// Always tells whether "Always allow" is offered.
	Always bool `json:"always,omitempty"`
	// AskedAt is when the platform had the prompt; ExpiresAt the deadline. Null before delivery.
	AskedAt   *time.Time     `json:"asked_at"`
	ExpiresAt *time.Time     `json:"expires_at"`
	Decision  *chat.Decision `json:"decision"`
	// DecisionID is the id of the answer that decided.
	DecisionID string `json:"decision_id,omitempty"`
	// Copies are the other conversations that have it too.
	Copies []chat.Thread `json:"copies,omitempty"`
	// Votes are the yes answers so far, where several people must agree.
	Votes []chat.Decision `json:"votes,omitempty"`
}

// HandoffState is a handoff and what became of it (CONTRACT §4).
type HandoffState struct {
	Status  string      `json:"status"` // pending, completed, cancelled, timed_out
	Reason  string      `json:"reason"`
	Steps   []tool.Step `json:"steps"`
	Missing string      `json:"missing,omitempty"` // what is still missing, in words
	Page    string      `json:"page,omitempty"`    // where it is done
	// Approvers say who may do it and say so.
	Approvers tool.Approvers `json:"approvers,omitzero"`
	// AskedAt is when the platform had the steps; ExpiresAt the deadline. DecidedAt is when it ended.
	AskedAt   *time.Time `json:"asked_at,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	DecidedAt *time.Time `json:"decided_at,omitempty"`
	// DecidedBy said done or cancel; empty where nobody did.
	DecidedBy  string `json:"decided_by,omitempty"`
	Verified   bool   `json:"verified"`
	Already    bool   `json:"already_satisfied,omitempty"`
	Observed   bool   `json:"observed,omitempty"`
	Via        string `json:"via,omitempty"`
	AssertedBy string `json:"asserted_by,omitempty"`
}

// State answers the state query: the result so far.
type State struct {
	Result
	Tool      string      `json:"tool"`
	Operation string      `json:"operation"`
	Thread    chat.Thread `json:"thread"`
	Requester string      `json:"requester,omitempty"`
}

// Answer is a button press or an HTTP decision: it names its invocation.
type Answer struct {
	// ID makes repeats harmless: the platform's event id or the caller's decision_id.
	ID string `json:"id"`
	// Decision is chat.Allow, chat.AllowAlways or chat.Deny; for handoffs "done" or "cancel".
	Decision string      `json:"decision"`
	Reason   string      `json:"reason,omitempty"`
	By       chat.Person `json:"by"`
	Via      string      `json:"via"`
	// Thread is the chat that a button was pressed in; empty for HTTP.
	Thread     chat.Thread `json:"thread,omitzero"`
	ReceivedAt time.Time   `json:"received_at"`
	// Entitled is set by the gateway for an owner over HTTP, who may decide every question.
	Entitled bool `json:"entitled,omitempty"`
}

// Reply is a text that may answer the pending question.
type Reply struct {
	ID string `json:"id"`
	// Message is the uuid of the message; empty for a reply from Redis.
	Message string `json:"message,omitempty"`
	// Thread is where the message was written; earlier versions did not say.
	Thread     chat.Thread `json:"thread,omitzero"`
	By         chat.Person `json:"by,omitzero"`
	Via        string      `json:"via"`
	Text       string      `json:"text"`
	ReplyTo    string      `json:"reply_to,omitempty"`
	ReceivedAt time.Time   `json:"received_at"`
}

// ReplyOf makes the reply that an invocation gets of a message.
func ReplyOf(m chat.Message) Reply {
	return Reply{
		ID: m.EventID, Message: m.UUID, Thread: m.Thread, By: m.From, Via: m.Thread.Connector,
		Text: m.Text, ReplyTo: m.ReplyTo, ReceivedAt: m.ReceivedAt,
	}
}

// What the conversation can say about a question.
const (
	WordSuperseded = "superseded"
	WordWithdrawn  = "withdrawn"
	WordGo         = "go"        // the question's turn has come (queue)
	WordConfirmed  = "confirmed" // everything received before is in Replies
	WordBounced    = "bounced"   // the prompt Ref did not arrive
)

// Word is the conversation's signal to an invocation.
type Word struct {
	Kind string `json:"kind"`
	// By names the person or the invocation behind it.
	By      string  `json:"by,omitempty"`
	Replies []Reply `json:"replies,omitempty"`
	// Ref is the prompt that bounced.
	Ref string `json:"ref,omitempty"`
}
