package dispatch_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/dispatch"
)

var (
	thread = chat.Thread{Connector: chat.Telegram, Key: "1001"}
	ada    = chat.Person{ID: "telegram:1001", Name: "ada"}
	start  = time.Date(2029, 1, 1, 9, 0, 0, 0, time.UTC)

	errGone = serviceerror.NewNotFound("no such workflow")
	errAway = serviceerror.NewUnavailable("connection refused")
)

func newDispatcher(t *testing.T, change ...func(*dispatch.Params)) (*dispatch.Dispatcher, *mocks.Client) {
	t.Helper()
	c := mocks.NewClient(t)
	p := dispatch.Params{Client: c, Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&p)
	}
	return dispatch.New(p), c
}

func payloads(t *testing.T, v any) *commonpb.Payloads {
	t.Helper()
	p, err := converter.GetDefaultDataConverter().ToPayloads(v)
	require.NoError(t, err)
	return p
}

// answers makes a workflow answer a query.
func answers(t *testing.T, c *mocks.Client, workflowID, query string, v any) *mock.Call {
	t.Helper()
	return c.On("QueryWorkflowWithOptions", mock.Anything, mock.MatchedBy(func(r *client.QueryWorkflowWithOptionsRequest) bool {
		return r.WorkflowID == workflowID && r.QueryType == query
	})).Return(&client.QueryWorkflowWithOptionsResponse{QueryResult: client.NewValue(payloads(t, v))}, nil)
}

// noQuery makes a workflow answer no query: with an error, or rejected because it has ended.
func noQuery(c *mocks.Client, workflowID string, err error) *mock.Call {
	call := c.On("QueryWorkflowWithOptions", mock.Anything, mock.MatchedBy(func(r *client.QueryWorkflowWithOptionsRequest) bool {
		return r.WorkflowID == workflowID
	}))
	if err != nil {
		return call.Return(nil, err)
	}
	return call.Return(&client.QueryWorkflowWithOptionsResponse{QueryRejected: &querypb.QueryRejected{}}, nil)
}

func described(c *mocks.Client, id string, status enumspb.WorkflowExecutionStatus) {
	d := &client.WorkflowExecutionDescription{}
	d.Status = status
	c.On("DescribeWorkflow", mock.Anything, contract.InvocationID(id), "").Return(d, nil)
}

// began puts the first event into an invocation's history.
func began(t *testing.T, c *mocks.Client, in contract.Invocation) {
	t.Helper()
	events := mocks.NewHistoryEventIterator(t)
	events.On("HasNext").Return(true)
	events.On("Next").Return(&historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: payloads(t, in)},
		},
	}, nil)
	c.On("GetWorkflowHistory", mock.Anything, contract.InvocationID(in.ID), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Return(events)
}

// ended gives a workflow its result, or the error it ended with.
func ended(t *testing.T, c *mocks.Client, workflowID string, result any, err error) {
	t.Helper()
	run := mocks.NewWorkflowRun(t)
	run.On("Get", mock.Anything, mock.Anything).Return(func(_ context.Context, out any) error {
		if err != nil || out == nil {
			return err
		}
		return client.NewValue(payloads(t, result)).Get(out)
	})
	c.On("GetWorkflow", mock.Anything, workflowID, "").Return(run)
}

// updated makes the decide update come back with a verdict, and shows what was sent.
func updated(t *testing.T, c *mocks.Client, verdict chat.Verdict, err error) *[]client.UpdateWorkflowOptions {
	t.Helper()
	sent := &[]client.UpdateWorkflowOptions{}
	handle := mocks.NewWorkflowUpdateHandle(t)
	if err == nil {
		handle.On("Get", mock.Anything, mock.Anything).Return(func(_ context.Context, out any) error {
			*out.(*chat.Verdict) = verdict
			return nil
		})
	}
	c.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(
		func(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
			*sent = append(*sent, o)
			return handle, err
		})
	return sent
}
