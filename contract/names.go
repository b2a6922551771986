package contract

import "github.com/countersignhq/countersign/chat"

// TaskQueue is where the engine's workers poll.
const TaskQueue = "countersign"

// Workflow types (CONTRACT §10). Inbox keeps the ids of what is pending, so that a list
// of pending questions does not wait for visibility; Listener runs one poller at a time.
const (
	WorkflowToolInvocation = "ToolInvocation"
	WorkflowConversation   = "Conversation"
	WorkflowTurn           = "Turn"
	WorkflowInbox          = "Inbox"
	WorkflowListener       = "Listener"
)

// Signals, updates and queries of ToolInvocation.
const (
	SignalReply    = "reply"    // Reply: a text that may answer, forwarded by the conversation or Redis
	SignalDecision = "decision" // Answer: a button or an HTTP decision
	SignalHandoff  = "handoff"  // Answer: done or cancel
	SignalWord     = "word"     // Word: what the conversation has to say about the question
	UpdateDecide   = "decide"   // Answer -> chat.Verdict
	QueryState     = "state"    // -> State
)

// Conversation takes everything by one signal, so that the order in which it came is kept:
// the SDK keeps order within a signal's name only.
const (
	SignalNote = "note"  // Note
	QueryTalk  = "state" // -> Talk
)

// Signals and queries of Inbox.
const (
	SignalAsked  = "asked"   // Pending
	SignalEnded  = "ended"   // string: the invocation's id
	QueryPending = "pending" // -> []Pending
)

// Activities. The names are recorded in histories.
const (
	ActivityPlan   = "plan"
	ActivityOpen   = "open"
	ActivityAsk    = "ask"
	ActivityCopy   = "copy"
	ActivityRun    = "run"
	ActivitySettle = "settle"
	ActivityClose  = "close"
	ActivityEdit   = "edit"
	ActivityTell   = "tell"
	ActivityCheck  = "check"
	ActivityWatch  = "watch"
	ActivitySignal = "signal"
	ActivityRoute  = "route"
	ActivityAlive  = "alive"
	ActivityStep   = "step"
	ActivityReply  = "reply"
	ActivityListen = "listen"
)

// Search attributes (CONTRACT §10), all keywords.
const (
	AttributeConnector = "CountersignConnector"
	AttributeThread    = "CountersignThread"
	AttributeTool      = "CountersignTool"
	AttributeOperation = "CountersignOperation"
	AttributeStatus    = "CountersignStatus"
)

// InboxID is the workflow id of the one Inbox.
const InboxID = "inbox"

// InvocationID returns the workflow id of an invocation.
func InvocationID(id string) string { return "invocation/" + id }

// ConversationID returns the workflow id of a conversation.
func ConversationID(t chat.Thread) string { return "conversation/" + t.Connector + "/" + t.Key }

// TurnID returns the workflow id of the turn that answers a message.
func TurnID(uuid string) string { return "turn/" + uuid }

// ListenerID returns the workflow id of a connector's one poller.
func ListenerID(connector string) string { return "listener/" + connector }

// Types of application errors that a workflow tells apart.
const (
	// ErrorNotBegun: the run activity failed before the operation was begun.
	ErrorNotBegun = "not_begun"
	// ErrorTemporary and ErrorFinal are a connector's classification.
	ErrorTemporary = "temporary"
	ErrorFinal     = "final"
)
