package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

// question is an open question with its buttons, or what became of it.
type question struct {
	ID      string
	Text    string
	Closed  string
	Buttons []chat.Button
	Expires time.Time
	Handoff bool
	// Here: it is asked in this conversation.
	Here  bool
	Where string
	Who   string // whom the call is made for
	What  string // tool.operation
	// Parameters in full.
	Parameters []parameter
	Steps      []step
	// Missing is what a handoff still lacks, in words.
	Missing string
	// Agreed are the yes answers so far, of Quorum that are needed.
	Agreed []string
	Quorum int
	CSRF   string
	Nonce  string
}

// step is one line of a handoff.
type step struct {
	Text, Highlight string
	// Page is where the target is; empty where that is not known.
	Page string
}

// Offers tells whether a button is among the answers; templates ask.
func (q question) Offers(action string) bool {
	for _, b := range q.Buttons {
		if string(b.Action) == action {
			return true
		}
	}
	return false
}

// question makes a pending state into a question; false for one that asks nothing.
func (p *page) question(v visitor, state contract.State) (question, bool) {
	q := question{
		ID: state.ID, What: state.Tool + "." + state.Operation, Who: state.Requester,
		CSRF: p.cookies.token(v.session), Nonce: p.NewUUID(),
	}
	where := state.Thread
	switch {
	case state.Handoff != nil && state.Handoff.Status == "pending":
		p.handoff(&q, state)
	case state.Approval != nil && state.Approval.Status == "pending":
		a := state.Approval
		q.Text, q.Parameters, q.Quorum = a.Prompt, parameters(a.Parameters), a.Approvers.Normal().Quorum
		where = chat.Thread{Connector: a.Connector, Key: a.ThreadKey}
		if a.ExpiresAt != nil {
			q.Expires = *a.ExpiresAt
		}
		for _, vote := range a.Votes {
			q.Agreed = append(q.Agreed, vote.By)
		}
		q.Buttons = []chat.Button{{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo}}
		if a.Always {
			q.Buttons = append(q.Buttons, chat.Button{Label: "Always allow", Action: chat.ActionAlways})
		}
	default:
		return q, false
	}
	q.Here, q.Where = where == v.thread(), where.String()
	return q, true
}

func (p *page) handoff(q *question, state contract.State) {
	h := state.Handoff
	q.Handoff, q.Text, q.Missing = true, h.Reason, h.Missing
	for _, s := range h.Steps {
		next := step{Text: s.Text, Highlight: s.Highlight}
		if guide := p.Guides[state.Tool]; guide != "" && s.Highlight != "" {
			next.Page = guide + "#" + s.Highlight
		}
		q.Steps = append(q.Steps, next)
	}
	if h.ExpiresAt != nil {
		q.Expires = *h.ExpiresAt
	}
	q.Buttons = []chat.Button{{Label: "I've done it", Action: chat.ActionDone}, {Label: "Cancel", Action: chat.ActionCancel}}
}

// carded is a question as its card in the feed says, with what the engine adds.
func (p *page) carded(v visitor, entry Entry, open map[string]question) question {
	card := entry.Card
	q := question{ID: card.Invocation, Text: card.Text, Closed: card.Closed, Expires: card.Expires, Here: true}
	if live, ok := open[card.Invocation]; ok && card.Closed == "" {
		live.Here = true
		if len(card.Buttons) > 0 && !live.Handoff {
			live.Text, live.Buttons = card.Text, card.Buttons
		}
		q = live
	} else if card.Closed == "" {
		q.Buttons = card.Buttons
	}
	q.CSRF, q.Nonce = p.cookies.token(v.session), p.NewUUID()
	return q
}

// mayDecide tells whether a question of another conversation is shown: to those who may answer
// it, so that nobody reads what is not theirs to decide (CONTRACT §9).
func (v visitor) mayDecide(state contract.State) bool {
	if v.owner {
		return true
	}
	if state.Approval == nil { // a handoff's policy is not in its state: whom it is made for may always do it
		return state.Requester != "" && state.Requester == v.person.Key()
	}
	ok, _ := approval.MayAnswer(state.Approval.Approvers, v.person, state.Requester, false)
	return ok
}

// maySee tells whether somebody may look at a call: an owner, whoever is in its conversation or
// that of its question, whom it is made for, and who may answer or has answered it.
func (v visitor) maySee(state contract.State) bool {
	asked := state.Approval
	switch {
	case v.owner || state.Thread == v.thread() || state.Requester != "" && state.Requester == v.person.Key():
		return true
	case asked == nil:
		return false
	case chat.Thread{Connector: asked.Connector, Key: asked.ThreadKey} == v.thread():
		return true
	case asked.Decision != nil && asked.Decision.By == v.person.Key():
		return true
	}
	return asked.Status == "pending" && v.mayDecide(state)
}

// approvers says in words who may answer.
func approvers(a tool.Approvers) string {
	a = a.Normal()
	who := map[tool.Who]string{
		tool.WhoThread: "anyone in the conversation", tool.WhoRequester: "only the person it is made for",
		tool.WhoOther: "anyone but the person it is made for", tool.WhoList: strings.Join(a.People, ", "),
	}[a.Who]
	if who == "" {
		who = "nobody"
	}
	if a.Quorum > 1 {
		who += fmt.Sprintf("; %d people must agree", a.Quorum)
	}
	return who
}
