package agenttest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/contract"
)

// Scripted is an agent.Agent that answers by the text of the message: its steps in order, one
// for each time that all calls of the step before have come back. It is safe for use by several
// goroutines.
type Scripted struct {
	// Steps by the exact text of a message.
	Steps map[string][]contract.Step
	// Err, if set, is what every step fails with.
	Err error

	mu    sync.Mutex
	asked []agent.Turn
}

var _ agent.Agent = (*Scripted)(nil)

// Next implements agent.Agent. A text that is not in the script, and a script that is at its
// end, are errors: a test that gets there is wrong. Asked again with the same results it gives
// the same step, as agent.Agent demands.
func (s *Scripted) Next(_ context.Context, turn agent.Turn) (contract.Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, turn)
	if s.Err != nil {
		return contract.Step{}, s.Err
	}
	steps, ok := s.Steps[turn.Message.Text]
	if !ok {
		return contract.Step{}, fmt.Errorf("the script has nothing for %q", turn.Message.Text)
	}
	back := len(turn.Results)
	for _, step := range steps {
		switch {
		case back == 0:
			return step, nil
		case back < len(step.Calls):
			return contract.Step{}, fmt.Errorf("asked for a step while %d calls are out", len(step.Calls)-back)
		}
		back -= len(step.Calls)
	}
	return contract.Step{}, fmt.Errorf("the script of %q has ended", turn.Message.Text)
}

// Asked returns what the agent was asked so far, oldest first.
func (s *Scripted) Asked() []agent.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Call returns a step with one call.
func Call(call contract.ToolCall) contract.Step {
	return contract.Step{Calls: []contract.ToolCall{call}}
}

// Say returns the step that ends a turn with a reply.
func Say(reply string) contract.Step { return contract.Step{Reply: reply} }
