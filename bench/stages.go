package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// events reads the history of a workflow's latest run.
func (r *rig) events(ctx context.Context, workflowID string) ([]*historypb.HistoryEvent, error) {
	var all []*historypb.HistoryEvent
	history := r.client.GetWorkflowHistory(ctx, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", workflowID, err)
		}
		all = append(all, event)
	}
	return all, nil
}

// trail walks a history forward and keeps the times of the events that it is told to find.
type trail struct {
	events []*historypb.HistoryEvent
	times  []time.Time
}

// next finds the first event of a kind from here on that is not before a moment.
func (t *trail) next(from time.Time, kind enumspb.EventType) bool {
	for n, e := range t.events {
		if e.GetEventType() == kind && !e.GetEventTime().AsTime().Before(from) {
			t.events, t.times = t.events[n:], append(t.times, e.GetEventTime().AsTime())
			return true
		}
	}
	return false
}

// names of the stages between an answer and its effect.
var (
	stageNames = []string{
		"webhook: the message is in the conversation's history",
		"the conversation's workflow task starts",
		"it routes (Redis, then the signal): the invocation has the answer",
		"the invocation's workflow task starts",
		"it judges: the run is scheduled",
		"the run starts on a worker",
		"run: second check, audit, word that it begins, deletion",
	}
	minimalStages = []string{
		"signal: it is in the history", "the workflow task starts", "the run is scheduled", "the run starts", "run: the deletion",
		"the result is at the caller",
	}
)

// stages splits the time from answer to effect by what the histories say. All clocks are this
// machine's. A call whose events cannot be told apart is left out.
func (r *rig) stages(ctx context.Context, ours, minimal []timing) (rows, minimalRows []row, err error) {
	router, err := r.events(ctx, talk(ada.ID))
	if err != nil {
		return nil, nil, err
	}
	spans := make([]series, len(stageNames))
	for _, t := range ours {
		own, err := r.events(ctx, t.workflow)
		if err != nil {
			return nil, nil, err
		}
		conversation, invocation := &trail{events: router}, &trail{events: own}
		if !conversation.next(t.answered, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED) ||
			!conversation.next(t.answered, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED) || !invocation.answered(t.answered) {
			continue
		}
		split(spans, t.answered, append(append(conversation.times, invocation.times...), t.effect))
	}
	minimalSpans := make([]series, len(minimalStages))
	for _, t := range minimal {
		own, err := r.events(ctx, t.workflow)
		if err != nil {
			return nil, nil, err
		}
		if workflow := (&trail{events: own}); workflow.answered(t.answered) {
			split(minimalSpans, t.answered, append(workflow.times, t.effect, t.acknowledged))
		}
	}
	if len(spans[0]) == 0 || len(minimalSpans[0]) == 0 {
		return nil, nil, errors.New("the histories do not show where the time goes: no call could be traced")
	}
	for n, name := range stageNames {
		rows = append(rows, spans[n].row(name))
	}
	for n, name := range minimalStages {
		minimalRows = append(minimalRows, minimalSpans[n].row(name))
	}
	return rows, minimalRows, nil
}

// answered finds the signal, the task that takes it, and the run.
func (t *trail) answered(from time.Time) bool {
	for _, kind := range []enumspb.EventType{
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
		enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED,
	} {
		if !t.next(from, kind) {
			return false
		}
	}
	return true
}

// split adds the spans between moments to their series.
func split(spans []series, from time.Time, moments []time.Time) {
	for n, moment := range moments {
		spans[n] = append(spans[n], moment.Sub(from))
		from = moment
	}
}

// shape is what a piece of history consists of.
type shape struct {
	Events int `json:"events"`
	Tasks  int `json:"workflow_tasks"`
}

func (s shape) minus(o shape) shape { return shape{s.Events - o.Events, s.Tasks - o.Tasks} }
func (s shape) plus(o shape) shape  { return shape{s.Events + o.Events, s.Tasks + o.Tasks} }

// shapeOf counts; a workflow task is one that was begun.
func (r *rig) shapeOf(ctx context.Context, workflowID string) (shape, error) {
	all, err := r.events(ctx, workflowID)
	s := shape{Events: len(all)}
	for _, e := range all {
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED {
			s.Tasks++
		}
	}
	return s, err
}

// turnOf is the workflow id of the turn that made an invocation.
func (r *rig) turnOf(ctx context.Context, invocation string) (string, error) {
	all, err := r.events(ctx, invocation)
	if err != nil {
		return "", err
	}
	turn := all[0].GetWorkflowExecutionStartedEventAttributes().GetParentWorkflowExecution().GetWorkflowId()
	if turn == "" {
		return "", fmt.Errorf("%s was not made by a turn", invocation)
	}
	return turn, nil
}
