package tool

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Kind is the default risk of an operation (CONTRACT §2).
type Kind string

// The kinds of operation.
const (
	Read   Kind = "read"
	Write  Kind = "write"
	Danger Kind = "danger"
)

// Confirm overrides what Kind would ask for (CONTRACT §2).
type Confirm string

// The values of Confirm; the zero value leaves the decision to Kind.
const (
	ConfirmUnset  Confirm = ""
	ConfirmTrue   Confirm = "true"
	ConfirmAlways Confirm = "always"
	ConfirmFalse  Confirm = "false"
)

// Tool is a named group of operations.
type Tool struct {
	Name        string
	Description string
	Operations  []Operation
}

// Operation is one thing that a tool can do and the rules under which it is done.
type Operation struct {
	Name        string
	Description string
	Kind        Kind
	Confirm     Confirm

	// Schema is the JSON Schema (draft 2020-12) of the parameters: an object.
	// Names it does not declare are refused.
	Schema string

	// Prompt is the question, e.g. "Delete the file at {path} on disk {disk}?".
	// A placeholder takes the parameter of that name.
	Prompt string
	// Prompts are questions for other shapes of the same call; the first whose
	// When is among the call's parameters is used instead of Prompt.
	Prompts []PromptVariant
	// Translations are the words above, and the handoff's, in other languages, by their
	// names in BCP 47 ("de", "zh-CN"). Each has all of them; a person whose language is not
	// there reads the English ones.
	Translations map[string]Translation

	// Approvers says who may answer; the zero value is the thread.
	Approvers Approvers
	// Timeout of the question, from its delivery; zero takes the configured default (120 s).
	Timeout time.Duration
	// RunTimeout bounds one run; zero means one minute.
	RunTimeout time.Duration
	// Idempotent operations may be run again under the same Call.ID.
	Idempotent bool
	// Handoff makes a person do the step; Run is then never called.
	Handoff *Handoff

	// Available tells whether the operation can be done now: nil, or an error
	// made by Unavailable. It must not change anything.
	Available func(ctx context.Context, call Call) error
	// Contents names the content (a hash, by file) that an approval covers
	// besides the parameters: of every file that is read or sent.
	Contents func(ctx context.Context, call Call) (map[string]string, error)
	// Run does it. The output must marshal to JSON and stay small.
	// A plain error means that it did not happen (TOOL_FAILED).
	Run func(ctx context.Context, call Call) (any, error)
	// Check settles a run whose worker died: did it happen? Optional.
	Check func(ctx context.Context, call Call) (Outcome, error)
}

// PromptVariant is a question for calls that have the parameter When.
type PromptVariant struct {
	When     string
	Template string
	// Count, if set, is a list parameter whose length is the placeholder {count}.
	Count string
}

// Translation is what an operation says to a person, in another language.
type Translation struct {
	// Prompt is Operation.Prompt, with the same placeholders.
	Prompt string
	// Prompts are the templates of Operation.Prompts, by PromptVariant.When.
	Prompts map[string]string
	// Reason, Steps and Expect are the handoff's: Handoff.Reason, the texts of its steps in
	// their order, Expect.Desc.
	Reason string
	Steps  []string
	Expect string
}

// In returns the operation with its words in a language; as it is where there is no translation.
func (o Operation) In(language string) Operation {
	t, ok := o.Translations[language]
	if !ok {
		return o
	}
	o.Prompt = t.Prompt
	o.Prompts = slices.Clone(o.Prompts)
	for i, variant := range o.Prompts {
		o.Prompts[i].Template = t.Prompts[variant.When]
	}
	if o.Handoff == nil {
		return o
	}
	handoff := *o.Handoff // the declaration's own stays as it is
	handoff.Reason = t.Reason
	handoff.Steps = slices.Clone(handoff.Steps)
	for i, text := range t.Steps[:min(len(t.Steps), len(handoff.Steps))] {
		handoff.Steps[i].Text = text
	}
	if handoff.Expect != nil {
		expect := *handoff.Expect
		expect.Desc = t.Expect
		handoff.Expect = &expect
	}
	o.Handoff = &handoff
	return o
}

// Who names a policy about who may answer a question.
type Who string

// The policies of CONTRACT §3; the zero value means WhoThread.
const (
	WhoThread    Who = "thread"
	WhoRequester Who = "requester"
	WhoOther     Who = "other"
	WhoList      Who = "list"
)

// Approvers says who may answer a question and how many of them must agree.
type Approvers struct {
	Who Who `json:"who,omitempty"`
	// People are names from the configuration; only for WhoList. Empty means nobody.
	People []string `json:"people,omitempty"`
	// Quorum is how many different people must say yes; below 1 means 1.
	Quorum int `json:"quorum,omitempty"`
}

// Handoff is a step that only a person can do (CONTRACT §4).
type Handoff struct {
	Reason  string
	Steps   []Step
	Expect  *Expect
	Timeout time.Duration // zero takes the configured default (5 minutes)
	// Page is where the step is done: an http(s) address, or a path on Countersign's own page
	// ("/workspace"). Empty means the question's own page.
	Page string
}

// Step is one line of a handoff.
type Step struct {
	Text string `json:"text"`
	// Highlight names a guide target on the page; it never gates anything.
	Highlight string `json:"highlight,omitempty"`
}

// Expect is how the business state shows that the person did the step.
type Expect struct {
	Desc string
	// Observable completions are noticed without the person saying so.
	Observable bool
	Check      func(ctx context.Context, call Call) (bool, error)
}

// Call is one call of an operation.
type Call struct {
	// ID is the invocation's id: the idempotency key of the effect.
	ID         string
	Tool       string
	Operation  string
	Parameters json.RawMessage
	// Connector and ThreadKey are the conversation the call came from.
	Connector string
	ThreadKey string
	// MessageUUID is the message that led to the call; the invocation's id where there is none.
	MessageUUID string
	// Requester is the key of the person the call is made for (chat.Person.Key).
	Requester string
}

// Outcome is what Check found.
type Outcome struct {
	// Happened is OutcomeUnknown unless Check could tell.
	Happened Happened
	Output   any
}

// Happened tells whether an effect took place.
type Happened int

// The zero value never claims that something happened.
const (
	OutcomeUnknown Happened = iota
	OutcomeDone
	OutcomeNotDone
)

// UnavailableError says why an operation cannot be done now, in words for the person.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

// Unavailable returns an UnavailableError.
func Unavailable(reason string) error { return &UnavailableError{Reason: reason} }
