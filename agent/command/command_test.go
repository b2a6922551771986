package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/agent/command"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

func run(context.Context, tool.Call) (any, error) { return "ok", nil }

func registry(t *testing.T) *tool.Registry {
	t.Helper()
	r, _, err := tool.NewRegistry(
		tool.Tool{Name: "file_manager", Description: "Works on files.", Operations: []tool.Operation{
			{
				Name: "delete", Kind: tool.Danger, Prompt: "Delete {path}?", Run: run,
				Schema: `{"type":"object","properties":{"disk":{"type":"string"},"path":{"type":"string"},"paths":{"type":"array","items":{"type":"string"}}}}`,
			},
			{
				Name: "list", Kind: tool.Read, Run: run,
				Schema: `{"type":"object","properties":{"limit":{"type":"integer"},"share":{"type":"number"},"deep":{"type":"boolean"},"nothing":{"type":"null"},"either":{"type":["string","integer"]}}}`,
			},
		}},
		tool.Tool{Name: "door", Description: "Opens doors.", Operations: []tool.Operation{{
			Name: "open", Kind: tool.Write, Schema: `{"type":"object","properties":{}}`,
			Handoff: &tool.Handoff{Reason: "Only a person can.", Steps: []tool.Step{{Text: "Turn the key."}}},
		}}},
	)
	require.NoError(t, err)
	return r
}

func newAgent(t *testing.T) *command.Agent {
	t.Helper()
	return command.New(registry(t), func() string { return "01J" })
}

func next(t *testing.T, turn agent.Turn) contract.Step {
	t.Helper()
	step, err := newAgent(t).Next(t.Context(), turn)
	require.NoError(t, err)
	return step
}

func TestCommandsBecomeCalls(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/file_manager delete disk=local path=reports/old.csv":                `{"disk":"local","path":"reports/old.csv"}`,
		"  /file_manager@my_bot delete disk=local path=reports/old.csv\n":     `{"disk":"local","path":"reports/old.csv"}`,
		`/file_manager delete disk="local" path='a b.csv'`:                    `{"disk":"local","path":"a b.csv"}`,
		`/file_manager delete disk=local paths=["a.csv", "b.csv"]`:            `{"disk":"local","paths":["a.csv","b.csv"]}`,
		"/file_manager delete disk=local paths=[a.csv, b.csv]":                `{"disk":"local","paths":["a.csv","b.csv"]}`,
		"/file_manager delete disk=local paths=a.csv,b.csv":                   `{"disk":"local","paths":["a.csv","b.csv"]}`,
		"/file_manager delete\ndisk=local\npath=\"a\nb\"":                     "not JSON", // a line break in a JSON string
		"/file_manager delete\ndisk=local\npath='a\nb'":                       `{"disk":"local","path":"a\nb"}`,
		"/file_manager delete path=7 disk=true":                               `{"path":"7","disk":"true"}`,
		"/file_manager list limit=7 share=0.5 deep=true nothing=null":         `{"limit":7,"share":0.5,"deep":true,"nothing":null}`,
		"/file_manager list limit=seven deep=yes":                             `{"limit":"seven","deep":"yes"}`, // the check says what is wrong
		"/file_manager list either=7 unknown=1":                               `{"either":"7","unknown":"1"}`,
		"/file_manager list":                                                  `{}`,
		"/file_manager delete path=\u202egpj.exe":                             `{"path":"\u202egpj.exe"}`, // raw: the digest is over it
		"/file_manager delete path= disk=local":                               `{"path":"","disk":"local"}`,
		"/file_manager list limit=12345678901234567890123":                    `{"limit":12345678901234567890123}`,
		`/file_manager delete path="a" disk={"x": [1, 2]} paths=["a,b", c d]`: `{"path":"a","disk":{"x":[1,2]},"paths":["a,b","c d"]}`,
	} {
		step := next(t, agent.Turn{Message: chat.Message{Text: text}})
		if want == "not JSON" {
			require.Empty(t, step.Calls)
			require.Contains(t, step.Reply, "I could not read that command: the value of path is not complete JSON")
			continue
		}
		require.Empty(t, step.Reply, "%q", text)
		require.Len(t, step.Calls, 1, "%q", text)
		call := step.Calls[0]
		require.Equal(t, "01J", call.ID)
		require.Equal(t, "file_manager", call.Tool)
		var have, wanted map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(call.Parameters, &have))
		require.NoError(t, json.Unmarshal([]byte(want), &wanted))
		require.Len(t, have, len(wanted))
		for name, value := range wanted {
			require.JSONEq(t, string(value), string(have[name]), "%q %s", text, name)
		}
		require.NotEmpty(t, call.Key)
	}
}

func TestTheKeyIsTheCallNotItsWriting(t *testing.T) {
	t.Parallel()
	key := func(text string) string {
		step := next(t, agent.Turn{Message: chat.Message{Text: text}})
		require.Len(t, step.Calls, 1)
		return step.Calls[0].Key
	}
	first := key("/file_manager delete disk=local path=a")
	require.Equal(t, first, key(`/file_manager@bot  delete path="a"  disk='local'`))
	require.NotEqual(t, first, key("/file_manager delete disk=local path=b"))
	require.NotEqual(t, first, key("/file_manager list disk=local path=a"))
}

func TestWhatIsNoCallIsAnswered(t *testing.T) {
	t.Parallel()
	file := chat.File{Name: "photo.jpg", Path: "inbound/u/photo.jpg", Size: 12}
	for name, test := range map[string]struct {
		text  string
		files []chat.File
		want  []string
	}{
		"plain text":         {"please delete it", nil, []string{"I only understand commands here. Write /help"}},
		"nothing":            {"", nil, []string{"I only understand commands here"}},
		"H05 yes":            {" Yes \n", nil, []string{"There is no question open here, so nothing was run"}},
		"H05 always":         {"always", nil, []string{"There is no question open here"}},
		"a file":             {"", []chat.File{file}, []string{"I have received:\n- inbound/u/photo.jpg (12 bytes)", "save_attachment"}},
		"a file with words":  {"look", []chat.File{file}, []string{"inbound/u/photo.jpg", "I only understand commands"}},
		"a file not taken":   {"", []chat.File{{Name: "a\u202eb", Problem: "larger than 20 MB"}}, []string{`- a\u{202E}b: not taken, larger than 20 MB`}},
		"an unknown tool":    {"/rm -rf", nil, []string{`There is no tool "rm". Write /help`}},
		"an unknown one":     {"/file_manager shred path=a", nil, []string{`file_manager has no operation "shred". It can: delete, list.`}},
		"no operation":       {"/file_manager", nil, []string{`file_manager has no operation "". It can: delete, list.`}},
		"twice":              {"/file_manager delete path=a path=b", nil, []string{"path is given twice; leave one of them out"}},
		"an open quote":      {`/file_manager delete path="a`, nil, []string{"close its quotes"}},
		"G15 a hostile tool": {"/x\u202ey\u200b\x1b[2K", nil, []string{`There is no tool "x\u{202E}y\u{200B}\u{001B}[2K"`}},
		"G15 an operation":   {"/file_manager a\x1b[2Kb", nil, []string{`no operation "a\u{001B}[2Kb"`}},
		"G15 a value's name": {"/file_manager delete a\u202eb=1 a\u202eb=2", nil, []string{`a\u{202E}b is given twice`}},
		"G15 an open value":  {"/file_manager delete a\u202eb='1", nil, []string{`the quote after a\u{202E}b= is not closed`}},
		"G15 a loose word":   {"/file_manager delete \u202e", nil, []string{`"\u{202E}" is not name=value`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := next(t, agent.Turn{Message: chat.Message{Text: test.text, Files: test.files}})
			require.Empty(t, step.Calls)
			for _, want := range test.want {
				require.Contains(t, step.Reply, want)
			}
			require.NotContains(t, step.Reply, "\u202e")
			require.NotContains(t, step.Reply, "\x1b")
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	all := next(t, agent.Turn{Message: chat.Message{Text: "/help@my_bot"}}).Reply
	require.Equal(t, `Write a call like this: /file_manager delete disk=local path=reports/old.csv
!new starts the conversation afresh.

door – Opens doors.
  /door open  (you do it yourself)

file_manager – Works on files.
  /file_manager delete disk=… path=… paths=… (asks first)
  /file_manager list deep=… either=… limit=… nothing=… share=…`, all)
	require.Equal(t, all, next(t, agent.Turn{Message: chat.Message{Text: "/start"}}).Reply)
	one := next(t, agent.Turn{Message: chat.Message{Text: "/help file_manager"}}).Reply
	require.Contains(t, one, "/file_manager delete")
	require.NotContains(t, one, "door")
}

func TestReports(t *testing.T) {
	t.Parallel()
	decided := func(by string) *contract.Approval {
		return &contract.Approval{Decision: &chat.Decision{Decision: chat.Deny, By: by}}
	}
	for want, result := range map[string]contract.Result{
		"✅ Done: t o":                                              {Status: "completed"},
		"✅ Done: t o\n{\n  \"path\": \"a\"\n}":                     {Output: json.RawMessage(`{"path":"a"}`)},
		"✅ Done: t o\n[1,2]":                                       {Output: json.RawMessage(`[1,2]`)},
		"✅ Done: t o\nhello":                                       {Output: json.RawMessage(`{"content":"hello","truncated":false}`)},
		"✅ Done: t o\nhello\n… (cut at 100 KB)":                    {Output: json.RawMessage(`{"content":"hello","truncated":true}`)},
		"Not run: t o – denied by ada.":                            {Code: "PERMISSION_DENIED", Reason: "denied", Approval: decided("ada")},
		`Not run: t o – denied by a\u{202E}b.`:                     {Code: "PERMISSION_DENIED", Reason: "denied", Approval: decided("a\u202eb")},
		"Not run: t o – denied.":                                   {Code: "PERMISSION_DENIED", Reason: "denied", Approval: decided("")},
		"Not run: t o – nobody answered in time.":                  {Code: "PERMISSION_DENIED", Reason: "timeout"},
		"Not run: t o – a newer question took its place.":          {Code: "PERMISSION_DENIED", Reason: "superseded"},
		"Not run: t o – the question could not be delivered.":      {Code: "PERMISSION_DENIED", Reason: "undeliverable"},
		"Not run: t o – what was approved has changed since.":      {Code: "PERMISSION_DENIED", Reason: "drift"},
		"Not run: t o – the question was withdrawn.":               {Code: "PERMISSION_DENIED", Reason: "withdrawn"},
		"Not run: t o – there is nobody here who could be asked.":  {Code: "PERMISSION_DENIED", Reason: "no_approver"},
		`Not run: t o – of\u{202E}another.`:                        {Code: "PERMISSION_DENIED", Reason: "of\u202eanother"},
		"⚠️ It is not known whether this was done: t o – cut off.": {Code: "OUTCOME_UNKNOWN", Reason: "cut off"},
		"Not done: t o was cancelled.":                             {Code: "HANDOFF_CANCELLED"},
		"Not done: t o was not completed in time.":                 {Code: "HANDOFF_TIMEOUT"},
		"Not done: t o – the path is protected.":                   {Code: "UNAVAILABLE", Reason: "the path is protected"},
		`Not done: t o – disk\nfull\u{202E}.`:                      {Code: "TOOL_FAILED", Reason: "disk\nfull\u202e"},
		`Not done: t o – there is no operation "a\nb".`:            {Code: "OUT_OF_SCOPE", Reason: `there is no operation "a\nb"`},
		"Not done: t o – path must be a text, not a whole number.": {Code: "INVALID_PARAMETERS", Reason: "path must be a text, not a whole number"},
	} {
		call := contract.ToolCall{Tool: "t", Operation: "o"}
		earlier := contract.ToolResult{Call: contract.ToolCall{Tool: "before"}}
		step := next(t, agent.Turn{
			Message: chat.Message{Text: "/t o"}, Results: []contract.ToolResult{earlier, {Call: call, Result: result}},
		})
		require.Equal(t, contract.Step{Reply: want}, step)
	}
}

// An output that was empty is "null" once a history has held it.
func TestNoOutputAfterAHistory(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(contract.ToolResult{Call: contract.ToolCall{Tool: "t", Operation: "o"}})
	require.NoError(t, err)
	var back contract.ToolResult
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, "✅ Done: t o", next(t, agent.Turn{Results: []contract.ToolResult{back}}).Reply)
}

func ExampleAgent_Next() {
	r, _, err := tool.NewRegistry(tool.Tool{Name: "clock", Operations: []tool.Operation{{
		Name: "set", Kind: tool.Write, Schema: `{"type":"object","properties":{"hour":{"type":"integer"}}}`, Run: run,
	}}})
	if err != nil {
		panic(err)
	}
	step, err := command.New(r, func() string { return "01J" }).Next(context.Background(), agent.Turn{
		Message: chat.Message{Text: "/clock set hour=7"},
	})
	if err != nil {
		panic(err)
	}
	call := step.Calls[0]
	fmt.Println(call.ID, call.Tool, call.Operation, strings.TrimSpace(string(call.Parameters)))
	// Output: 01J clock set {"hour":7}
}
