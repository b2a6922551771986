package e2e_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// The third seed's five points, told in a terminal.
func TestDemoOfTheWorkspace(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_EXAMPLES": "true"}})
	for answer, want := range map[string][]string{
		"yes": {"completed", "completed", "completed", "cancelled", "cancelled"},
		"no":  {"denied", "denied", "denied", "cancelled", "cancelled"},
	} {
		demo := w.Starter(t, "demo", "workspace", "--answer", answer, "--output", "json")
		require.Equal(t, 0, demo.Code, demo.Stderr)
		require.Contains(t, demo.Stderr, "It stays open. Missing: The workspace changes are published.")
		var report struct{ Calls []contract.State }
		require.NoError(t, json.Unmarshal([]byte(demo.Stdout), &report))
		ends := []string{}
		for _, call := range report.Calls {
			ends = append(ends, call.Status)
		}
		require.Equal(t, want, ends)
		require.Equal(t, "ada", report.Calls[3].Handoff.DecidedBy)
		if answer == "yes" {
			require.Equal(t, "allow_always", report.Calls[0].Approval.Decision.Decision)
			require.Nil(t, report.Calls[1].Approval, "the standing answer covers it")
			require.False(t, report.Calls[2].Approval.Always)
		}
	}
	plain := harness.New(t, harness.Setup{})
	off := plain.Starter(t, "demo", "workspace", "--answer", "yes")
	require.Equal(t, 1, off.Code)
	require.Contains(t, off.Stderr, "COUNTERSIGN_EXAMPLES=true")
}
