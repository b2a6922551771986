package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// What happens at the same time as a check, or as the deadline.
func TestHandoffRaces(t *testing.T) {
	t.Parallel()
	const wait = 5 * time.Minute
	for name, test := range map[string]struct {
		// check is how long a look at the data takes, and what it finds.
		check time.Duration
		found bool
		play  func(*stepWorld)
		code  approval.Code
		want  contract.HandoffState
	}{
		"done in time, checked after the deadline": {
			check: 10 * time.Second, found: true,
			play: func(w *stepWorld) { w.after(wait-5*time.Second, w.says(ada, "done")) },
			want: contract.HandoffState{Status: "completed", Verified: true, Via: "telegram", AssertedBy: "ada", DecidedBy: "ada"},
		},
		"done in time, and not so": {
			check: 10 * time.Second,
			play:  func(w *stepWorld) { w.after(wait-5*time.Second, w.says(ada, "done")) },
			code:  approval.HandoffTimeout,
			want:  contract.HandoffState{Status: "timed_out", Missing: "the changes are published"},
		},
		"done in time, and still with the conversation at the deadline": {
			found: true,
			play: func(w *stepWorld) {
				w.held = []contract.Reply{w.reply(ada, "done", w.Now().Add(wait-time.Second))}
			},
			want: contract.HandoffState{Status: "completed", Verified: true, Via: "telegram", AssertedBy: "ada", DecidedBy: "ada"},
		},
		"done too late, and it is not": {
			play: func(w *stepWorld) { w.after(wait+500*time.Millisecond, w.says(ada, "done")) },
			code: approval.HandoffTimeout, want: contract.HandoffState{Status: "timed_out"},
		},
		"done too late, and it is": {
			found: true,
			play:  func(w *stepWorld) { w.after(wait+500*time.Millisecond, w.says(ada, "done")) },
			want:  contract.HandoffState{Status: "completed", Verified: true, Observed: true, Via: "observed"},
		},
		"cancelled while done is checked": {
			check: 10 * time.Second,
			play: func(w *stepWorld) {
				w.after(time.Second, w.says(ada, "done"))
				w.after(5*time.Second, w.says(bob, "cancel"))
			},
			code: approval.HandoffCancelled,
			want: contract.HandoffState{Status: "cancelled", Missing: "the changes are published", Via: "telegram", DecidedBy: "bob"},
		},
		"cancelled while it turns out to be done": {
			check: 10 * time.Second, found: true,
			play: func(w *stepWorld) {
				w.after(time.Second, w.says(ada, "done"))
				w.after(5*time.Second, w.says(bob, "cancel"))
			},
			code: approval.HandoffCancelled,
			want: contract.HandoffState{Status: "cancelled", Observed: true, Via: "telegram", DecidedBy: "bob"},
		},
		"cancelled during the last look": {
			check: 10 * time.Second,
			play:  func(w *stepWorld) { w.after(wait+2*time.Second, w.says(ada, "cancel")) },
			code:  approval.HandoffTimeout, want: contract.HandoffState{Status: "timed_out"}, // it came too late
		},
		"two say done": {
			check: 10 * time.Second, found: true,
			play: func(w *stepWorld) {
				w.after(time.Second, w.says(bob, "done"))
				w.after(2*time.Second, w.says(ada, "done"))
			},
			want: contract.HandoffState{Status: "completed", Verified: true, Via: "telegram", AssertedBy: "bob", DecidedBy: "bob"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newStepWorld(t)
			w.OnActivity(contract.ActivityCheck, mock.Anything, mock.Anything).After(test.check).Return(test.found, nil)
			test.play(w)
			result := w.invocation()
			require.Equal(t, string(test.code), result.Code)
			got := *result.Handoff
			got.Reason, got.Steps = "", nil
			got.AskedAt, got.ExpiresAt, got.DecidedAt = nil, nil, nil
			require.Equal(t, test.want, got)
			require.Len(t, w.closes, 1, "the card is closed once")
		})
	}
}

// Two at once: the one that the gateway received first decides, whatever order the signals have.
func TestHandoffFirstAnswerWins(t *testing.T) {
	t.Parallel()
	w := newStepWorld(t)
	w.published = true
	w.after(time.Minute, func() {
		w.SignalWorkflow(contract.SignalHandoff, contract.Answer{ID: "late", Decision: "done", By: ada, Via: chat.Web, ReceivedAt: w.Now()})
		w.SignalWorkflow(contract.SignalHandoff, contract.Answer{ID: "early", Decision: "cancel", By: bob, Via: chat.Web, ReceivedAt: w.Now().Add(-time.Second)})
	})
	result := w.invocation()
	require.Equal(t, string(approval.HandoffCancelled), result.Code)
	require.Equal(t, "bob", result.Handoff.DecidedBy)
	require.True(t, result.Handoff.Observed, "it is done anyway")
}
