package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/contract"
)

var errNobody = errors.New("connection refused")

// lost is a run whose worker died, with the phase it had recorded.
func lost(phase contract.Phase) error { return temporal.NewHeartbeatTimeoutError(phase) }

func settled(happened string) func(context.Context, contract.CheckInput) (contract.Settled, error) {
	return func(context.Context, contract.CheckInput) (contract.Settled, error) {
		return contract.Settled{Happened: happened, Output: json.RawMessage(`{"deleted":["a"]}`)}, nil
	}
}

// H10, F13: a run is never silently repeated, and what nobody knows is said to be unknown.
func TestRunOnce(t *testing.T) {
	t.Parallel()
	begun := contract.Phase{Begun: true, Closed: &contract.Closed{Edited: true}}
	for name, test := range map[string]struct {
		first  error
		settle func(context.Context, contract.CheckInput) (contract.Settled, error)
		runs   int
		status approval.Status
		code   approval.Code
	}{
		"died before it began":           {lost(contract.Phase{}), nil, 2, approval.StatusCompleted, ""},
		"died, and it had happened":      {lost(begun), settled(contract.HappenedDone), 1, approval.StatusCompleted, ""},
		"died, and it had not":           {lost(begun), settled(contract.HappenedNotDone), 2, approval.StatusCompleted, ""},
		"died, and nobody knows":         {lost(begun), settled(contract.HappenedUnknown), 1, approval.StatusUnknown, approval.OutcomeUnknown},
		"failed before it began":         {temporal.NewNonRetryableApplicationError("no heartbeat", contract.ErrorNotBegun, nil), nil, 2, approval.StatusCompleted, ""},
		"failed in a way nobody foresaw": {errNobody, settled(contract.HappenedUnknown), 1, approval.StatusUnknown, approval.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.plan.Mode = string(approval.None)
			w.settle = test.settle
			w.run = func(context.Context, contract.RunInput) (contract.RunOutput, error) {
				if w.runs == 1 {
					return contract.RunOutput{}, test.first
				}
				return contract.RunOutput{Output: json.RawMessage(`{}`)}, nil
			}
			result := w.invocation()
			require.Equal(t, string(test.status), result.Status, result.Reason)
			require.Equal(t, string(test.code), result.Code)
			require.Equal(t, test.runs, w.runs)
		})
	}
}

func TestARunThatNeverBeginsEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plan.Mode = string(approval.None)
	w.run = func(context.Context, contract.RunInput) (contract.RunOutput, error) {
		return contract.RunOutput{}, temporal.NewNonRetryableApplicationError("this worker does not know it", contract.ErrorNotBegun, nil)
	}
	result := w.invocation()
	require.Equal(t, "TOOL_FAILED", result.Code)
	require.Contains(t, result.Reason, "does not know it")
}

func TestUnknownIsToldToThePerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle = settled(contract.HappenedUnknown)
	w.run = func(context.Context, contract.RunInput) (contract.RunOutput, error) {
		return contract.RunOutput{Unsettled: true, Reason: "cut off"}, nil
	}
	w.after(time.Second, w.says(ada, "yes"))
	result := w.invocation()
	require.Equal(t, "unknown", result.Status)
	require.Len(t, w.told, 1)
	require.Contains(t, w.told[0], "not known whether")
	require.Equal(t, "approved", result.Approval.Status, "the approval stands, whatever became of the run")
	require.Len(t, w.closes, 2, "a close that the run could not confirm is repeated")
}

func TestOutcomesAreValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		plan   contract.Plan
		out    contract.RunOutput
		status approval.Status
	}{
		"invalid parameters": {contract.Plan{Code: "INVALID_PARAMETERS", Reason: "path is missing"}, contract.RunOutput{}, approval.StatusFailed},
		"no approver":        {contract.Plan{Code: "PERMISSION_DENIED", Reason: "no_approver"}, contract.RunOutput{}, approval.StatusDenied},
		"tool failed":        {contract.Plan{Mode: "none"}, contract.RunOutput{Code: "TOOL_FAILED", Reason: "disk full"}, approval.StatusFailed},
		"drift":              {contract.Plan{Mode: "none"}, contract.RunOutput{Code: "PERMISSION_DENIED", Reason: "drift"}, approval.StatusDenied},
		"unknown mode":       {contract.Plan{Mode: "later"}, contract.RunOutput{}, approval.StatusFailed},
		"no mode":            {contract.Plan{}, contract.RunOutput{}, approval.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.plan = test.plan
			w.run = func(context.Context, contract.RunInput) (contract.RunOutput, error) { return test.out, nil }
			result := w.invocation()
			require.Equal(t, string(test.status), result.Status)
			if test.plan.Mode != "none" {
				require.Zero(t, w.runs)
			}
		})
	}
}
