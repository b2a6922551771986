package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

func with(kind tool.Kind, confirm tool.Confirm) func(*tool.Operation) {
	return func(op *tool.Operation) { op.Kind, op.Confirm = kind, confirm }
}

func on(connector, key string) func(*contract.Invocation) {
	return func(in *contract.Invocation) { in.Thread = chat.Thread{Connector: connector, Key: key} }
}

func unavailable(context.Context, tool.Call) error { return tool.Unavailable("the path is protected") }

// CONTRACT §1, steps 1 to 3: the first that fails ends the invocation, as a value.
func TestPlanEndsAtTheFirstStepThatFails(t *testing.T) {
	t.Parallel()
	forbidden := func(w *world) {
		w.params.Scope = func(contract.Invocation) error { return errors.New("not for you") }
	}
	for name, test := range map[string]struct {
		ops    []tool.Operation
		in     func(*contract.Invocation)
		change func(*world)
		code   string
		reason string
	}{
		"1 missing":      {in: func(i *contract.Invocation) { i.Parameters = []byte(`{}`) }, code: "INVALID_PARAMETERS", reason: "path"},
		"1 nothing":      {in: func(i *contract.Invocation) { i.Parameters = nil }, code: "INVALID_PARAMETERS", reason: "path"},
		"1 wrong type":   {in: func(i *contract.Invocation) { i.Parameters = []byte(`{"path":1}`) }, code: "INVALID_PARAMETERS", reason: "must be a text"},
		"1 unknown name": {in: func(i *contract.Invocation) { i.Parameters = []byte(`{"path":"a","x":1}`) }, code: "INVALID_PARAMETERS", reason: "x"},
		"1 duplicate":    {in: func(i *contract.Invocation) { i.Parameters = []byte(`{"path":"a","path":"b"}`) }, code: "INVALID_PARAMETERS", reason: "path"},
		"1 before 2":     {in: func(i *contract.Invocation) { i.Parameters = []byte(`{}`) }, change: forbidden, code: "INVALID_PARAMETERS"},
		"2 no such operation": {
			in: func(i *contract.Invocation) { i.Operation = "a\u202eb" }, code: "OUT_OF_SCOPE",
			reason: `there is no operation a\u{202E}b of a tool t`,
		},
		"2 scope": {change: forbidden, code: "OUT_OF_SCOPE", reason: "not for you"},
		"2 before 3": {
			ops: []tool.Operation{operation(func(op *tool.Operation) { op.Available = unavailable })}, change: forbidden, code: "OUT_OF_SCOPE",
		},
		"3 availability": {
			ops:  []tool.Operation{operation(func(op *tool.Operation) { op.Available = unavailable })},
			code: "UNAVAILABLE", reason: "the path is protected",
		},
		"3 content": {
			ops: []tool.Operation{operation(func(op *tool.Operation) {
				op.Contents = func(context.Context, tool.Call) (map[string]string, error) { return nil, tool.Unavailable("gone") }
			})},
			code: "UNAVAILABLE", reason: "gone",
		},
		"4 nobody to ask": {
			in: on(chat.API, "k"), change: func(w *world) { w.params.Defaults.Unsupported = "deny" },
			code: "PERMISSION_DENIED", reason: "no_approver",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := invocation()
			if test.in != nil {
				test.in(&in)
			}
			change := []func(*world){}
			if test.change != nil {
				change = append(change, test.change)
			}
			plan := newWorld(t, test.ops, change...).plan(t, in)
			require.Equal(t, test.code, plan.Code)
			require.Contains(t, plan.Reason, test.reason)
			require.NotContains(t, plan.Reason, "\u202e")
			require.Empty(t, plan.Mode, "nothing is frozen that could run")
		})
	}
}

// What is no answer about the call is an error, which Temporal retries.
func TestPlanFailsWhereTheWorldIsBroken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []tool.Operation{operation(func(op *tool.Operation) {
		op.Available = func(context.Context, tool.Call) error { return errAway }
	})})
	_, err := run[contract.Plan](t, w, contract.ActivityPlan, invocation())
	require.ErrorContains(t, err, "away")
}

// The table of CONTRACT §2.
func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind    tool.Kind
		confirm tool.Confirm
		mode    string
		always  bool
	}{
		{tool.Read, tool.ConfirmUnset, "none", false},
		{tool.Write, tool.ConfirmUnset, "none", false},
		{tool.Read, tool.ConfirmTrue, "ask", true},
		{tool.Write, tool.ConfirmTrue, "ask", true},
		{tool.Danger, tool.ConfirmUnset, "ask_always", false},
		{tool.Danger, tool.ConfirmTrue, "ask_always", false},
		{tool.Read, tool.ConfirmAlways, "ask_always", false},
		{tool.Danger, tool.ConfirmAlways, "ask_always", false},
		{tool.Write, tool.ConfirmFalse, "none", false},
		{tool.Danger, tool.ConfirmFalse, "none", false},
	} {
		plan := newWorld(t, []tool.Operation{operation(with(test.kind, test.confirm))}).plan(t, invocation())
		require.Equal(t, test.mode, plan.Mode, "%s %s", test.kind, test.confirm)
		require.Equal(t, test.always, plan.OfferAlways)
		require.False(t, plan.Unasked)
		if test.mode == "none" {
			require.Empty(t, plan.Prompt)
		} else {
			require.Equal(t, "⚠️ Delete a? Reply 'Yes' to confirm.", plan.Prompt)
		}
	}
}

func TestPlanIsFrozen(t *testing.T) {
	t.Parallel()
	op := operation(func(op *tool.Operation) {
		op.Timeout, op.RunTimeout, op.Idempotent = 7*time.Second, time.Hour, true
		op.Approvers = tool.Approvers{Who: tool.WhoList, People: []string{"bob", "ada", "bob"}, Quorum: 2}
		op.Contents = func(_ context.Context, call tool.Call) (map[string]string, error) {
			return map[string]string{string(call.Parameters): "hash"}, nil
		}
	})
	w := newWorld(t, []tool.Operation{op}, func(w *world) { w.params.Defaults.Queue = true })
	in := invocation(func(i *contract.Invocation) { i.Parameters = []byte(" {\n\"path\" : \"a\" } ") })
	plan := w.plan(t, in)
	require.JSONEq(t, `{"path":"a"}`, string(plan.Parameters))
	require.Len(t, plan.Parameters, len(`{"path":"a"}`), "canonical: no blanks")
	require.Equal(t, telegram, plan.Thread)
	require.Equal(t, tool.Approvers{Who: tool.WhoList, People: []string{"ada", "bob"}, Quorum: 2}, plan.Approvers)
	require.Equal(t, 7*time.Second, plan.Timeout)
	require.Equal(t, time.Hour, plan.RunTimeout)
	require.True(t, plan.Queue)
	require.True(t, plan.Repeatable)
	require.Equal(t, tool.Hash("t", op), plan.Declaration)
	require.Equal(t, plan.Digest, w.plan(t, invocation()).Digest, "the layout does not matter")

	plain := newWorld(t, nil).plan(t, invocation())
	require.NotEqual(t, plan.Digest, plain.Digest, "the content does")
	require.Equal(t, 120*time.Second, plain.Timeout, "CONTRACT §3")
	require.Equal(t, tool.Approvers{Who: tool.WhoThread, Quorum: 1}, plain.Approvers)
}

// CONTRACT §2: connectors that cannot ask.
func TestWhereNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	route := chat.Thread{Connector: chat.Slack, Key: "C01:1"}
	for name, test := range map[string]struct {
		connector, unsupported string
		route                  chat.Thread
		confirm                tool.Confirm
		mode, code             string
		thread                 chat.Thread
		unasked                bool
	}{
		"run":                        {connector: chat.API, unsupported: "run", mode: "none", unasked: true},
		"the default":                {connector: chat.Terminal, mode: "none", unasked: true},
		"an unknown connector":       {connector: "fax", unsupported: "run", mode: "none", unasked: true},
		"deny":                       {connector: chat.API, unsupported: "deny", code: "PERMISSION_DENIED"},
		"route":                      {connector: chat.API, unsupported: "route", route: route, mode: "ask_always", thread: route},
		"route to nowhere":           {connector: chat.API, unsupported: "route", code: "PERMISSION_DENIED"},
		"route to one that cannot":   {connector: chat.API, unsupported: "route", route: chat.Thread{Connector: chat.API, Key: "k"}, code: "PERMISSION_DENIED"},
		"what asks nobody anyway":    {connector: chat.API, unsupported: "deny", confirm: tool.ConfirmFalse, mode: "none"},
		"one that can, whatever set": {connector: chat.Web, unsupported: "deny", mode: "ask_always"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []tool.Operation{operation(with(tool.Danger, test.confirm))}, func(w *world) {
				w.params.Defaults.Unsupported, w.params.Defaults.Route = test.unsupported, test.route
			})
			plan := w.plan(t, invocation(on(test.connector, "k")))
			require.Equal(t, test.mode, plan.Mode)
			require.Equal(t, test.code, plan.Code)
			require.Equal(t, test.unasked, plan.Unasked)
			if test.code != "" {
				require.Equal(t, "no_approver", plan.Reason)
				return
			}
			if test.thread == (chat.Thread{}) {
				test.thread = chat.Thread{Connector: test.connector, Key: "k"}
			}
			require.Equal(t, test.thread, plan.Thread)
		})
	}
}

// "Always allow" is for the conversation of the call; the route's is another one.
func TestARoutedQuestionOffersNoGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []tool.Operation{operation(with(tool.Write, tool.ConfirmTrue))}, func(w *world) {
		w.params.Defaults.Unsupported, w.params.Defaults.Route = "route", telegram
	})
	plan := w.plan(t, invocation(on(chat.API, "k")))
	require.Equal(t, "ask", plan.Mode)
	require.False(t, plan.OfferAlways)
}

func TestGrants(t *testing.T) {
	t.Parallel()
	asks := operation(with(tool.Write, tool.ConfirmTrue))
	raised := operation(with(tool.Danger, tool.ConfirmTrue))
	good := contract.Grant{ID: "g", Tool: "t", Operation: "o", By: "bob", For: "ada", Declaration: tool.Hash("t", asks)}
	for name, test := range map[string]struct {
		op     tool.Operation
		grant  func(*contract.Grant)
		in     func(*contract.Invocation)
		fault  error
		covers bool
	}{
		"covers":              {op: asks, covers: true},
		"another operation":   {op: asks, grant: func(g *contract.Grant) { g.Operation = "x" }},
		"another tool":        {op: asks, grant: func(g *contract.Grant) { g.Tool = "x" }},
		"another person":      {op: asks, in: func(i *contract.Invocation) { i.Requester = chat.Person{ID: "telegram:2", Name: "eve"} }},
		"nobody":              {op: asks, in: func(i *contract.Invocation) { i.Requester = chat.Person{} }},
		"another declaration": {op: asks, grant: func(g *contract.Grant) { g.Declaration = "old" }},
		"raised to danger":    {op: raised, grant: func(g *contract.Grant) { g.Declaration = tool.Hash("t", raised) }},
		"cannot be read":      {op: asks, fault: errAway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			grant, in := good, invocation()
			if test.grant != nil {
				test.grant(&grant)
			}
			if test.in != nil {
				test.in(&in)
			}
			w := newWorld(t, []tool.Operation{test.op}, func(w *world) {
				w.grants = []contract.Grant{{ID: "other"}, grant}
				if w.faults["standing"] = test.fault; test.fault != nil {
					w.grants = nil
				}
			})
			plan := w.plan(t, in)
			if test.covers {
				require.Equal(t, "none", plan.Mode)
				require.Equal(t, "g", plan.Grant)
				require.Empty(t, plan.Prompt)
				return
			}
			require.Contains(t, []string{"ask", "ask_always"}, plan.Mode)
			require.Empty(t, plan.Grant)
			require.NotEmpty(t, plan.Prompt)
		})
	}
}

func handoff(expect *tool.Expect) tool.Operation {
	return operation(func(op *tool.Operation) {
		op.Prompt, op.Run = "", nil
		op.Handoff = &tool.Handoff{Reason: "Only you can.", Steps: []tool.Step{{Text: "Sign.", Highlight: "sign"}}, Expect: expect}
	})
}

func expecting(done bool, err error) *tool.Expect {
	return &tool.Expect{Desc: "the contract is signed", Observable: true, Check: func(context.Context, tool.Call) (bool, error) { return done, err }}
}

func TestPlanAHandoff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		expect    *tool.Expect
		satisfied bool
	}{
		"no check":      {},
		"open":          {expect: expecting(false, nil)},
		"satisfied":     {expect: expecting(true, nil), satisfied: true},
		"a check fails": {expect: expecting(true, errAway)}, // never a success
	} {
		plan := newWorld(t, []tool.Operation{handoff(test.expect)}).plan(t, invocation())
		require.Equal(t, "handoff", plan.Mode, name)
		require.Equal(t, "👉 Only you can.\n1. Sign.\nReply 'Done' when it is done, or 'Cancel'.", plan.Prompt, "what is posted")
		want := &contract.Handoff{
			Reason: "Only you can.", Steps: []tool.Step{{Text: "Sign.", Highlight: "sign"}}, Timeout: 5 * time.Minute, Satisfied: test.satisfied,
		}
		if test.expect != nil {
			want.Expects, want.Observable = "the contract is signed", true
		}
		require.Equal(t, want, plan.Handoff, name)
	}
	nobody := newWorld(t, []tool.Operation{handoff(nil)}).plan(t, invocation(on(chat.API, "k")))
	require.Equal(t, "PERMISSION_DENIED", nobody.Code, "nobody there could do it, and the contract is no gate for a person's step")
}
