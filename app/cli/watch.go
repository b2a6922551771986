package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

const (
	// watchEvery is how often the gateway is asked what a long wait is for.
	watchEvery = time.Second
	// handoffEvery: handoffs are in no list but that of the latest calls, which costs more.
	handoffEvery = 5
	// sayEvery is how often a wait says that it goes on, the first time after sayFirst.
	sayEvery = 30 * time.Second
	sayFirst = 3 * time.Second
)

// watch tells on stderr, while an answer is waited for, which person elsewhere it waits for.
// stop returns when nothing more is told.
func (t *talk) watch(ctx context.Context, thread chat.Thread) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		w := watcher{talk: t, thread: thread, known: map[string]bool{}, began: t.Now(), next: sayFirst}
		for n := 0; t.Sleep(ctx, watchEvery) == nil; n++ {
			w.look(ctx, n%handoffEvery == 0)
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

type watcher struct {
	*talk
	thread chat.Thread
	// known are the invocations that were looked at, and whether they are ours.
	known map[string]bool
	began time.Time
	next  time.Duration
	told  []string
}

// look asks once; what cannot be found out now is asked again.
func (w *watcher) look(ctx context.Context, handoffs bool) {
	for _, id := range w.pending(ctx) {
		if _, seen := w.known[id]; seen {
			continue
		}
		var state contract.State
		if _, err := w.call(ctx, http.MethodGet, invocationPath(id), nil, &state); err == nil {
			w.known[id] = state.Thread == w.thread
			w.tell(state)
		}
	}
	if handoffs {
		for _, state := range w.latest(ctx) {
			if state.Handoff != nil && state.Handoff.Status == "pending" && !ended(state.Status) {
				w.tell(state)
			}
		}
	}
	if waited := w.Now().Sub(w.began); w.IsTTY && !w.piped && waited >= w.next {
		at := "at work"
		if len(w.told) > 0 {
			at = "waiting"
		}
		_, _ = fmt.Fprintf(w.Stderr, "… still %s, for %s\n", at, waited.Round(time.Second))
		w.next = waited.Truncate(sayEvery) + sayEvery
	}
}

// pending lists the open questions.
func (w *watcher) pending(ctx context.Context) (ids []string) {
	var answer struct {
		Approvals []contract.Approval `json:"approvals"`
	}
	if _, err := w.call(ctx, http.MethodGet, "/api/approvals?status=pending", nil, &answer); err != nil {
		return nil
	}
	for _, a := range answer.Approvals {
		ids = append(ids, a.ID)
	}
	return ids
}

func (w *watcher) latest(ctx context.Context) []contract.State {
	var answer struct {
		Invocations []contract.State `json:"invocations"`
	}
	if _, err := w.call(ctx, http.MethodGet, "/api/invocations?limit=20", nil, &answer); err != nil {
		return nil
	}
	return answer.Invocations
}

// tell says once who is waited for.
func (w *watcher) tell(state contract.State) {
	if state.Thread != w.thread || state.Approval == nil && state.Handoff == nil || slices.Contains(w.told, state.ID) {
		return
	}
	w.told = append(w.told, state.ID)
	lines := strings.Split(harmless(question(state)), "\n")
	_, _ = fmt.Fprintf(w.Stderr, "… waiting for a person:\n  %s\n", strings.Join(lines, "\n  "))
}
