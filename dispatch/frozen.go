package dispatch

import (
	"strings"
	"sync"
	"time"

	"github.com/countersignhq/countersign/contract"
)

// many open questions are no longer asked one by one each time they are listed: each costs Temporal
// a workflow task, and none of them changes until it ends. Fewer are, which is exact at any moment.
const many = 100

// frozen remembers open questions between two lists of them. The inbox says which ones are still
// open; what this process has to do with one of them makes it forget that one. An answer that comes
// in through another process shows in the list a moment later, when the question leaves the inbox.
type frozen struct {
	mu     sync.Mutex
	states map[string]contract.State
	// touched since the read that is running began: what it has read of them may be old.
	touched map[string]bool
}

// begin starts a read of these questions, and forgets all others.
func (f *frozen) begin(ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := make(map[string]contract.State, len(ids))
	for _, id := range ids {
		if state, ok := f.states[id]; ok {
			kept[id] = state
		}
	}
	f.states, f.touched = kept, map[string]bool{}
}

// get returns what is remembered of a question, unless its deadline has passed.
func (f *frozen) get(id string, now time.Time) (contract.State, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	state, ok := f.states[id]
	return state, ok && now.Before(*state.Approval.ExpiresAt)
}

// keep remembers a question that only its end can change: one that is delivered and that one
// person decides. Votes and what is missing of a step are read each time.
func (f *frozen) keep(id string, state contract.State) {
	a := state.Approval
	if a == nil || a.Status != "pending" || a.ExpiresAt == nil || a.Approvers.Normal().Quorum > 1 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.touched[id] {
		f.states[id] = state
	}
}

// forget is for a question that may have ended.
func (f *frozen) forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.states, id)
	if f.touched != nil {
		f.touched[id] = true
	}
}

// forgetWorkflow is forget by the id of any workflow.
func (f *frozen) forgetWorkflow(workflowID string) {
	if id, ours := strings.CutPrefix(workflowID, contract.InvocationID("")); ours {
		f.forget(id)
	}
}

// end ends a read.
func (f *frozen) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.touched = nil
}
