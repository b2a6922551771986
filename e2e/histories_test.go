package e2e_test

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
	"github.com/countersignhq/countersign/workflows"
)

// recorder collects histories and replays them; with COUNTERSIGN_RECORD_HISTORIES=1 it also keeps
// them for the replay tests of package workflows.
type recorder struct {
	mu    sync.Mutex
	files map[string]*historypb.History
}

// take takes all runs of a workflow, under a name of the form scenario.workflow.
func (r *recorder) take(t *testing.T, w *harness.World, name, workflowID string) []*historypb.History {
	t.Helper()
	runs := w.Histories(t, workflowID)
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, run := range runs {
		file := name
		if len(runs) > 1 {
			file += fmt.Sprintf(".%d", n+1)
		}
		require.NotContains(t, r.files, file)
		r.files[file] = run
	}
	return runs
}

func (r *recorder) invocation(t *testing.T, w *harness.World, scenario, id string) {
	t.Helper()
	r.take(t, w, scenario+".invocation", contract.InvocationID(id))
}

// conversation takes the conversation of a thread, and its turns as its history names them.
func (r *recorder) conversation(t *testing.T, w *harness.World, scenario, connectorAndKey string) []*historypb.History {
	t.Helper()
	runs := r.take(t, w, scenario+".conversation", "conversation/"+connectorAndKey)
	turns := 0
	for _, run := range runs {
		for _, event := range run.Events {
			child := event.GetStartChildWorkflowExecutionInitiatedEventAttributes()
			if child == nil {
				continue
			}
			turns++
			r.take(t, w, fmt.Sprintf("%s.turn%d", scenario, turns), child.GetWorkflowId())
		}
	}
	return runs
}

// Histories of every way a question can go, recorded from the real thing.
func TestHistories(t *testing.T) {
	t.Parallel()
	r := &recorder{files: map[string]*historypb.History{}}
	t.Run("scenarios", func(t *testing.T) {
		t.Run("questions", func(t *testing.T) { t.Parallel(); recordQuestions(t, r) })
		t.Run("the engine is down over the deadline", func(t *testing.T) { t.Parallel(); recordDown(t, r) })
		t.Run("the worker of a run dies", func(t *testing.T) { t.Parallel(); recordSettled(t, r) })
		t.Run("continue as new", func(t *testing.T) { t.Parallel(); recordContinued(t, r) })
		t.Run("polling", func(t *testing.T) { t.Parallel(); recordListener(t, r) })
	})
	if t.Failed() {
		return
	}
	// A replay that waits for a busy machine is no deadlock.
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	require.NoError(t, err)
	workflows.Register(replayer)
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		require.NoError(t, replayer.ReplayWorkflowHistory(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), r.files[name]), name)
	}
	if os.Getenv("COUNTERSIGN_RECORD_HISTORIES") == "1" {
		r.save(t)
	}
}

// save adds what has another shape than all that was recorded under its name before. Nothing is
// taken away: a workflow that an older version began may still be running somewhere.
func (r *recorder) save(t *testing.T) {
	t.Helper()
	root, err := harness.Repository()
	require.NoError(t, err)
	folder := filepath.Join(root, "workflows", "testdata", "histories")
	require.NoError(t, os.MkdirAll(folder, 0o750))
	for name, history := range r.files {
		file := filepath.Join(folder, name+".json")
		for n := 2; ; n++ {
			before, there := harness.LoadHistory(t, file)
			if !there {
				harness.SaveHistory(t, file, history)
			}
			if !there || harness.Shape(before) == harness.Shape(history) {
				break
			}
			file = filepath.Join(folder, fmt.Sprintf("%s@%d.json", name, n))
		}
	}
}
