package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/words"
)

// historyLength is how many calls the history looks at.
const historyLength = 100

type row struct {
	contract.State
	UI string
	// Here: it was made in this conversation.
	Here    bool
	Outcome outcome
}

// outcome is how a question ended: what, by whom, over which channel, when and how fast.
type outcome struct {
	What, By, Via string
	At            time.Time
	Took          string
	Reason        string
}

// outcomeOf reads it, in words, from an invocation; zero where nobody was asked, or nothing is decided yet.
func outcomeOf(language string, state contract.State) outcome {
	in := func(id string) string { return words.Say(language, chat.Text(id)) }
	if h := state.Handoff; h != nil {
		o := outcome{By: h.DecidedBy, Via: h.Via}
		if h.DecidedAt != nil {
			o.At = *h.DecidedAt
			if h.AskedAt != nil && o.At.After(*h.AskedAt) {
				o.Took = took(o.At.Sub(*h.AskedAt))
			}
		}
		switch {
		case h.Status == "pending":
			return outcome{}
		case h.Already:
			o.What = in(linePageOutcomeAlready)
		case h.Status == "completed" && h.Verified:
			o.What = in(linePageOutcomeChecked)
		case h.Status == "completed":
			o.What = in(linePageOutcomeSaid)
		case h.Status == "timed_out":
			o.What = in(linePageOutcomeLate)
		default:
			o.What = ending(language, h.Status)
		}
		return o
	}
	a := state.Approval
	if a == nil || a.Status == "pending" {
		return outcome{}
	}
	o := outcome{What: ending(language, a.Status)}
	if d := a.Decision; d != nil {
		o.What, o.By, o.Via, o.At, o.Reason = in(saidWords[d.Decision]), d.By, d.Via, d.At, d.Reason
		if a.AskedAt != nil && !d.At.Before(*a.AskedAt) {
			o.Took = took(d.At.Sub(*a.AskedAt))
		}
	}
	return o
}

// saidWords say a decision; one that is not known says nothing good.
var saidWords = map[string]string{
	chat.Allow: linePageSaidYes, chat.AllowAlways: linePageSaidAlways, chat.Deny: linePageSaidNo,
}

// endings are the statuses of questions and steps.
var endings = map[string]string{
	"approved": linePageOutcomeApproved, "denied": linePageOutcomeDenied, "timeout": linePageOutcomeTimeout,
	"superseded": linePageOutcomeSuperseded, "undeliverable": linePageOutcomeUndeliverable,
	"withdrawn": linePageOutcomeWithdrawn, "granted": linePageOutcomeGranted, "cancelled": linePageOutcomeCancelled,
}

// ending says a status in words; one that is not known stays as it is.
func ending(language, status string) string {
	if id, ok := endings[status]; ok {
		return words.Say(language, chat.Text(id))
	}
	return status
}

func took(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// showInvocation is one call with every value in full.
func (p *page) showInvocation(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	state, err := p.Engine.State(r.Context(), pathValue(r, "id"), 0)
	if err != nil {
		p.trouble(w, r, http.StatusNotFound, chat.Text(linePageCallUnreadable), p.explain(r, err))
		return
	}
	if !v.maySee(state) {
		p.trouble(w, r, http.StatusNotFound, chat.Text(linePageCallUnreadable), chat.Text(linePageCallUnseen))
		return
	}
	shown := p.base(v, state.Tool+"."+state.Operation)
	shown.Details = &details{State: state, Output: pieces(indent(state.Output)), UI: p.workflow(state.ID), Outcome: outcomeOf(v.language, state)}
	if state.Approval != nil {
		shown.Details.Parameters = parameters(v.language, state.Approval.Parameters)
		shown.Details.Approvers = approvers(v.language, state.Approval.Approvers)
	}
	if q, ok := p.question(v, state); ok && (q.Here || v.mayDecide(state)) {
		q.Parameters, q.Whole = nil, true // they stand below
		shown.Details.Question = &q
	}
	p.render(w, r, http.StatusOK, "invocation", shown)
}

// showHistory lists the latest calls that the visitor may see.
func (p *page) showHistory(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	states, err := p.Engine.Invocations(r.Context(), historyLength)
	if err != nil {
		p.trouble(w, r, http.StatusServiceUnavailable, chat.Text(linePageHistoryUnreadable), p.explain(r, err))
		return
	}
	shown := p.base(v, p.say(r, chat.Text(linePageHistory)))
	for _, state := range states {
		if v.maySee(state) {
			shown.History = append(shown.History, row{State: state, UI: p.workflow(state.ID), Here: state.Thread == v.thread(), Outcome: outcomeOf(v.language, state)})
		}
	}
	p.render(w, r, http.StatusOK, "history", shown)
}
