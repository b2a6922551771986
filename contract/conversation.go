package contract

import (
	"encoding/json"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/tool"
)

// Talk is the input and the state of Conversation: all that survives continue-as-new.
type Talk struct {
	Thread     chat.Thread `json:"thread"`
	Attributes bool        `json:"attributes,omitempty"`
	// Seen are the event ids of late, oldest first, so that a redelivery has no effect.
	Seen []string `json:"seen,omitempty"`
	// Pending is the one question that is open here.
	Pending *Open `json:"pending,omitempty"`
	// Waiting are questions that queue behind it.
	Waiting []Open `json:"waiting,omitempty"`
	// Copies are questions of other conversations that are asked here too.
	Copies []Copied `json:"copies,omitempty"`
	// InFlight are messages handed to a question that has not closed over them yet.
	InFlight []Forwarded `json:"in_flight,omitempty"`
	// Queue are messages that wait for a turn.
	Queue []chat.Message `json:"queue,omitempty"`
	// Turn is the uuid of the message that is being answered.
	Turn string `json:"turn,omitempty"`
	// Closed are the prompts of late: a reply that points at one of them answers nothing.
	Closed []string `json:"closed,omitempty"`
	Grants []Grant  `json:"grants,omitempty"`
	// Albums are the uuids of albums of late that have had their turn: a straggler gets none.
	Albums []string `json:"albums,omitempty"`
	// Language is the one that was chosen here (`!language`); empty for none.
	Language string `json:"language,omitempty"`
}

// Forwarded is a message that was handed to a question.
type Forwarded struct {
	Invocation string       `json:"invocation"`
	Message    chat.Message `json:"message"`
}

// Note is one thing that a conversation is told; exactly one field is set.
type Note struct {
	Message *chat.Message `json:"message,omitempty"`
	// Messages that came while an earlier one was on its way, in their order.
	Messages []chat.Message `json:"messages,omitempty"`
	Open     *Open          `json:"open,omitempty"`
	Close    *Close         `json:"close,omitempty"`
	Closing  *Closing       `json:"closing,omitempty"`
	Returned *Returned      `json:"returned,omitempty"`
	TurnDone *TurnDone      `json:"turn_done,omitempty"`
	Revoke   *Revoke        `json:"revoke,omitempty"`
	Bounced  *Bounced       `json:"bounced,omitempty"`
	Copied   *Copied        `json:"copied,omitempty"`
}

// Grant is a standing "Always allow" (CONTRACT §2).
type Grant struct {
	ID          string    `json:"id"`
	Tool        string    `json:"tool"`
	Operation   string    `json:"operation"`
	By          string    `json:"by"`
	For         string    `json:"for,omitempty"` // the requester it covers
	Declaration string    `json:"declaration"`
	Since       time.Time `json:"since"`
}

// ListedGrant is a grant and the conversation it belongs to.
type ListedGrant struct {
	Grant
	Thread chat.Thread `json:"thread"`
}

// Open tells a conversation that an invocation is about to ask there.
type Open struct {
	Invocation string         `json:"invocation"`
	Approvers  tool.Approvers `json:"approvers,omitzero"`
	Requester  string         `json:"requester,omitempty"`
	Queue      bool           `json:"queue,omitempty"`
	Handoff    bool           `json:"handoff,omitempty"`
}

// Copied tells a conversation that a question of another one is asked there too.
type Copied struct {
	Open Open `json:"open"`
	// Ref is the copy's Receipt.Ref.
	Ref string `json:"ref"`
}

// Close tells a conversation that a question has ended.
type Close struct {
	Invocation string `json:"invocation"`
	// Ref is the prompt that no longer asks.
	Ref string `json:"ref,omitempty"`
	// Consumed are the uuids of the messages that were answers; all others in flight are normal messages.
	Consumed []string `json:"consumed,omitempty"`
	// Grant is the standing answer that came with it.
	Grant *Grant `json:"grant,omitempty"`
}

// Closing asks a conversation for its word before a question times out.
type Closing struct {
	Invocation string `json:"invocation"`
}

// Returned gives back messages that do not answer the question, which stays open.
type Returned struct {
	Invocation string   `json:"invocation"`
	Messages   []string `json:"messages"`
}

// Bounced tells that a prompt which its platform had taken did not arrive after all.
type Bounced struct {
	EventID string `json:"event_id"`
	// Ref is the prompt's Receipt.Ref.
	Ref string `json:"ref"`
	// Reason is the platform's, for the log.
	Reason string `json:"reason,omitempty"`
}

// TurnDone tells a conversation that a turn has ended.
type TurnDone struct {
	UUID string `json:"uuid"`
}

// Revoke ends a grant.
type Revoke struct {
	Grant string `json:"grant"`
	By    string `json:"by"`
}

// Turn is the input of the Turn workflow: answer one message.
type Turn struct {
	Message    chat.Message `json:"message"`
	Attributes bool         `json:"attributes,omitempty"`
	// Language is what the conversation has chosen (`!language`); empty for none.
	Language string `json:"language,omitempty"`
}

// TurnResult is what the person was answered.
type TurnResult struct {
	Text  string      `json:"text"`
	Files []chat.File `json:"files,omitempty"`
	// Undelivered says why the reply could not be sent.
	Undelivered string `json:"undelivered,omitempty"`
}

// ToolCall is a call that the agent proposes.
type ToolCall struct {
	// ID becomes the invocation's id.
	ID         string          `json:"id"`
	Tool       string          `json:"tool"`
	Operation  string          `json:"operation"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Key is equal for calls of the same operation with the same parameters.
	Key string `json:"key"`
}

// ToolResult is a call and how it ended, as the agent sees it.
type ToolResult struct {
	Call   ToolCall `json:"call"`
	Result Result   `json:"result"`
}

// Pending is a question that is open now, as the inbox keeps it.
type Pending struct {
	Invocation string      `json:"invocation"`
	Thread     chat.Thread `json:"thread"`
	AskedAt    time.Time   `json:"asked_at,omitzero"`
	Expires    time.Time   `json:"expires,omitzero"`
	Handoff    bool        `json:"handoff,omitempty"`
}

// Box is the input of Inbox: what it carries over continue-as-new.
type Box struct {
	Pending []Pending `json:"pending,omitempty"`
}

// Listen is the input of a poller.
type Listen struct {
	Connector string `json:"connector"`
	// Offset is where a poller goes on.
	Offset string `json:"offset,omitempty"`
}
