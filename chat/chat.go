package chat

import "time"

// The connectors of CONTRACT §8: a fixed set, none with a colon in its name.
const (
	Telegram = "telegram"
	Slack    = "slack"
	Email    = "email"
	API      = "api"
	Terminal = "terminal"
	Web      = "web"
)

// Thread is a conversation: which connector, and its key there.
type Thread struct {
	Connector string `json:"connector"`
	Key       string `json:"key"`
}

// String returns "connector:key", the form of COUNTERSIGN_APPROVAL_ROUTE.
func (t Thread) String() string { return t.Connector + ":" + t.Key }

// Person is somebody who wrote, clicked or holds a token.
type Person struct {
	// ID is the platform's stable id, prefixed by the connector: "telegram:1001".
	ID string `json:"id,omitempty"`
	// Name is the person's name in the configuration, empty for strangers.
	Name string `json:"name,omitempty"`
	// Display is what the platform calls them: the sender's data, never an identity.
	Display string `json:"display,omitempty"`
	Owner   bool   `json:"owner,omitempty"`
	// Bot is set for bots, agents and channels: they never count.
	Bot bool `json:"bot,omitempty"`
	// Language is the one in the configuration, as BCP 47 writes it; empty for none.
	Language string `json:"language,omitempty"`
}

// Key identifies a person across channels: the configured name, or the platform's id.
// A platform id always holds a colon and a configured name never does, so the two cannot meet.
func (p Person) Key() string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

// Label is how a person is named to others: the configured name, the display name or the id.
func (p Person) Label() string {
	switch {
	case p.Name != "":
		return p.Name
	case p.Display != "":
		return p.Display
	default:
		return p.ID
	}
}

// Audience is a conversation that a question is put to besides its own. Person is whose it is,
// where it is one person's own.
type Audience struct {
	Thread Thread
	Person Person
}

// File is a stored file: a reference, never its content.
type File struct {
	Name string `json:"name"`
	// Path on the attachments disk, e.g. "inbound/{uuid}/photo.jpg"; empty where Problem says why.
	Path   string `json:"path,omitempty"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
	// Problem says in words why the file could not be taken ("larger than 20 MB").
	Problem string `json:"problem,omitempty"`
}

// Message is what somebody sent to the bot.
type Message struct {
	// UUID is made before anything is downloaded; files lie under it.
	UUID string `json:"uuid"`
	// EventID is the platform's id of this message or update; a redelivery has the same one.
	EventID string `json:"event_id"`
	Thread  Thread `json:"thread"`
	From    Person `json:"from"`
	// Text of the message or caption, as received, less one leading mention of the bot in groups.
	Text  string `json:"text,omitempty"`
	Files []File `json:"files,omitempty"`
	// ReplyTo is the platform's id of the bot's message that this one replies to (the same
	// form as Receipt.Ref); empty for none.
	ReplyTo string `json:"reply_to,omitempty"`
	// Ref is the platform's own id of this message in its thread, for replies to it.
	Ref string `json:"ref,omitempty"`
	// ReceivedAt is when the gateway received it, never the sender's time.
	ReceivedAt time.Time `json:"received_at"`
	// Raw is the text as received, where Text had a mention removed; for programs that read our Redis keys.
	Raw string `json:"raw,omitempty"`
	// Album is the platform's id of a group of messages that were sent as one; its parts have
	// the same UUID and come one by one.
	Album string `json:"album,omitempty"`
	// Forwarded messages never answer a question (CONTRACT §3): the words are somebody else's.
	Forwarded bool `json:"forwarded,omitempty"`
}

// Action is what a button says.
type Action string

// The answers a button can give. The zero value is none of them and refuses.
const (
	ActionYes    Action = "yes"
	ActionNo     Action = "no"
	ActionAlways Action = "always"
	ActionDone   Action = "done"   // handoff
	ActionCancel Action = "cancel" // handoff
)

// Click is a press of a button under a card.
type Click struct {
	EventID    string    `json:"event_id"`
	Invocation string    `json:"invocation"`
	Action     Action    `json:"action"`
	Thread     Thread    `json:"thread"`
	By         Person    `json:"by"`
	ReceivedAt time.Time `json:"received_at"`
}

// Decision is what was decided about a question, by whom.
type Decision struct {
	// Decision is "allow", "allow_always" or "deny"; the zero value refuses.
	Decision string    `json:"decision"`
	By       string    `json:"by"`
	Via      string    `json:"via"` // the connector, "api", "web" or "redis"
	At       time.Time `json:"at"`
	Reason   string    `json:"reason,omitempty"`
}

// The values of Decision.Decision.
const (
	Allow       = "allow"
	AllowAlways = "allow_always"
	Deny        = "deny"
)

// Standing tells a clicker what became of the click.
type Standing string

// What became of an answer that names its invocation.
const (
	// StandingTaken: it is the decision that stands (also when the same one is sent again).
	StandingTaken Standing = "taken"
	// StandingNoted: it counts towards a quorum that is not complete yet.
	StandingNoted Standing = "noted"
	// StandingDecided: somebody else decided before.
	StandingDecided Standing = "decided"
	// StandingClosed: the question ended without a person's decision.
	StandingClosed Standing = "closed"
	// StandingRefused: this person, bot or chat may not answer.
	StandingRefused Standing = "refused"
	// StandingInvalid: the answer is not offered here.
	StandingInvalid Standing = "invalid"
	// StandingKept: no engine answered in time; the answer is kept and counts with its time.
	StandingKept Standing = "kept"
	// StandingUnknown: there is no such question.
	StandingUnknown Standing = "unknown"
)

// Verdict is the truthful answer to a click.
type Verdict struct {
	Standing Standing `json:"standing"`
	// Decision that stands, where there is one.
	Decision *Decision `json:"decision,omitempty"`
	// Reason why it closed or was refused ("timeout", "superseded", ...).
	Reason string `json:"reason,omitempty"`
	// Why says the same to a person, where the standing alone would not do.
	Why Line `json:"why,omitzero"`
}

// Button is one answer offered under a card.
type Button struct {
	// Label is filled in by who sends the card, in the card's language, where it is empty.
	Label  string `json:"label"`
	Action Action `json:"action"`
}

// Card is a question, or what became of it, before a channel renders it.
type Card struct {
	Invocation string `json:"invocation"`
	Thread     Thread `json:"thread"`
	// Text is the prompt exactly as it is to be read: "⚠️ … Reply 'Yes' to confirm."
	// Values in it are already shown as visible escapes; the connector escapes it for its markup.
	Text string `json:"text"`
	// Closed says in one line what happened ("✅ Approved by ada at 12:03:04 UTC."); empty while open.
	Closed  string    `json:"closed,omitempty"`
	Buttons []Button  `json:"buttons,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	// ReplyTo is Message.Ref of the message that led to the question; empty for none.
	ReplyTo string `json:"reply_to,omitempty"`
	// Language of the texts, which what a connector adds should have too; empty for English.
	Language string `json:"language,omitempty"`
}

// Receipt is a platform's word that it has a message.
type Receipt struct {
	// Ref is the platform's id of the message sent, enough to edit it and to see replies to it.
	Ref string `json:"ref"`
	// Thread is where the message is, if that is not the thread it was sent to: a message to a
	// Slack channel begins one of its own.
	Thread Thread `json:"thread,omitzero"`
}

// Reply is what the agent answers at the end of a turn.
type Reply struct {
	Thread Thread `json:"thread"`
	// To is Message.Ref of the message that is answered; empty for none.
	To string `json:"to,omitempty"`
	// UUID of the message that is answered.
	UUID  string `json:"uuid"`
	Text  string `json:"text"`
	Files []File `json:"files,omitempty"`
	// Language of the text, which what a connector adds should have too; empty for English.
	Language string `json:"language,omitempty"`
}
