package activities_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

var approved = &chat.Decision{Decision: chat.Allow, By: "ada", Via: "telegram", At: start}

func (w *world) runs(t *testing.T, in contract.RunInput) (contract.RunOutput, error) {
	t.Helper()
	return run[contract.RunOutput](t, w, contract.ActivityRun, in)
}

func TestRun(t *testing.T) {
	t.Parallel()
	var called tool.Call
	w := newWorld(t, []tool.Operation{operation(func(op *tool.Operation) {
		op.Run = func(_ context.Context, call tool.Call) (any, error) {
			called = call
			return map[string]string{"done": "yes"}, nil
		}
	})})
	in := invocation(func(i *contract.Invocation) { i.Parameters = []byte(`{ "path": "a" }`) })
	end := closing()
	out, err := w.runs(t, contract.RunInput{Invocation: in, Plan: w.plan(t, in), Close: &end, Decision: approved})
	require.NoError(t, err)
	require.JSONEq(t, `{"done":"yes"}`, string(out.Output))
	require.Equal(t, &contract.Closed{Edited: true}, out.Closed, "the bookkeeping in the same breath")
	require.JSONEq(t, `{"path":"a"}`, string(called.Parameters))
	require.Len(t, called.Parameters, len(`{"path":"a"}`), "what was approved, not what was sent")
	require.Equal(t, "ada", called.Requester)
	require.Equal(t, []contract.Phase{{Begun: true}}, w.phases)
}

// Step 5 of CONTRACT §1.
func TestDrift(t *testing.T) {
	t.Parallel()
	content, open := "one", true
	op := operation(func(op *tool.Operation) {
		op.Contents = func(context.Context, tool.Call) (map[string]string, error) {
			return map[string]string{"a": content}, nil
		}
		op.Available = func(context.Context, tool.Call) error {
			if open {
				return nil
			}
			return tool.Unavailable("gone")
		}
		op.Run = func(context.Context, tool.Call) (any, error) { return nil, errors.New("it was run") }
	})
	scope := error(nil)
	w := newWorld(t, []tool.Operation{op}, func(w *world) {
		w.params.Scope = func(contract.Invocation) error { return scope }
	})
	plan := w.plan(t, invocation())
	drifts := func(change func(*contract.RunInput)) {
		t.Helper()
		in := contract.RunInput{Invocation: invocation(), Plan: plan, Decision: approved}
		change(&in)
		out, err := w.runs(t, in)
		require.NoError(t, err)
		require.Equal(t, contract.RunOutput{Code: "PERMISSION_DENIED", Reason: "drift"}, out)
	}
	same := func(*contract.RunInput) {}
	content = "two" // G14
	drifts(same)
	drifts(func(in *contract.RunInput) { in.Decision, in.Plan.Grant = nil, "g" })
	content, open = "one", false
	drifts(same)
	open, scope = true, errors.New("no more")
	drifts(same)
	scope = nil
	drifts(func(in *contract.RunInput) { in.Plan.Parameters = []byte(`{"path":"b"}`) })
	drifts(func(in *contract.RunInput) { in.Plan.Declaration = "older" })
	require.Empty(t, w.phases, "nothing was begun")
	require.Empty(t, w.entries)

	out, err := w.runs(t, contract.RunInput{Invocation: invocation(), Plan: plan, Decision: approved})
	require.NoError(t, err)
	require.Equal(t, contract.RunOutput{Code: "TOOL_FAILED", Reason: "it was run"}, out, "the test sees the difference")
}

func requireNotBegun(t *testing.T, err error) {
	t.Helper()
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, contract.ErrorNotBegun, failure.Type())
	require.True(t, failure.NonRetryable(), "the workflow decides")
}

// Without Temporal's word that it begins, nothing is begun.
func TestTheFence(t *testing.T) {
	t.Parallel()
	ran := 0
	op := operation(func(op *tool.Operation) {
		op.Run = func(context.Context, tool.Call) (any, error) { ran++; return nil, nil }
	})
	for _, fault := range []string{"heartbeat", "audit"} {
		w := newWorld(t, []tool.Operation{op}, func(w *world) { w.faults[fault] = errAway })
		end := closing()
		_, err := w.runs(t, contract.RunInput{Invocation: invocation(), Plan: w.plan(t, invocation()), Decision: approved, Close: &end})
		requireNotBegun(t, err)
		require.Zero(t, ran, fault)
	}
	w := newWorld(t, nil)
	_, err := w.runs(t, contract.RunInput{Invocation: invocation(func(i *contract.Invocation) { i.Tool = "other" })})
	requireNotBegun(t, err)

	broken := false
	w = newWorld(t, []tool.Operation{operation(func(op *tool.Operation) {
		op.Available = func(context.Context, tool.Call) error {
			if broken {
				return errAway
			}
			return nil
		}
	})})
	plan := w.plan(t, invocation())
	broken = true
	_, err = w.runs(t, contract.RunInput{Invocation: invocation(), Plan: plan, Decision: approved})
	requireNotBegun(t, err)
}

// An idempotent one may be repeated, so it needs no fence and pays for none.
func TestAnIdempotentRunHasNoFence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []tool.Operation{operation(func(op *tool.Operation) { op.Idempotent = true })}, func(w *world) {
		w.faults["heartbeat"] = errAway
	})
	out, err := w.runs(t, contract.RunInput{Invocation: invocation(), Plan: w.plan(t, invocation()), Decision: approved})
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"01J"}`, string(out.Output))
}

func TestHowARunCanEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		run  func(context.Context, tool.Call) (any, error)
		want contract.RunOutput
	}{
		"a plain error": {
			func(context.Context, tool.Call) (any, error) { return nil, errors.New("the disk is full") },
			contract.RunOutput{Code: "TOOL_FAILED", Reason: "the disk is full"},
		},
		"a panic": {
			func(context.Context, tool.Call) (any, error) { panic("oops") },
			contract.RunOutput{Unsettled: true, Reason: "it was cut off while it ran: the tool panicked: oops"},
		},
		"nothing to show": {func(context.Context, tool.Call) (any, error) { return nil, nil }, contract.RunOutput{}},
		"an output that is no JSON": {
			func(context.Context, tool.Call) (any, error) { return make(chan int), nil },
			contract.RunOutput{Output: []byte(`{"warning":"the tool's output could not be shown: json: unsupported type: chan int"}`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []tool.Operation{operation(func(op *tool.Operation) { op.Run = test.run })})
			out, err := w.runs(t, contract.RunInput{Invocation: invocation(), Plan: w.plan(t, invocation()), Decision: approved})
			require.NoError(t, err)
			require.Equal(t, test.want, out)
		})
	}
}

// H10: what is cut off in the middle may have happened, whatever error the tool returns then.
func TestARunThatIsCutOff(t *testing.T) {
	t.Parallel()
	ctx, cut := context.WithCancel(context.Background())
	t.Cleanup(cut)
	w := newWorld(t, []tool.Operation{operation(func(op *tool.Operation) {
		op.Run = func(ctx context.Context, _ tool.Call) (any, error) {
			cut()
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})})
	plan := w.plan(t, invocation())
	w.env.SetWorkerOptions(workerOptions(ctx))
	out, err := w.runs(t, contract.RunInput{Invocation: invocation(), Plan: plan, Decision: approved})
	require.NoError(t, err)
	require.True(t, out.Unsettled)
	require.Empty(t, out.Code)
	require.Contains(t, out.Reason, "cut off")
}

func TestAHandoffIsNeverRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []tool.Operation{handoff(nil)})
	out, err := w.runs(t, contract.RunInput{Invocation: invocation(), Plan: w.plan(t, invocation())})
	require.NoError(t, err)
	require.Equal(t, "TOOL_FAILED", out.Code)
	require.Contains(t, out.Reason, "only a person does it")
}

// CONTRACT §2: each run without a question leaves an entry, and each with one.
func TestAudit(t *testing.T) {
	t.Parallel()
	for kind, test := range map[string]struct {
		op     tool.Operation
		change func(*contract.RunInput)
	}{
		"approved":              {operation(), func(in *contract.RunInput) { in.Decision = approved }},
		"granted":               {operation(with(tool.Write, tool.ConfirmTrue)), func(in *contract.RunInput) { in.Plan.Grant = "g" }},
		"unsupported_connector": {operation(), func(in *contract.RunInput) { in.Plan.Unasked = true }},
		"confirm_false":         {operation(with(tool.Danger, tool.ConfirmFalse)), func(*contract.RunInput) {}},
		"":                      {operation(with(tool.Read, tool.ConfirmUnset)), func(*contract.RunInput) {}},
	} {
		t.Run("kind "+kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []tool.Operation{test.op})
			in := contract.RunInput{Invocation: invocation(), Plan: w.plan(t, invocation())}
			test.change(&in)
			out, err := w.runs(t, in)
			require.NoError(t, err)
			require.Empty(t, out.Code)
			if kind == "" {
				require.Empty(t, w.entries)
				return
			}
			require.Len(t, w.entries, 1)
			require.False(t, w.entries[0].At.IsZero())
			w.entries[0].At = start
			require.Equal(t, activities.AuditEntry{
				At: start, Kind: kind, Invocation: "01J", Tool: "t", Operation: "o", Thread: telegram, Requester: "ada",
				Digest: in.Plan.Digest, Decision: in.Decision,
			}, w.entries[0])
			require.Less(t, indexOf(w.done(), "heartbeat"), indexOf(w.done(), "audit"), "one entry, not one for each try")
		})
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		check func(context.Context, tool.Call) (tool.Outcome, error)
		want  contract.Settled
		err   string
	}{
		"no check":  {nil, contract.Settled{Happened: "unknown"}, ""},
		"done":      {outcome(tool.Outcome{Happened: tool.OutcomeDone, Output: 7}, nil), contract.Settled{Happened: "done", Output: []byte("7")}, ""},
		"not done":  {outcome(tool.Outcome{Happened: tool.OutcomeNotDone}, nil), contract.Settled{Happened: "not_done"}, ""},
		"not known": {outcome(tool.Outcome{}, nil), contract.Settled{Happened: "unknown"}, ""},
		"fails":     {outcome(tool.Outcome{Happened: tool.OutcomeDone}, errAway), contract.Settled{}, "check whether it happened: away"},
	} {
		w := newWorld(t, []tool.Operation{operation(func(op *tool.Operation) { op.Check = test.check })})
		settled, err := run[contract.Settled](t, w, contract.ActivitySettle, contract.CheckInput{
			Invocation: invocation(), Plan: contract.Plan{Parameters: []byte(`{"path":"a"}`)},
		})
		if test.err != "" {
			require.ErrorContains(t, err, test.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, test.want.Happened, settled.Happened, name)
		require.Equal(t, string(test.want.Output), string(settled.Output), name)
	}
	w := newWorld(t, nil)
	settled, err := run[contract.Settled](t, w, contract.ActivitySettle, contract.CheckInput{
		Invocation: invocation(func(i *contract.Invocation) { i.Operation = "gone" }),
	})
	require.NoError(t, err)
	require.Equal(t, "unknown", settled.Happened)
}

func outcome(o tool.Outcome, err error) func(context.Context, tool.Call) (tool.Outcome, error) {
	return func(_ context.Context, call tool.Call) (tool.Outcome, error) {
		if string(call.Parameters) != `{"path":"a"}` {
			return tool.Outcome{}, errors.New("not the frozen parameters")
		}
		return o, err
	}
}

func TestCheckOfAHandoff(t *testing.T) {
	t.Parallel()
	in := contract.CheckInput{Invocation: invocation()}
	for _, done := range []bool{true, false} {
		have, err := run[bool](t, newWorld(t, []tool.Operation{handoff(expecting(done, nil))}), contract.ActivityCheck, in)
		require.NoError(t, err)
		require.Equal(t, done, have)
	}
	_, err := run[bool](t, newWorld(t, []tool.Operation{handoff(expecting(true, errAway))}), contract.ActivityCheck, in)
	require.ErrorContains(t, err, "away")
	_, err = run[bool](t, newWorld(t, []tool.Operation{handoff(nil)}), contract.ActivityCheck, in)
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.True(t, failure.NonRetryable())
}

func TestWatch(t *testing.T) {
	t.Parallel()
	in := contract.CheckInput{Invocation: invocation()}
	looks := 0
	changing := &tool.Expect{Desc: "signed", Observable: true, Check: func(context.Context, tool.Call) (bool, error) {
		looks++
		if looks == 1 {
			return true, errAway // a check that fails is no success
		}
		return true, nil
	}}
	done, err := run[bool](t, newWorld(t, []tool.Operation{handoff(changing)}), contract.ActivityWatch, in)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, 2, looks)

	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	open := &tool.Expect{Desc: "signed", Check: func(context.Context, tool.Call) (bool, error) { end(); return false, nil }}
	w := newWorld(t, []tool.Operation{handoff(open)})
	w.env.SetWorkerOptions(workerOptions(ctx))
	_, err = run[bool](t, w, contract.ActivityWatch, in)
	require.ErrorContains(t, err, "cancel")
}
