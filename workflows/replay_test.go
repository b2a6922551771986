package workflows_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/workflows"
)

// quiet: a replay that fails returns why.
var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

const histories = "testdata/histories"

// recorded are the scenarios that have to be there; `make histories` records them, and more.
var recorded = []string{
	"approved_by_decision.invocation", "approved_by_decision.conversation",
	"approved_by_text.invocation", "approved_by_text.conversation", "approved_by_text.turn1",
	"approved_by_button.invocation", "approved_by_quorum.invocation", "approved_by_redis.invocation",
	"always_allowed.invocation", "always_allowed.turn2",
	"denied.invocation", "denied.turn1", "denied_without_a_turn.invocation",
	"timed_out.invocation", "superseded.invocation", "superseding.invocation", "withdrawn.invocation",
	"cancelled.invocation", "undeliverable.invocation", "unavailable.invocation", "not_asked.invocation",
	"down_answered_in_time.invocation", "down_answered_in_time.conversation",
	"down_answered_late.invocation", "down_answered_late.conversation", "down_not_answered.invocation",
	"settled.invocation", "outcome_unknown.invocation",
	"approved_by_quorum.invocation@2", "always_allowed.conversation@2", // with what version markers decide
	"continued_as_new.conversation.1", "continued_as_new.conversation.2", "continued_as_new.invocation",
	"continued_as_new.inbox.1", "album.conversation", "handoff_cancelled.invocation", "handoff_timed_out.invocation", "polling.listener",
}

// Every history that was recorded from the real thing replays on the workflows as they are now:
// a workflow that is running while the program is replaced goes on.
func TestReplay(t *testing.T) {
	t.Parallel()
	files := historyFiles(t)
	for _, name := range recorded {
		require.Contains(t, files, filepath.Join(histories, name+".json"), "record it with `make histories`")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			replayer := newReplayer(t)
			workflows.Register(replayer)
			require.NoError(t, replayer.ReplayWorkflowHistory(quiet, history(t, file)))
		})
	}
}

// The guard works: a workflow that does one thing more before it waits does not get through.
func TestReplayNoticesAChange(t *testing.T) {
	t.Parallel()
	for kind, more := range map[string]func(ctx workflow.Context){
		"an activity": func(ctx workflow.Context) {
			o := workflow.ActivityOptions{StartToCloseTimeout: time.Minute}
			_ = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), contract.ActivityAlive, "x").Get(ctx, nil)
		},
		"a local activity": func(ctx workflow.Context) {
			o := workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute}
			_ = workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, o), contract.ActivityAlive, "x").Get(ctx, nil)
		},
		"a timer": func(ctx workflow.Context) { _ = workflow.Sleep(ctx, time.Second) },
	} {
		changed := func(ctx workflow.Context, in contract.Invocation) (contract.Result, error) {
			more(ctx)
			return workflows.ToolInvocation(ctx, in)
		}
		replayed := 0
		for _, file := range historyFiles(t) {
			h := history(t, file)
			if typeOf(h) != contract.WorkflowToolInvocation {
				continue
			}
			replayer := newReplayer(t)
			replayer.RegisterWorkflowWithOptions(changed, workflow.RegisterOptions{Name: contract.WorkflowToolInvocation})
			require.Error(t, replayer.ReplayWorkflowHistory(quiet, h), "%s more gets through %s", kind, file)
			replayed++
		}
		require.NotZero(t, replayed)
	}
}

// A conversation that was continued as new carries its pending question over.
func TestReplayedConversationCarriesItsQuestionOver(t *testing.T) {
	t.Parallel()
	h := history(t, filepath.Join(histories, "continued_as_new.conversation.1.json"))
	last := h.Events[len(h.Events)-1]
	require.Equal(t, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, last.GetEventType())
	next := last.GetWorkflowExecutionContinuedAsNewEventAttributes()
	talk := carried(t, &workflow.ContinueAsNewError{Input: next.GetInput()})
	require.NotNil(t, talk.Pending)
	require.NotEmpty(t, talk.Turn)
	require.NotEmpty(t, talk.Seen)
	require.NotEmpty(t, talk.Queue)
}

// newReplayer returns one that takes a busy machine for no deadlock.
func newReplayer(t *testing.T) worker.WorkflowReplayer {
	t.Helper()
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	require.NoError(t, err)
	return replayer
}

func historyFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(histories, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "there are no histories; record them with `make histories`")
	return files
}

func history(t *testing.T, file string) *historypb.History {
	t.Helper()
	content, err := os.Open(file)
	require.NoError(t, err)
	defer content.Close()
	h, err := client.HistoryFromJSON(content, client.HistoryJSONOptions{})
	require.NoError(t, err)
	return h
}

func typeOf(h *historypb.History) string {
	return h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()
}
