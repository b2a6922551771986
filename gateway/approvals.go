package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// statuses of an approval (contract.Approval).
var statuses = []string{"pending", "approved", "denied", "timeout", "superseded", "undeliverable", "withdrawn", "granted"}

const pending = "pending"

// listApprovals lists the pending questions, at once; with another status, those of the
// latest invocations, as far as visibility knows them.
func (g *gateway) listApprovals(w http.ResponseWriter, r *http.Request) {
	status := r.URL.Query().Get("status")
	if status != "" && !slices.Contains(statuses, status) {
		fail(w, http.StatusUnprocessableEntity, fmt.Sprintf("there is no status %q; known are %v", status, statuses))
		return
	}
	var states []contract.State
	var err error
	if status == "" || status == pending {
		states, err = g.Engine.Pending(r.Context())
	}
	if err == nil && status != pending {
		var latest []contract.State
		latest, err = g.Engine.Invocations(r.Context(), 200)
		states = append(states, latest...)
	}
	if err != nil {
		g.failed(w, r, err)
		return
	}
	found, seen := []*contract.Approval{}, map[string]bool{}
	for _, state := range states {
		if a := state.Approval; a != nil && !seen[state.ID] && (status == "" || a.Status == status) {
			seen[state.ID] = true
			found = append(found, a)
		}
	}
	respond(w, http.StatusOK, map[string]any{"approvals": found})
}

func (g *gateway) showApproval(w http.ResponseWriter, r *http.Request) {
	state, err := g.Engine.State(r.Context(), pathValue(r, "id"), 0)
	switch {
	case err != nil:
		g.failed(w, r, err)
	case state.Approval == nil:
		fail(w, http.StatusNotFound, "nobody is or was asked about this invocation; GET /api/invocations/{id} shows how it stands")
	default:
		respond(w, http.StatusOK, state.Approval)
	}
}

// decisionRequest is the body of a decision; handoffs have no `decision`.
type decisionRequest struct {
	Decision   string `json:"decision"`
	Reason     string `json:"reason"`
	DecisionID string `json:"decision_id"`
}

func (g *gateway) postDecision(w http.ResponseWriter, r *http.Request) {
	var sent decisionRequest
	if err := decode(w, r, &sent); err != nil {
		g.failed(w, r, err)
		return
	}
	if !slices.Contains([]string{chat.Allow, chat.AllowAlways, chat.Deny}, sent.Decision) {
		fail(w, http.StatusUnprocessableEntity, "decision must be allow, allow_always or deny")
		return
	}
	g.decide(w, r, sent)
}

func (g *gateway) postHandoff(decision string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Reason     string `json:"reason"`
			DecisionID string `json:"decision_id"`
		}
		if err := decode(w, r, &sent); err != nil {
			g.failed(w, r, err)
			return
		}
		g.decide(w, r, decisionRequest{Decision: decision, Reason: sent.Reason, DecisionID: sent.DecisionID})
	}
}

func (g *gateway) decide(w http.ResponseWriter, r *http.Request, sent decisionRequest) {
	if err := checkName("decision_id", sent.DecisionID); err != nil {
		g.failed(w, r, err)
		return
	}
	if len(sent.Reason) > maxText {
		g.failed(w, r, tooLong())
		return
	}
	who := callerOf(r)
	answer := contract.Answer{
		ID: g.NewUUID(), Decision: sent.Decision, Reason: sent.Reason, By: who.person, Via: chat.API,
		ReceivedAt: g.receivedAt(r), Entitled: who.role == RoleOwner,
	}
	if sent.DecisionID != "" {
		// The caller's ids are the caller's own: two people who both send "1" are two answers.
		answer.ID = chat.API + ":" + who.person.Key() + ":" + sent.DecisionID
	}
	verdict, err := g.Engine.Decide(r.Context(), pathValue(r, "id"), answer)
	if errors.Is(err, ErrNoEngine) {
		verdict, err = chat.Verdict{Standing: chat.StandingKept}, nil
	}
	if err != nil {
		g.failed(w, r, err)
		return
	}
	tell(w, verdict, answer.ReceivedAt)
}

// accepted is the body of a 202: the answer counts, but no decision stands yet.
type accepted struct {
	Status     chat.Standing `json:"status"` // kept or noted
	Detail     string        `json:"detail"`
	ReceivedAt time.Time     `json:"received_at"`
}

// tell turns what became of an answer into a status (CONTRACT §9). A standing it does not
// know is never a success.
func tell(w http.ResponseWriter, verdict chat.Verdict, received time.Time) {
	switch verdict.Standing {
	case chat.StandingTaken:
		if verdict.Decision == nil { // a handoff that was completed by what is, not by who said so
			respond(w, http.StatusOK, map[string]any{"decision": nil, "reason": verdict.Reason})
			return
		}
		respond(w, http.StatusOK, decided(verdict.Decision))
	case chat.StandingNoted:
		detail := "it is noted, and the question stays open: others have to agree too"
		if verdict.Reason != "" {
			detail = verdict.Reason
		}
		respond(w, http.StatusAccepted, accepted{Status: verdict.Standing, Detail: detail, ReceivedAt: received})
	case chat.StandingKept:
		respond(w, http.StatusAccepted, accepted{
			Status: verdict.Standing, ReceivedAt: received,
			Detail: "no engine answers now; the decision is kept with its time and counts like any other",
		})
	case chat.StandingDecided:
		p := problem(http.StatusConflict, "it was already decided; the member `decision` is the one that stands")
		p.Decision, p.Reason = decided(verdict.Decision), verdict.Reason
		p.write(w)
	case chat.StandingClosed:
		p := problem(http.StatusGone, "the question ended without a decision ("+verdict.Reason+"); start the invocation again to be asked again")
		p.Decision, p.Reason = decided(verdict.Decision), verdict.Reason
		p.write(w)
	case chat.StandingInvalid:
		fail(w, http.StatusUnprocessableEntity, "this answer is not offered here; GET /api/approvals/{id} shows the question")
	case chat.StandingRefused:
		p := problem(http.StatusForbidden, "this token's person may not answer this question; its `approvers` say who may")
		p.Reason = verdict.Reason
		p.write(w)
	case chat.StandingUnknown:
		fail(w, http.StatusNotFound, "there is no such question; GET /api/approvals?status=pending lists those that are open")
	default:
		fail(w, http.StatusInternalServerError, "the engine's answer was not understood; GET /api/approvals/{id} shows what stands")
	}
}

// Decision is a chat.Decision with every member present, its time in UTC.
type Decision struct {
	Decision string    `json:"decision"`
	By       string    `json:"by"`
	Via      string    `json:"via"`
	At       time.Time `json:"at"`
	Reason   string    `json:"reason"`
}

func decided(d *chat.Decision) *Decision {
	if d == nil {
		return nil
	}
	return &Decision{Decision: d.Decision, By: d.By, Via: d.Via, At: d.At.UTC(), Reason: d.Reason}
}
