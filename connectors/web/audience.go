package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

const (
	// remembered is how many questions an audience knows the policy of.
	remembered = 1024
	// lookUp is how long it waits for one that it does not know.
	lookUp = 5 * time.Second
)

// stream is the page's live feed: what happens in the visitor's own conversation, and elsewhere
// to questions that they may decide (an owner: all).
func (p *page) stream(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	gateway.Stream(w, r, p.Events, 15*time.Second, func(event gateway.Event) bool {
		switch {
		case v.owner || event.Thread == v.thread() || event.Kind == "lost":
			return true
		case event.Invocation == "":
			return false // what is said in another conversation
		}
		state, known := p.audience.asked(r.Context(), event.Invocation)
		return known && v.mayDecide(state)
	})
}

// audience knows who may hear of a question. Policy and requester are frozen when a question is
// asked, so each is looked up once, for all streams and for all that happens to it.
type audience struct {
	engine  Engine
	looking singleflight.Group

	mu    sync.Mutex
	known map[string]contract.State
	order []string // of known, the oldest first
}

func newAudience(engine Engine) *audience {
	return &audience{engine: engine, known: map[string]contract.State{}}
}

// asked returns the state of an invocation in which its policy stands; false for one that asks
// nothing or cannot be read now: the page looks by itself now and then.
func (a *audience) asked(ctx context.Context, id string) (contract.State, bool) {
	a.mu.Lock()
	state, known := a.known[id]
	a.mu.Unlock()
	if known {
		return state, true
	}
	answer := a.looking.DoChan(id, func() (any, error) {
		looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookUp) // others wait for it too
		defer cancel()
		state, err := a.engine.State(looking, id, 0)
		if err == nil && (state.Approval != nil || state.Handoff != nil) {
			a.remember(id, state)
		}
		return state, err
	})
	select {
	case <-ctx.Done():
		return contract.State{}, false
	case result := <-answer:
		state, _ = result.Val.(contract.State)
		return state, result.Err == nil && (state.Approval != nil || state.Handoff != nil)
	}
}

func (a *audience) remember(id string, state contract.State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, again := a.known[id]; again {
		return
	}
	if len(a.order) == remembered {
		delete(a.known, a.order[0])
		a.order = a.order[1:]
	}
	// Only what mayDecide looks at: parameters may be large.
	kept := contract.State{Requester: state.Requester}
	if state.Approval != nil {
		kept.Approval = &contract.Approval{Approvers: state.Approval.Approvers}
	}
	if state.Handoff != nil {
		kept.Handoff = &contract.HandoffState{Approvers: state.Handoff.Approvers}
	}
	a.known[id], a.order = kept, append(a.order, id)
}
