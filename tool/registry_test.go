package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/tool"
)

const deleteSchema = `{"type":"object","properties":{
	"disk":{"type":"string"},"path":{"type":"string"},"paths":{"type":"array","items":{"type":"string"},"minItems":1}},
	"required":["disk"],"oneOf":[{"required":["path"]},{"required":["paths"]}]}`

func run(context.Context, tool.Call) (any, error) { return nil, nil }

func deleteOperation() tool.Operation {
	return tool.Operation{
		Name: "delete", Kind: tool.Danger, Schema: deleteSchema, Run: run,
		Prompt:  "Delete the file at {path} on disk {disk}?",
		Prompts: []tool.PromptVariant{{When: "paths", Template: "Delete {count} files on disk {disk}: {paths}?", Count: "paths"}},
	}
}

func publish() tool.Operation {
	return tool.Operation{
		Name: "publish", Kind: tool.Write, Schema: `{"type":"object"}`,
		Handoff: &tool.Handoff{
			Reason: "Only you have the code.",
			Steps:  []tool.Step{{Text: "Enter the code.", Highlight: "code"}},
			Expect: &tool.Expect{Desc: "The changes are published", Check: func(context.Context, tool.Call) (bool, error) { return true, nil }},
		},
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	registry, warnings, err := tool.NewRegistry(
		tool.Tool{Name: "workspace", Operations: []tool.Operation{publish()}},
		tool.Tool{Name: "file_manager", Operations: []tool.Operation{
			{Name: "read", Kind: tool.Read, Schema: `{"type":"object"}`, Run: run}, deleteOperation(),
		}},
	)
	require.NoError(t, err)
	require.Empty(t, warnings)

	tools := registry.Tools()
	require.Equal(t, []string{"file_manager", "workspace"}, []string{tools[0].Name, tools[1].Name})
	require.Equal(t, []string{"delete", "read"}, []string{tools[0].Operations[0].Name, tools[0].Operations[1].Name})

	op, ok := registry.Find("file_manager", "delete")
	require.True(t, ok)
	require.Equal(t, tool.Danger, op.Kind)
	op.Kind = tool.Read
	tools[0].Operations[0].Kind = tool.Read
	again, _ := registry.Find("file_manager", "delete")
	require.Equal(t, tool.Danger, again.Kind, "what was found is a copy")
	require.Equal(t, tool.Danger, registry.Tools()[0].Operations[0].Kind, "what was listed is a copy")

	_, ok = registry.Find("file_manager", "publish")
	require.False(t, ok)
}

func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(op *tool.Operation)
		want   string
	}{
		"empty name":           {func(op *tool.Operation) { op.Name = "" }, "name is not allowed"},
		"odd name":             {func(op *tool.Operation) { op.Name = "Delete\n" }, "name is not allowed"},
		"long name":            {func(op *tool.Operation) { op.Name = strings.Repeat("a", 65) }, "name is not allowed"},
		"no kind":              {func(op *tool.Operation) { op.Kind = "" }, "use read, write or danger"},
		"unknown confirm":      {func(op *tool.Operation) { op.Confirm = "maybe" }, "true, always or false"},
		"negative timeout":     {func(op *tool.Operation) { op.Timeout = -1 }, "timeout is -1ns"},
		"negative run timeout": {func(op *tool.Operation) { op.RunTimeout = -1 }, "run timeout is -1ns"},
		"negative quorum":      {func(op *tool.Operation) { op.Approvers.Quorum = -1 }, "quorum is -1"},
		"unknown who":          {func(op *tool.Operation) { op.Approvers.Who = "everyone" }, `who is "everyone"`},
		"list of nobody (H01)": {func(op *tool.Operation) { op.Approvers.Who = tool.WhoList }, "nobody could answer"},
		"people without list":  {func(op *tool.Operation) { op.Approvers.People = []string{"ada"} }, "only for approvers.who: list"},
		"unreachable quorum":   {func(op *tool.Operation) { op.Approvers = tool.Approvers{Who: tool.WhoRequester, Quorum: 2} }, "only the requester may answer"},
		"one person, quorum 2": {func(op *tool.Operation) {
			op.Approvers = tool.Approvers{Who: tool.WhoList, People: []string{"ada", "ada"}, Quorum: 2}
		}, "could never be reached"},
		"no run":               {func(op *tool.Operation) { op.Run = nil }, "no run function"},
		"no prompt":            {func(op *tool.Operation) { op.Prompt = " " }, "has no prompt"},
		"undeclared":           {func(op *tool.Operation) { op.Prompt = "Delete {pth}?" }, `prompt names "pth", which the schema does not declare; use one of "disk", "path", "paths"`},
		"count without a list": {func(op *tool.Operation) { op.Prompt = "Delete {count}?" }, `prompt names "count"`},
		"unbalanced":           {func(op *tool.Operation) { op.Prompt = "Delete {path?" }, "unbalanced braces"},
		"closing first":        {func(op *tool.Operation) { op.Prompt = "Delete }path{?" }, "unbalanced braces"},
		"nested":               {func(op *tool.Operation) { op.Prompt = "Delete {{path}}?" }, "unbalanced braces"},
		"empty placeholder":    {func(op *tool.Operation) { op.Prompt = "Delete {}?" }, "empty placeholder"},
		"two lines":            {func(op *tool.Operation) { op.Prompt = "Delete\n{path}?" }, "line breaks"},
		"long prompt":          {func(op *tool.Operation) { op.Prompt = strings.Repeat("x", 501) }, "501 characters"},
		"many placeholders":    {func(op *tool.Operation) { op.Prompt = strings.Repeat("{path}", 21) }, "more than 20 placeholders"},
		"variant undeclared":   {func(op *tool.Operation) { op.Prompts[0].Template = "{x}" }, `prompts[0] names "x"`},
		"variant empty":        {func(op *tool.Operation) { op.Prompts[0].Template = "" }, "prompts[0] has no template"},
		"when undeclared":      {func(op *tool.Operation) { op.Prompts[0].When = "files" }, `when "files" is there`},
		"count undeclared":     {func(op *tool.Operation) { op.Prompts[0].Count = "files" }, `counts "files"`},
		"count of no list":     {func(op *tool.Operation) { op.Prompts[0].Count = "path" }, "is not a list"},
		"schema empty":         {func(op *tool.Operation) { op.Schema = "" }, "schema is empty"},
		"schema not JSON":      {func(op *tool.Operation) { op.Schema = "{" }, "schema is not JSON"},
		"schema twice":         {func(op *tool.Operation) { op.Schema = `{"type":"object","type":"object"}` }, "there twice"},
		"schema no object":     {func(op *tool.Operation) { op.Schema = `{"type":["object","null"]}` }, `must have "type": "object"`},
		"schema true":          {func(op *tool.Operation) { op.Schema = `true` }, "schema is not an object"},
		"schema other draft": {func(op *tool.Operation) {
			op.Schema = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`
		}, "another draft"},
		"schema bad keyword": {func(op *tool.Operation) { op.Schema = `{"type":"object","properties":{"path":{"type":"text"}}}` }, "not a JSON Schema"},
		"schema bad pattern": {func(op *tool.Operation) { op.Schema = `{"type":"object","properties":{"path":{"pattern":"("}}}` }, "not a JSON Schema"},
		"schema elsewhere": {func(op *tool.Operation) {
			op.Schema = `{"type":"object","properties":{"path":{"$ref":"file:///etc/passwd"}}}`
		}, "put it under $defs"},
		"requires undeclared":   {func(op *tool.Operation) { op.Schema = `{"type":"object","required":["path"]}` }, `requires "path"`},
		"handoff without steps": {func(op *tool.Operation) { op.Handoff = &tool.Handoff{Reason: "x"} }, "no steps"},
		"handoff empty step":    {func(op *tool.Operation) { op.Handoff = &tool.Handoff{Reason: "x", Steps: []tool.Step{{}}} }, "step 1 of the handoff has no text"},
		"handoff page": {func(op *tool.Operation) {
			op.Handoff = &tool.Handoff{Reason: "x", Steps: []tool.Step{{Text: "x"}}, Page: "javascript:alert(1)"}
		}, "use an http(s) address, or a path"},
		"handoff no reason": {func(op *tool.Operation) { op.Handoff = &tool.Handoff{Steps: []tool.Step{{Text: "x"}}} }, "no reason"},
		"handoff timeout": {func(op *tool.Operation) {
			op.Handoff = &tool.Handoff{Reason: "x", Steps: []tool.Step{{Text: "x"}}, Timeout: -1}
		}, "handoff's timeout"},
		"handoff empty expect": {func(op *tool.Operation) {
			op.Handoff = &tool.Handoff{Reason: "x", Steps: []tool.Step{{Text: "x"}}, Expect: &tool.Expect{}}
		}, "no check function and no description"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op := deleteOperation()
			tc.change(&op)
			_, _, err := tool.NewRegistry(tool.Tool{Name: "file_manager", Operations: []tool.Operation{op}})
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "file_manager", "the error names the operation")
			var declaration *tool.DeclarationError
			require.ErrorAs(t, err, &declaration)
		})
	}
}

func TestRegistryRefusesACountParameter(t *testing.T) {
	t.Parallel()
	op := deleteOperation()
	op.Schema = `{"type":"object","properties":{"disk":{},"path":{},"paths":{"type":"array"},"count":{"type":"integer"}}}`
	_, _, err := tool.NewRegistry(tool.Tool{Name: "file_manager", Operations: []tool.Operation{op}})
	require.ErrorContains(t, err, "rename the parameter")
}

func TestRegistryReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	bad := deleteOperation()
	bad.Kind, bad.Prompt, bad.Approvers = "risky", "Delete {pth}?", tool.Approvers{Who: "x", Quorum: -2}
	_, _, err := tool.NewRegistry(
		tool.Tool{Name: "a", Operations: []tool.Operation{bad, bad}},
		tool.Tool{Name: "a"},
	)
	for _, want := range []string{
		`a.delete: kind is "risky"`, `a.delete: prompt names "pth"`, `a.delete: approvers.who is "x"`,
		"a.delete: approvers.quorum is -2", "a.delete: two operations have this name",
		"a: two tools have this name", "a: the tool has no operations",
	} {
		require.ErrorContains(t, err, want)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	require.Len(t, joined.Unwrap(), 11)
}

func TestRegistryWarns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op   func() tool.Operation
		want string
	}{
		"danger, confirm false": {func() tool.Operation {
			op := deleteOperation()
			op.Confirm, op.Prompt = tool.ConfirmFalse, ""
			return op
		}, "runs without asking"},
		"handoff without expect": {func() tool.Operation { op := publish(); op.Handoff.Expect = nil; return op }, "never verified"},
		"handoff with run":       {func() tool.Operation { op := publish(); op.Run = run; return op }, "never called"},
		"handoff with confirm":   {func() tool.Operation { op := publish(); op.Confirm = tool.ConfirmAlways; return op }, "confirm has no effect"},
		"open schema": {func() tool.Operation {
			op := publish()
			op.Schema = `{"type":"object","additionalProperties":true}`
			return op
		}, "additionalProperties has no effect"},
		"pattern names": {func() tool.Operation {
			op := publish()
			op.Schema = `{"type":"object","patternProperties":{"^x":{}}}`
			return op
		}, "patternProperties has no effect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op := tc.op()
			_, warnings, err := tool.NewRegistry(tool.Tool{Name: "demo", Operations: []tool.Operation{op}})
			require.NoError(t, err)
			require.Len(t, warnings, 1)
			require.Contains(t, warnings[0].String(), "demo."+op.Name+": ")
			require.Contains(t, warnings[0].Text, tc.want)
		})
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	base := tool.Hash("file_manager", deleteOperation())
	require.Regexp(t, `^[0-9a-f]{64}$`, base)
	same := map[string]func(op *tool.Operation){
		"layout of the schema": func(op *tool.Operation) { op.Schema = strings.ReplaceAll(op.Schema, "\n\t", "    ") },
		"description (G14)":    func(op *tool.Operation) { op.Description = "something else" },
		"approvers in full":    func(op *tool.Operation) { op.Approvers = tool.Approvers{Who: tool.WhoThread, Quorum: 1} },
		"timeout":              func(op *tool.Operation) { op.Timeout = 1 },
	}
	for name, change := range same {
		op := deleteOperation()
		change(&op)
		require.Equal(t, base, tool.Hash("file_manager", op), name)
	}
	differs := map[string]func(op *tool.Operation){
		"kind":     func(op *tool.Operation) { op.Kind = tool.Write },
		"confirm":  func(op *tool.Operation) { op.Confirm = tool.ConfirmTrue },
		"prompt":   func(op *tool.Operation) { op.Prompt += "!" },
		"variant":  func(op *tool.Operation) { op.Prompts[0].Template += "!" },
		"schema":   func(op *tool.Operation) { op.Schema = `{"type":"object"}` },
		"who":      func(op *tool.Operation) { op.Approvers.Who = tool.WhoOther },
		"people":   func(op *tool.Operation) { op.Approvers.People = []string{"ada"} },
		"quorum":   func(op *tool.Operation) { op.Approvers.Quorum = 2 },
		"handoff":  func(op *tool.Operation) { op.Handoff = publish().Handoff },
		"name":     func(op *tool.Operation) { op.Name = "remove" },
		"bad JSON": func(op *tool.Operation) { op.Schema = "{" },
	}
	seen := map[string]string{base: "base", tool.Hash("other", deleteOperation()): "tool"}
	for name, change := range differs {
		op := deleteOperation()
		change(&op)
		hash := tool.Hash("file_manager", op)
		require.NotContains(t, seen, hash, name)
		seen[hash] = name
	}
}

func ExampleNewRegistry() {
	_, _, err := tool.NewRegistry(tool.Tool{Name: "files", Operations: []tool.Operation{{
		Name: "delete", Kind: tool.Danger, Prompt: "Delete {file}?",
		Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`,
		Run:    func(context.Context, tool.Call) (any, error) { return nil, errors.New("not here") },
	}}})
	fmt.Println(err)
	// Output: files.delete: prompt names "file", which the schema does not declare; use one of "path"
}
