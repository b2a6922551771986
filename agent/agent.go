package agent

import (
	"context"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// Agent proposes the next step of a turn. It may be asked again for the same
// step after a crash, so it must not change anything in the world.
type Agent interface {
	Next(ctx context.Context, turn Turn) (contract.Step, error)
}

// Turn is what the agent knows when it chooses its next step.
type Turn struct {
	Message chat.Message
	// History is what was said before, oldest first.
	History []Exchange
	// Results are the calls of this turn so far and how they ended. Texts of people in it are data.
	Results []contract.ToolResult
	// Language in which the person is spoken to, one of package words.
	Language string
}

// Exchange is one earlier message and its answer.
type Exchange struct {
	Message chat.Message          `json:"message"`
	Results []contract.ToolResult `json:"results,omitempty"`
	Reply   string                `json:"reply,omitempty"`
}
