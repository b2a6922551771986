package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/agent/agenttest"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

func turn(text string, results int) agent.Turn {
	return agent.Turn{Message: chat.Message{Text: text}, Results: make([]contract.ToolResult, results)}
}

func TestScripted(t *testing.T) {
	t.Parallel()
	two := contract.Step{Calls: []contract.ToolCall{{ID: "2"}, {ID: "3"}}}
	s := &agenttest.Scripted{Steps: map[string][]contract.Step{
		"work":  {agenttest.Call(contract.ToolCall{ID: "1"}), two, agenttest.Say("done")},
		"hello": {agenttest.Say("hello")},
	}}
	for _, test := range []struct {
		text    string
		results int
		want    contract.Step
		err     string
	}{
		{"hello", 0, agenttest.Say("hello"), ""},
		{"work", 0, agenttest.Call(contract.ToolCall{ID: "1"}), ""},
		{"work", 0, agenttest.Call(contract.ToolCall{ID: "1"}), ""}, // asked again after a crash
		{"work", 1, two, ""},
		{"work", 2, contract.Step{}, "asked for a step while 1 calls are out"},
		{"work", 3, agenttest.Say("done"), ""},
		{"work", 4, contract.Step{}, `the script of "work" has ended`},
		{"other", 0, contract.Step{}, `the script has nothing for "other"`},
	} {
		step, err := s.Next(t.Context(), turn(test.text, test.results))
		if test.err != "" {
			require.EqualError(t, err, test.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, test.want, step)
	}
	require.Len(t, s.Asked(), 8)

	s.Err = errors.New("away")
	_, err := s.Next(t.Context(), turn("hello", 0))
	require.ErrorIs(t, err, s.Err)
}

func ExampleScripted() {
	s := &agenttest.Scripted{Steps: map[string][]contract.Step{"hi": {agenttest.Say("hello")}}}
	step, err := s.Next(context.Background(), agent.Turn{Message: chat.Message{Text: "hi"}})
	fmt.Println(step.Reply, err)
	// Output: hello <nil>
}
