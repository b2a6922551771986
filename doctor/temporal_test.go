package doctor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/doctor"
)

var noon = time.Date(2029, 1, 1, 12, 0, 0, 0, time.UTC)

// server is a Temporal that answers what it is told to.
type server struct {
	workflowservice.WorkflowServiceClient
	operator

	health, namespace, queue error
	everybody                map[string]enumspb.IndexedValueType
	polled                   map[enumspb.TaskQueueType]time.Time
}

type operator struct {
	operatorservice.OperatorServiceClient
	listed  map[string]enumspb.IndexedValueType
	refused error
}

func (o operator) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest, ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: o.listed}, o.refused
}

func (s *server) CheckHealth(context.Context, *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	return nil, s.health
}

func (s *server) WorkflowService() workflowservice.WorkflowServiceClient { return s }
func (s *server) OperatorService() operatorservice.OperatorServiceClient { return s.operator }

func (s *server) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest, ...grpc.CallOption) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, s.namespace
}

func (s *server) GetSearchAttributes(context.Context, *workflowservice.GetSearchAttributesRequest, ...grpc.CallOption) (*workflowservice.GetSearchAttributesResponse, error) {
	if s.everybody == nil {
		return nil, errors.New("not for everybody")
	}
	return &workflowservice.GetSearchAttributesResponse{Keys: s.everybody}, nil
}

func (s *server) DescribeTaskQueue(_ context.Context, r *workflowservice.DescribeTaskQueueRequest, _ ...grpc.CallOption) (*workflowservice.DescribeTaskQueueResponse, error) {
	answer := &workflowservice.DescribeTaskQueueResponse{}
	if at, ok := s.polled[r.GetTaskQueueType()]; ok && r.GetTaskQueue().GetName() == contract.TaskQueue && r.GetNamespace() == "team" {
		answer.Pollers = []*taskqueuepb.PollerInfo{{Identity: "1@worker", LastAccessTime: timestamppb.New(at)}}
	}
	return answer, s.queue
}

func attributes(kind enumspb.IndexedValueType) map[string]enumspb.IndexedValueType {
	all := map[string]enumspb.IndexedValueType{}
	for _, name := range []string{"Connector", "Thread", "Tool", "Operation", "Status"} {
		all["Countersign"+name] = kind
	}
	return all
}

func healthy() *server {
	keyword := enumspb.INDEXED_VALUE_TYPE_KEYWORD
	return &server{
		operator: operator{listed: attributes(keyword)},
		polled: map[enumspb.TaskQueueType]time.Time{
			enumspb.TASK_QUEUE_TYPE_WORKFLOW: noon.Add(-time.Minute), enumspb.TASK_QUEUE_TYPE_ACTIVITY: noon.Add(-time.Second),
		},
	}
}

func TestTemporal(t *testing.T) {
	t.Parallel()
	all := []string{"ok address", "ok namespace", "ok search attributes", "ok worker"}
	for name, test := range map[string]struct {
		change func(*server, *doctor.Temporal)
		want   []string
		says   string
	}{
		"all is well":    {func(*server, *doctor.Temporal) {}, all, "1@worker"},
		"no settings":    {func(_ *server, d *doctor.Temporal) { d.Err = errors.New("bad TOML") }, []string{"fail settings"}, "bad TOML"},
		"away":           {func(s *server, _ *doctor.Temporal) { s.health = context.DeadlineExceeded }, []string{"fail address"}, "TEMPORAL_ADDRESS (host:port"},
		"nothing chosen": {func(s *server, d *doctor.Temporal) { s.health, d.Chosen = context.DeadlineExceeded, false }, []string{"fail address"}, "make run"},
		"not let in":     {func(s *server, _ *doctor.Temporal) { s.health = serviceerror.NewPermissionDenied("no", "") }, []string{"fail address"}, "TEMPORAL_API_KEY"},
		"no namespace": {func(s *server, _ *doctor.Temporal) { s.namespace = serviceerror.NewNamespaceNotFound("team") },
			[]string{"ok address", "fail namespace"}, "temporal operator namespace create -n team"},
		"a closed one": {func(s *server, _ *doctor.Temporal) { s.namespace = serviceerror.NewPermissionDenied("no", "") },
			[]string{"ok address", "fail namespace"}, "access to the namespace"},
		"a broken one": {func(s *server, _ *doctor.Temporal) { s.namespace = serviceerror.NewUnavailable("later") },
			[]string{"ok address", "fail namespace"}, "later"},
		"attributes as everybody sees them": {func(s *server, _ *doctor.Temporal) {
			s.everybody, s.operator = s.listed, operator{refused: errors.New("no operator")}
		}, all, ""},
		"attributes that cannot be seen": {func(s *server, _ *doctor.Temporal) { s.refused = errors.New("no operator") },
			[]string{"ok address", "ok namespace", "warn search attributes", "ok worker"}, "not for everybody"},
		"attributes are missing": {func(s *server, _ *doctor.Temporal) { delete(s.listed, "CountersignTool") },
			[]string{"ok address", "ok namespace", "warn search attributes", "ok worker"}, "--name CountersignTool"},
		"attributes of another type": {func(s *server, _ *doctor.Temporal) { s.listed = attributes(enumspb.INDEXED_VALUE_TYPE_TEXT) },
			[]string{"ok address", "ok namespace", "fail search attributes", "ok worker"}, "not of the type Keyword"},
		"no worker": {func(s *server, _ *doctor.Temporal) { s.polled = nil },
			[]string{"ok address", "ok namespace", "ok search attributes", "warn worker"}, "start bin/worker"},
		"a worker that has ended": {func(s *server, _ *doctor.Temporal) {
			s.polled[enumspb.TASK_QUEUE_TYPE_ACTIVITY] = noon.Add(-3 * time.Minute)
		}, []string{"ok address", "ok namespace", "ok search attributes", "warn worker"}, "for Activity"},
		"a queue that cannot be seen": {func(s *server, _ *doctor.Temporal) { s.queue = errors.New("no") },
			[]string{"ok address", "ok namespace", "ok search attributes", "warn worker"}, "cannot be told"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthy()
			d := doctor.Temporal{Client: s, Address: "temporal.example.test:7233", Chosen: true, Namespace: "team", Now: func() time.Time { return noon }}
			test.change(s, &d)
			found := examine(t, d.Check)
			require.Equal(t, test.want, found.short())
			text := ""
			for _, f := range found {
				text += f.Detail + " → " + f.Mend + "\n"
			}
			require.Contains(t, text, test.says)
		})
	}
}
