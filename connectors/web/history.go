package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/countersignhq/countersign/contract"
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

// outcomeOf reads it from an invocation; zero where nobody was asked, or nothing is decided yet.
func outcomeOf(state contract.State) outcome {
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
			o.What = "was done already"
		case h.Status == "completed" && h.Verified:
			o.What = "done, and checked"
		case h.Status == "completed":
			o.What = "said to be done"
		case h.Status == "timed_out":
			o.What = "not done in time"
		default:
			o.What = h.Status
		}
		return o
	}
	a := state.Approval
	if a == nil || a.Status == "pending" {
		return outcome{}
	}
	o := outcome{What: a.Status}
	if d := a.Decision; d != nil {
		o.What, o.By, o.Via, o.At, o.Reason = decisionWords[d.Decision], d.By, d.Via, d.At, d.Reason
		if a.AskedAt != nil && !d.At.Before(*a.AskedAt) {
			o.Took = took(d.At.Sub(*a.AskedAt))
		}
	}
	return o
}

// decisionWords say a decision; one that is not known says nothing good.
var decisionWords = map[string]string{"allow": "yes", "allow_always": "always allow", "deny": "no"}

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
		p.trouble(w, http.StatusNotFound, "The call cannot be shown", p.explain(r, err))
		return
	}
	if !v.maySee(state) {
		p.trouble(w, http.StatusNotFound, "The call cannot be shown", "There is no such call that you may see.")
		return
	}
	shown := p.base(v, state.Tool+"."+state.Operation)
	shown.Details = &details{State: state, Output: pieces(indent(state.Output)), UI: p.workflow(state.ID), Outcome: outcomeOf(state)}
	if state.Approval != nil {
		shown.Details.Parameters = parameters(state.Approval.Parameters)
		shown.Details.Approvers = approvers(state.Approval.Approvers)
	}
	if q, ok := p.question(v, state); ok && (q.Here || v.mayDecide(state)) {
		q.Parameters = nil // they stand below
		shown.Details.Question = &q
	}
	p.render(w, http.StatusOK, "invocation", shown)
}

// showHistory lists the latest calls that the visitor may see.
func (p *page) showHistory(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	states, err := p.Engine.Invocations(r.Context(), historyLength)
	if err != nil {
		p.trouble(w, http.StatusServiceUnavailable, "The history cannot be read now", p.explain(r, err))
		return
	}
	shown := p.base(v, "History")
	for _, state := range states {
		if v.maySee(state) {
			shown.History = append(shown.History, row{State: state, UI: p.workflow(state.ID), Here: state.Thread == v.thread(), Outcome: outcomeOf(state)})
		}
	}
	p.render(w, http.StatusOK, "history", shown)
}
