package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
)

// question is an open question with its buttons, or what became of it.
type question struct {
	ID     string
	Text   string
	Closed string
	// Language of these two, where it is not the page's.
	Language string
	Buttons  []chat.Button
	Expires  time.Time
	Handoff  bool
	// Here: it is asked in this conversation.
	Here  bool
	Where string
	Who   string // whom the call is made for
	What  string // tool.operation
	// Whole: it stands on the page of its call.
	Whole bool
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
		p.handoff(v, &q, state)
	case state.Approval != nil && state.Approval.Status == "pending":
		a := state.Approval
		q.Text, q.Parameters, q.Quorum = a.Prompt, parameters(v.language, a.Parameters), a.Approvers.Normal().Quorum
		where = chat.Thread{Connector: a.Connector, Key: a.ThreadKey}
		if a.ExpiresAt != nil {
			q.Expires = *a.ExpiresAt
		}
		for _, vote := range a.Votes {
			q.Agreed = append(q.Agreed, vote.By)
		}
		q.Buttons = buttons(v.language, chat.ActionYes, chat.ActionNo)
		if a.Always {
			q.Buttons = append(q.Buttons, buttons(v.language, chat.ActionAlways)...)
		}
	default:
		return q, false
	}
	q.Here, q.Where = where == v.thread(), where.String()
	return q, true
}

func (p *page) handoff(v visitor, q *question, state contract.State) {
	h := state.Handoff
	q.Handoff, q.Text, q.Missing = true, h.Reason, h.Missing
	for _, s := range h.Steps {
		next := step{Text: s.Text, Highlight: s.Highlight}
		if guide := p.Guides[state.Tool+"."+state.Operation]; guide != "" && s.Highlight != "" {
			next.Page = guide + "#" + s.Highlight
		}
		q.Steps = append(q.Steps, next)
	}
	if h.ExpiresAt != nil {
		q.Expires = *h.ExpiresAt
	}
	q.Buttons = buttons(v.language, chat.ActionDone, chat.ActionCancel)
}

// buttons are those of some answers, in a language.
func buttons(language string, actions ...chat.Action) []chat.Button {
	list := make([]chat.Button, len(actions))
	for n, action := range actions {
		list[n] = chat.Button{Label: words.Say(language, chat.Text(labels[action])), Action: action}
	}
	return list
}

// reworded are a card's buttons in the page's language; the card has that of its question.
func reworded(language string, of []chat.Button) []chat.Button {
	list := slices.Clone(of)
	for n, b := range list {
		if id, ok := labels[b.Action]; ok {
			list[n].Label = words.Say(language, chat.Text(id))
		}
	}
	return list
}

// carded is a question as its card in the feed says, with what the engine adds.
func (p *page) carded(v visitor, entry Entry, open map[string]question) question {
	card := entry.Card
	q := question{ID: card.Invocation, Text: card.Text, Closed: card.Closed, Expires: card.Expires, Here: true}
	if live, ok := open[card.Invocation]; ok && card.Closed == "" {
		live.Here = true
		if len(card.Buttons) > 0 && !live.Handoff {
			live.Text, live.Buttons = card.Text, reworded(v.language, card.Buttons)
		}
		q = live
	} else if card.Closed == "" {
		q.Buttons = reworded(v.language, card.Buttons)
	}
	if written := words.Pick(card.Language); written != v.language {
		q.Language = written
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
	var policy tool.Approvers
	switch {
	case state.Approval != nil:
		policy = state.Approval.Approvers
	case state.Handoff != nil && state.Handoff.Approvers.Who != "":
		policy = state.Handoff.Approvers
	default: // of an engine that did not tell
		return state.Requester != "" && state.Requester == v.person.Key()
	}
	ok, _ := approval.MayAnswer(policy, v.person, state.Requester, false)
	return ok
}

// maySee tells whether somebody may look at a call: an owner, whoever is in its conversation or
// that of its question, whom it is made for, and who may answer or has answered it.
func (v visitor) maySee(state contract.State) bool {
	asked, handed, me := state.Approval, state.Handoff, v.person.Key()
	switch {
	case v.owner || state.Thread == v.thread() || state.Requester != "" && state.Requester == me:
		return true
	case asked != nil && (chat.Thread{Connector: asked.Connector, Key: asked.ThreadKey} == v.thread()):
		return true
	case asked != nil && asked.Decision != nil && asked.Decision.By == me, handed != nil && handed.DecidedBy == me:
		return true
	}
	pending := asked != nil && asked.Status == "pending" || handed != nil && handed.Status == "pending"
	return pending && v.mayDecide(state)
}

// approvers says in words who may answer.
func approvers(language string, a tool.Approvers) string {
	a = a.Normal()
	in := func(line chat.Line) string { return words.Say(language, line) }
	who := in(chat.Text(map[tool.Who]string{
		tool.WhoThread: linePageMayThread, tool.WhoRequester: linePageMayRequester, tool.WhoOther: linePageMayOther,
	}[a.Who]))
	if a.Who == tool.WhoList {
		who = strings.Join(a.People, in(chat.Text(linePageComma)))
	}
	if who == "" {
		who = in(chat.Text(linePageMayNobody))
	}
	if a.Quorum > 1 {
		who = in(chat.Text(linePageMustAgree, "who", who, "count", strconv.Itoa(a.Quorum)))
	}
	return who
}
