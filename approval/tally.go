package approval

import (
	"slices"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/tool"
)

// Tally counts who has agreed to a question until there is a quorum of different
// people (CONTRACT §3). Only answers for which MayAnswer said yes belong here. A
// no needs no tally: the first one decides.
type Tally struct {
	quorum int
	votes  []chat.Decision
}

// NewTally starts counting for a policy.
func NewTally(policy tool.Approvers) *Tally {
	return &Tally{quorum: policy.Normal().Quorum}
}

// Yes counts one person's agreement and tells whether the question is decided
// with it. by is the person's key (chat.Person.Key): one person on two channels
// is one, and a second yes of the same person is no second person. An answer
// without an identity counts only where one is enough; a decision that is neither
// chat.Allow nor chat.AllowAlways never counts.
func (t *Tally) Yes(by string, decision chat.Decision) bool {
	agrees := decision.Decision == chat.Allow || decision.Decision == chat.AllowAlways
	known := by != "" || t.need() == 1
	again := slices.ContainsFunc(t.votes, func(v chat.Decision) bool { return v.By == by })
	if agrees && known && !again && t.Missing() > 0 {
		decision.By = by
		t.votes = append(t.votes, decision)
	}
	return t.Missing() == 0
}

// Missing is how many more people must agree; 0 once it is decided.
func (t *Tally) Missing() int { return t.need() - len(t.votes) }

// Votes returns the agreements that count, in the order they came.
func (t *Tally) Votes() []chat.Decision { return slices.Clone(t.votes) }

// Decision returns the decision that stands: chat.AllowAlways only if all who
// agreed said so, since a grant is not made over the head of one who agreed to
// this call alone; empty while people are missing.
func (t *Tally) Decision() string {
	if t.Missing() > 0 {
		return ""
	}
	if slices.ContainsFunc(t.votes, func(v chat.Decision) bool { return v.Decision != chat.AllowAlways }) {
		return chat.Allow
	}
	return chat.AllowAlways
}

// need holds for the zero Tally too, which wants one person and has none.
func (t *Tally) need() int { return max(t.quorum, 1) }
