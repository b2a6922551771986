package harness

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/temporalproto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Histories returns the history of every run of a workflow, from the first to the latest,
// without what names this machine.
func (w *World) Histories(t testing.TB, workflowID string) (runs []*historypb.History) {
	t.Helper()
	run, _ := w.Runs(t, workflowID)
	for run != "" {
		history := w.history(t, workflowID, run)
		runs = append(runs, history)
		run = history.Events[len(history.Events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	}
	return runs
}

// Runs are the ids of a workflow's first and latest run.
func (w *World) Runs(t testing.TB, workflowID string) (first, latest string) {
	t.Helper()
	described, err := w.Client.DescribeWorkflow(t.Context(), workflowID, "")
	if err != nil {
		t.Fatalf("describe %s: %v", workflowID, err)
	}
	info := described.RawResponse.GetWorkflowExecutionInfo()
	return info.GetFirstRunId(), info.GetExecution().GetRunId()
}

func (w *World) history(t testing.TB, workflowID, run string) *historypb.History {
	t.Helper()
	history := &historypb.History{}
	events := w.Client.GetWorkflowHistory(t.Context(), workflowID, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if errors.As(err, new(*serviceerror.NotFound)) {
			t.Fatalf("there is no history of %s", workflowID)
		}
		if err != nil {
			t.Fatalf("read the history of %s: %v", workflowID, err)
		}
		history.Events = append(history.Events, event)
	}
	for _, event := range history.Events {
		anonymise(event.ProtoReflect())
	}
	return history
}

// identities are the fields by which Temporal's clients and workers name their process and host.
var identities = map[protoreflect.Name]string{"identity": "e2e", "build_id": "", "binary_checksum": ""}

// anonymise replaces them all the way down.
func anonymise(m protoreflect.Message) {
	if queue, ok := m.Interface().(*taskqueuepb.TaskQueue); ok && queue.GetKind() == enumspb.TASK_QUEUE_KIND_STICKY {
		queue.Name = "sticky" // it holds the host's name
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		replacement, known := identities[field.Name()]
		switch {
		case known && field.Kind() == protoreflect.StringKind:
			m.Set(field, protoreflect.ValueOfString(replacement))
		case field.IsMap() || field.Kind() != protoreflect.MessageKind:
		case field.IsList():
			for n := range value.List().Len() {
				anonymise(value.List().Get(n).Message())
			}
		default:
			anonymise(value.Message())
		}
		return true
	})
}

// SaveHistory writes a history as the replay tests read it. It refuses one that names this machine.
func SaveHistory(t testing.TB, file string, history *historypb.History) {
	t.Helper()
	encoded, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(history)
	if err != nil {
		t.Fatalf("encode a history: %v", err)
	}
	root, err := Repository()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{root, os.TempDir() + "/", "@" + host + "@", `"` + host + `:`} {
		if text := payloads(history); strings.Contains(text, own) || strings.Contains(string(encoded), own) {
			t.Fatalf("the history for %s names %s of this machine", filepath.Base(file), own)
		}
	}
	if err := os.WriteFile(file, append(encoded, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// LoadHistory reads one that was saved; false where there is none.
func LoadHistory(t testing.TB, file string) (*historypb.History, bool) {
	t.Helper()
	encoded, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false
	}
	history := &historypb.History{}
	if err == nil {
		err = temporalproto.CustomJSONUnmarshalOptions{}.Unmarshal(encoded, history)
	}
	if err != nil {
		t.Fatalf("read the history %s: %v", file, err)
	}
	return history, true
}

// Shape is which commands a history holds, each once: what a workflow's code decides, without
// what only the moment does.
func Shape(history *historypb.History) string {
	commands := map[string]bool{}
	for _, event := range history.Events {
		name := ""
		switch {
		case event.GetActivityTaskScheduledEventAttributes() != nil:
			name = event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()
		case event.GetMarkerRecordedEventAttributes() != nil:
			marker := event.GetMarkerRecordedEventAttributes()
			name = marker.GetMarkerName()
			for _, change := range marker.GetDetails()["change-id"].GetPayloads() {
				name += " " + string(change.GetData())
			}
		case event.GetStartChildWorkflowExecutionInitiatedEventAttributes() != nil:
			name = event.GetStartChildWorkflowExecutionInitiatedEventAttributes().GetWorkflowType().GetName()
		case event.GetTimerStartedEventAttributes() != nil:
		default:
			continue
		}
		commands[event.GetEventType().String()+" "+name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(commands)), "\n")
}

// payloads is what is base64 in the JSON.
func payloads(history *historypb.History) string {
	var b strings.Builder
	for _, event := range history.Events {
		fmt.Fprintln(&b, event.String())
	}
	return b.String()
}
