package approval_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/tool"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	handoff := &tool.Handoff{}
	for _, tc := range []struct {
		kind    tool.Kind
		confirm tool.Confirm
		handoff *tool.Handoff
		want    approval.Mode
	}{
		{tool.Read, tool.ConfirmUnset, nil, approval.None},
		{tool.Write, tool.ConfirmUnset, nil, approval.None},
		{tool.Danger, tool.ConfirmUnset, nil, approval.AskAlways},
		{tool.Read, tool.ConfirmTrue, nil, approval.Ask},
		{tool.Write, tool.ConfirmTrue, nil, approval.Ask},
		{tool.Danger, tool.ConfirmTrue, nil, approval.AskAlways},
		{tool.Read, tool.ConfirmAlways, nil, approval.AskAlways},
		{tool.Write, tool.ConfirmAlways, nil, approval.AskAlways},
		{tool.Danger, tool.ConfirmAlways, nil, approval.AskAlways},
		{tool.Read, tool.ConfirmFalse, nil, approval.None},
		{tool.Write, tool.ConfirmFalse, nil, approval.None},
		{tool.Danger, tool.ConfirmFalse, nil, approval.None},
		{tool.Danger, tool.ConfirmAlways, handoff, approval.ByHandoff},
		{tool.Read, tool.ConfirmFalse, handoff, approval.ByHandoff},
		{"", tool.ConfirmUnset, nil, approval.AskAlways},
		{"", tool.ConfirmFalse, nil, approval.AskAlways},
		{tool.Read, "maybe", nil, approval.AskAlways},
	} {
		got := approval.Resolve(tool.Operation{Kind: tc.kind, Confirm: tc.confirm, Handoff: tc.handoff})
		require.Equal(t, tc.want, got, "%s, confirm %q", tc.kind, tc.confirm)
		require.Equal(t, tc.want == approval.Ask, approval.OffersAlways(got))
	}
	require.Equal(t, approval.AskAlways, approval.Resolve(tool.Operation{}), "the zero value asks")
	require.False(t, approval.OffersAlways(""))
}

// The registry refuses an operation without a prompt exactly where it would ask.
func TestResolveAgreesWithTheRegistry(t *testing.T) {
	t.Parallel()
	for _, kind := range []tool.Kind{tool.Read, tool.Write, tool.Danger} {
		for _, confirm := range []tool.Confirm{tool.ConfirmUnset, tool.ConfirmTrue, tool.ConfirmAlways, tool.ConfirmFalse} {
			op := tool.Operation{Name: "op", Kind: kind, Confirm: confirm, Schema: `{"type":"object"}`, Run: nothing}
			mode := approval.Resolve(op)
			_, _, err := tool.NewRegistry(tool.Tool{Name: "t", Operations: []tool.Operation{op}})
			if mode == approval.None {
				require.NoError(t, err, "%s %q", kind, confirm)
			} else {
				require.ErrorContains(t, err, "has no prompt", "%s %q", kind, confirm)
			}
		}
	}
}

func nothing(context.Context, tool.Call) (any, error) { return nil, nil }

func TestApply(t *testing.T) {
	t.Parallel()
	type approvers = tool.Approvers
	deleting := tool.Operation{Name: "delete", Kind: tool.Danger, Prompt: "Delete {path}?", Schema: `{"type":"object","properties":{"path":{}}}`}
	asking := tool.Operation{Name: "send", Kind: tool.Write, Confirm: tool.ConfirmTrue, Prompt: "Send?"}
	writing := tool.Operation{Name: "append", Kind: tool.Write, Schema: `{"type":"object","properties":{"path":{},"disk":{}}}`}
	publishing := tool.Operation{Name: "publish", Kind: tool.Write, Handoff: &tool.Handoff{Timeout: time.Minute}}
	with := func(op tool.Operation, a approvers) tool.Operation { op.Approvers = a; return op }
	list := func(quorum int, people ...string) approvers {
		return approvers{Who: tool.WhoList, People: people, Quorum: quorum}
	}
	for name, tc := range map[string]struct {
		op       tool.Operation
		override approval.Override
		// wrong is what the error says; empty where it applies.
		wrong string
		// looser tells that loosen: true makes it apply.
		looser bool
	}{
		"nothing":                     {op: deleting},
		"contract's example":          {op: deleting, override: approval.Override{Timeout: 120 * time.Second, Approvers: approvers{Who: tool.WhoOther, Quorum: 1}}},
		"longer timeout":              {op: deleting, override: approval.Override{Timeout: time.Hour}},
		"shorter timeout":             {op: deleting, override: approval.Override{Timeout: time.Second}},
		"negative timeout":            {op: deleting, override: approval.Override{Timeout: -1}, wrong: "use a positive time"},
		"danger: false":               {op: deleting, override: approval.Override{Confirm: tool.ConfirmFalse}, wrong: "confirm: false is looser", looser: true},
		"danger: true stays always":   {op: deleting, override: approval.Override{Confirm: tool.ConfirmTrue}},
		"danger: always":              {op: deleting, override: approval.Override{Confirm: tool.ConfirmAlways}},
		"ask: always":                 {op: asking, override: approval.Override{Confirm: tool.ConfirmAlways}},
		"ask: false":                  {op: asking, override: approval.Override{Confirm: tool.ConfirmFalse}, wrong: "runs without asking instead of asks", looser: true},
		"always: true":                {op: tool.Operation{Kind: tool.Write, Confirm: tool.ConfirmAlways, Prompt: "x"}, override: approval.Override{Confirm: tool.ConfirmTrue}, wrong: "instead of asks every time", looser: true},
		"none: true":                  {op: writing, override: approval.Override{Confirm: tool.ConfirmTrue}},
		"unknown confirm":             {op: writing, override: approval.Override{Confirm: "maybe"}, wrong: "use true, always or false"},
		"handoff: confirm":            {op: publishing, override: approval.Override{Confirm: tool.ConfirmAlways}, wrong: "no effect on an operation with a handoff"},
		"handoff: timeout":            {op: publishing, override: approval.Override{Timeout: time.Hour}},
		"thread to requester":         {op: deleting, override: approval.Override{Approvers: approvers{Who: tool.WhoRequester}}},
		"thread to list":              {op: deleting, override: approval.Override{Approvers: list(0, "ada")}},
		"thread, more people":         {op: deleting, override: approval.Override{Approvers: approvers{Quorum: 2}}},
		"thread, fewer people":        {op: with(deleting, approvers{Quorum: 2}), override: approval.Override{Approvers: approvers{Quorum: 1}}, wrong: "a quorum of 1 instead of 2", looser: true},
		"quorum not named stays":      {op: with(deleting, approvers{Quorum: 2}), override: approval.Override{Approvers: approvers{Who: tool.WhoOther}}},
		"two to the requester":        {op: with(deleting, approvers{Quorum: 2}), override: approval.Override{Approvers: approvers{Who: tool.WhoRequester}}, wrong: "use a quorum of 1"},
		"requester to thread":         {op: with(deleting, approvers{Who: tool.WhoRequester}), override: approval.Override{Approvers: approvers{Who: tool.WhoThread}}, wrong: "thread instead of requester", looser: true},
		"requester to other":          {op: with(deleting, approvers{Who: tool.WhoRequester}), override: approval.Override{Approvers: approvers{Who: tool.WhoOther}}, wrong: "other instead of requester", looser: true},
		"other to requester (H02)":    {op: with(deleting, approvers{Who: tool.WhoOther}), override: approval.Override{Approvers: approvers{Who: tool.WhoRequester}}, wrong: "requester instead of other", looser: true},
		"other to thread":             {op: with(deleting, approvers{Who: tool.WhoOther}), override: approval.Override{Approvers: approvers{Who: tool.WhoThread}}, wrong: "thread instead of other", looser: true},
		"other to list":               {op: with(deleting, approvers{Who: tool.WhoOther}), override: approval.Override{Approvers: list(0, "ada")}, wrong: "list instead of other", looser: true},
		"list to thread":              {op: with(deleting, list(0, "ada")), override: approval.Override{Approvers: approvers{Who: tool.WhoThread}}, wrong: "thread instead of list", looser: true},
		"list to other":               {op: with(deleting, list(0, "ada")), override: approval.Override{Approvers: approvers{Who: tool.WhoOther}}, wrong: "other instead of list", looser: true},
		"shorter list":                {op: with(deleting, list(0, "ada", "bob")), override: approval.Override{Approvers: approvers{People: []string{"bob"}}}},
		"longer list":                 {op: with(deleting, list(0, "ada")), override: approval.Override{Approvers: approvers{People: []string{"ada", "eve\u202e"}}}, wrong: `the list also has eve\u{202E}`, looser: true},
		"list, greater quorum":        {op: with(deleting, list(1, "ada", "bob")), override: approval.Override{Approvers: approvers{Quorum: 2}}},
		"list, unreachable quorum":    {op: with(deleting, list(0, "ada")), override: approval.Override{Approvers: approvers{Quorum: 2}}, wrong: "could never be reached"},
		"list of nobody":              {op: deleting, override: approval.Override{Approvers: approvers{Who: tool.WhoList}}, wrong: "nobody could answer"},
		"people without list":         {op: deleting, override: approval.Override{Approvers: approvers{People: []string{"ada"}}}, wrong: "only for approvers.who: list"},
		"unknown who":                 {op: deleting, override: approval.Override{Approvers: approvers{Who: "all"}}, wrong: "use thread, requester, other or list"},
		"nobody was asked, any goes":  {op: with(writing, list(0, "ada")), override: approval.Override{Confirm: tool.ConfirmTrue, Approvers: approvers{Who: tool.WhoThread}}},
		"handoff: approvers too":      {op: with(publishing, approvers{Who: tool.WhoOther}), override: approval.Override{Approvers: approvers{Who: tool.WhoThread}}, wrong: "thread instead of other", looser: true},
		"loosen does not cure faults": {op: deleting, override: approval.Override{Confirm: "x", Loosen: true}, wrong: "use true, always or false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := approval.Apply(tc.op, tc.override)
			if tc.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.wrong)
			require.Empty(t, got.Name, "no operation comes with an error")
			tc.override.Loosen = true
			_, err = approval.Apply(tc.op, tc.override)
			if tc.looser {
				require.NoError(t, err)
			} else {
				require.Error(t, err)
			}
		})
	}

	t.Run("what comes out", func(t *testing.T) {
		t.Parallel()
		got, err := approval.Apply(deleting, approval.Override{Confirm: tool.ConfirmFalse, Timeout: time.Hour, Approvers: list(2, "ada", "bob"), Loosen: true})
		require.NoError(t, err)
		require.Equal(t, approval.None, approval.Resolve(got))
		require.Equal(t, time.Hour, got.Timeout)
		require.Equal(t, list(2, "ada", "bob"), got.Approvers)

		got, err = approval.Apply(publishing, approval.Override{Timeout: time.Hour})
		require.NoError(t, err)
		require.Equal(t, time.Hour, got.Handoff.Timeout)
		require.Equal(t, time.Minute, publishing.Handoff.Timeout, "the declaration stays as it is")

		got, err = approval.Apply(writing, approval.Override{Confirm: tool.ConfirmTrue})
		require.NoError(t, err)
		require.Equal(t, "Run append with disk: {disk}, path: {path}?", got.Prompt)
		require.NotEqual(t, tool.Hash("t", writing), tool.Hash("t", got), "a stricter configuration voids grants")
	})

	t.Run("all at once", func(t *testing.T) {
		t.Parallel()
		_, err := approval.Apply(with(deleting, approvers{Who: tool.WhoOther, Quorum: 2}),
			approval.Override{Confirm: tool.ConfirmFalse, Approvers: approvers{Who: tool.WhoThread, Quorum: 1}})
		require.ErrorContains(t, err, "confirm: false is looser")
		require.ErrorContains(t, err, "a quorum of 1 instead of 2, thread instead of other")
		require.ErrorContains(t, err, "loosen: true")
	})
}

func ExampleApply() {
	declared := tool.Operation{Name: "delete", Kind: tool.Danger, Prompt: "Delete {path}?"}
	_, err := approval.Apply(declared, approval.Override{Confirm: tool.ConfirmFalse})
	fmt.Println(err)
	// Output: confirm: false is looser than the declaration (runs without asking instead of asks every time); remove it, or add loosen: true if that is meant
}
