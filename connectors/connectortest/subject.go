package connectortest

import (
	"context"
	"testing"

	"github.com/countersignhq/countersign/chat"
)

// Part of a connector that the exam asks about.
type Part string

// The parts. What a connector lacks it names in Subject.Lacks.
const (
	Posting   Part = "posting"   // questions: Post
	Editing   Part = "editing"   // what became of a question: Edit
	Replying  Part = "replying"  // Reply, the text
	Attaching Part = "attaching" // Reply, files
	Hearing   Part = "hearing"   // messages in
	Edits     Part = "edits"     // the platform tells of edited messages
	Bots      Part = "bots"      // other programs can write there
	Strangers Part = "strangers" // people who are not configured can write there
	Proof     Part = "proof"     // the platform proves itself by a secret or signature
	Pressing  Part = "pressing"  // buttons
)

// Subject is a connector that sits the exam.
type Subject struct {
	// Name of the connector, one of chat's constants.
	Name string
	// Setup makes a fresh connector with a platform double of its own; for each question anew.
	Setup func(t testing.TB, desk *Desk) *Candidate
	// Lacks names the parts that this connector does not have, each with the reason.
	Lacks map[Part]string
}

// Candidate is a connector together with its platform double.
type Candidate struct {
	Sender chat.Sender
	// Thread is an existing conversation of a configured person.
	Thread chat.Thread
	// Secrets may stand in no error and no log.
	Secrets []string
	// Log is what the connector has logged so far.
	Log func() string

	// Break lets the platform misbehave at the next call by which something is sent or edited.
	Break func(Fault)
	// Close makes Thread one that the platform refuses for good: blocked, deleted.
	Close func()
	// Shown is what a person sees in Thread now, oldest first, of what the connector sent.
	Shown func() []Shown
	// Vanish deletes a message on the platform.
	Vanish func(chat.Receipt)
	// File puts a file on the attachments disk.
	File func(name string, content []byte) chat.File

	// Send lets the platform send an event once; it tells whether the platform takes it as
	// received (and will not send it again).
	Send func(ctx context.Context, event Event) (acknowledged bool)
}

// Shown is one message as a person sees it.
type Shown struct {
	Text    string
	Buttons []string
	// File is a file's name, Content what is in it.
	File    string
	Content []byte
}

// Event is something that happens on the platform.
type Event struct {
	Kind EventKind
	// Number of the event; the same number again is a redelivery of the same event.
	Number int
	Text   string
	// Receipt of the question that is pressed, and the label of the button.
	Receipt chat.Receipt
	Button  string
}

// EventKind says what happens.
type EventKind string

// The kinds of events.
const (
	// Said: a configured person writes Text in Candidate.Thread.
	Said EventKind = "said"
	// Edited: that person changes an older message to Text.
	Edited EventKind = "edited"
	// SaidByBot: another program writes Text where a person's message would be heard.
	SaidByBot EventKind = "said by a bot"
	// SaidByStranger: somebody who is not configured writes Text to the bot in private.
	SaidByStranger EventKind = "said by a stranger"
	// Forged: like Said, but with a wrong secret or signature.
	Forged EventKind = "forged"
	// Unproven: like Said, but with no secret or signature at all.
	Unproven EventKind = "unproven"
	// Pressed: a configured person presses Button under Receipt.
	Pressed EventKind = "pressed"
)

// gaps names the parts whose functions are missing without excuse, or there although excused.
func (s Subject) gaps(c *Candidate) []string {
	var gaps []string
	needs := func(part Part, what string, there bool) {
		switch reason, lacks := s.Lacks[part]; {
		case lacks && reason == "":
			gaps = append(gaps, string(part)+" is lacking without a reason")
		case lacks && there:
			gaps = append(gaps, string(part)+" is called lacking, but there is a "+what)
		case !lacks && !there:
			gaps = append(gaps, string(part)+" needs "+what)
		}
	}
	sends := c.Sender != nil && c.Break != nil && c.Close != nil && c.Shown != nil
	if _, mute := s.Lacks[Posting]; !mute {
		needs(Posting, "Sender, Break, Close and Shown", sends)
	}
	if _, mute := s.Lacks[Replying]; !mute {
		needs(Replying, "Sender, Break, Close and Shown", sends)
	}
	needs(Editing, "Vanish", c.Vanish != nil)
	needs(Attaching, "File", c.File != nil)
	needs(Hearing, "Send", c.Send != nil)
	for part, reason := range s.Lacks {
		if reason == "" {
			gaps = append(gaps, string(part)+" is lacking without a reason")
		}
	}
	if c.Log == nil || len(c.Secrets) == 0 {
		if _, open := s.Lacks[Proof]; !open {
			gaps = append(gaps, "Log and Secrets are needed to see that no secret leaks")
		}
	}
	return gaps
}
