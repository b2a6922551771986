package doctor

import (
	"context"
	"errors"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/countersignhq/countersign/contract"
)

// recent is how long ago a worker that runs may have asked for work: it asks anew every minute.
const recent = 2 * time.Minute

// TemporalClient is what is asked; client.Client is one.
type TemporalClient interface {
	CheckHealth(context.Context, *client.CheckHealthRequest) (*client.CheckHealthResponse, error)
	WorkflowService() workflowservice.WorkflowServiceClient
	OperatorService() operatorservice.OperatorServiceClient
}

// Temporal is the server that the worker goes to.
type Temporal struct {
	// Client is nil where Temporal's own settings cannot be used; then Err says why.
	Client TemporalClient
	Err    error
	// Address is where the client goes; Chosen tells that somebody has set it.
	Address   string
	Chosen    bool
	Namespace string
	// Now is the clock; optional.
	Now func() time.Time
}

// Check notes whether the server, the namespace and the worker are there.
func (t Temporal) Check(ctx context.Context, n *Notes) {
	if t.Err != nil {
		n.Fail("settings", "correct the TEMPORAL_… variables, or temporal.toml", "%v", t.Err)
		return
	}
	if !t.address(ctx, n) || !t.namespace(ctx, n) {
		return
	}
	t.attributes(ctx, n)
	t.worker(ctx, n)
}

func (t Temporal) address(ctx context.Context, n *Notes) bool {
	trying, cancel := context.WithTimeout(ctx, 8*time.Second)
	defer cancel()
	_, err := t.Client.CheckHealth(trying, &client.CheckHealthRequest{})
	switch {
	case err == nil:
		n.OK("address", "%s answers", t.Address)
		return true
	case denied(err):
		n.Fail("address", "check TEMPORAL_API_KEY and the TLS settings: this client is not let in", "%s: %s", t.Address, cause(err))
	case t.Chosen:
		n.Fail("address", "check TEMPORAL_ADDRESS (host:port of the frontend, 7233 by default) and whether TLS is on at both ends",
			"nothing usable answers at %s: %s", t.Address, cause(err))
	default:
		n.Fail("address", "`make run` starts a server there; or set TEMPORAL_ADDRESS to yours", "nothing answers at %s: %s", t.Address, cause(err))
	}
	return false
}

// denied is the server's word that it knows us not, or not well enough.
func denied(err error) bool {
	return errors.As(err, new(*serviceerror.PermissionDenied))
}

func (t Temporal) namespace(ctx context.Context, n *Notes) bool {
	_, err := t.Client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: t.Namespace})
	switch {
	case err == nil:
		n.OK("namespace", "%s", t.Namespace)
		return true
	case errors.As(err, new(*serviceerror.NamespaceNotFound)), errors.As(err, new(*serviceerror.NotFound)):
		n.Fail("namespace", "set TEMPORAL_NAMESPACE to one that is there, or make it: temporal operator namespace create -n "+t.Namespace,
			"there is no namespace %q at %s", t.Namespace, t.Address)
	case denied(err):
		n.Fail("namespace", "give this client's key or certificate access to the namespace", "%s: %s", t.Namespace, cause(err))
	default:
		n.Fail("namespace", "see Temporal's own log", "%s: %s", t.Namespace, cause(err))
	}
	return false
}

func (t Temporal) attributes(ctx context.Context, n *Notes) {
	known, err := t.known(ctx)
	if err != nil {
		n.Warn("search attributes", "let this client list search attributes, or look for them in Temporal's Web UI", "cannot be listed: %s", cause(err))
		return
	}
	var missing, wrong []string
	for _, name := range []string{
		contract.AttributeConnector, contract.AttributeThread, contract.AttributeTool, contract.AttributeOperation, contract.AttributeStatus,
	} {
		switch kind, found := known[name]; {
		case !found:
			missing = append(missing, name)
		case kind != enumspb.INDEXED_VALUE_TYPE_KEYWORD:
			wrong = append(wrong, name)
		}
	}
	switch {
	case len(wrong) > 0:
		n.Fail("search attributes", "remove them (temporal operator search-attribute remove) and let the worker make them anew",
			"not of the type Keyword: %s", list(wrong))
	case len(missing) > 0:
		n.Warn("search attributes", "the worker registers them at its start; where it may not: temporal operator search-attribute create -n "+
			t.Namespace+" --type Keyword --name "+missing[0]+" (and so on)", "missing, so lists cannot be filtered: %s", list(missing))
	default:
		n.OK("search attributes", "registered")
	}
}

// known asks the way that works with the rights of an operator, then the one for everybody.
func (t Temporal) known(ctx context.Context) (map[string]enumspb.IndexedValueType, error) {
	listed, err := t.Client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: t.Namespace})
	if err == nil {
		return listed.GetCustomAttributes(), nil
	}
	all, err := t.Client.WorkflowService().GetSearchAttributes(ctx, &workflowservice.GetSearchAttributesRequest{})
	return all.GetKeys(), err
}

func (t Temporal) worker(ctx context.Context, n *Notes) {
	kinds := []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY}
	var idle []string
	var who []string
	for _, kind := range kinds {
		described, err := t.Client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: t.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: contract.TaskQueue, Kind: enumspb.TASK_QUEUE_KIND_NORMAL}, TaskQueueType: kind,
		})
		if err != nil {
			n.Warn("worker", "see Temporal's own log", "whether one polls %s cannot be told: %s", contract.TaskQueue, cause(err))
			return
		}
		found := t.polling(described.GetPollers())
		if len(found) == 0 {
			idle = append(idle, kind.String())
		}
		who = append(who, found...)
	}
	if len(idle) > 0 {
		n.Warn("worker", "start bin/worker (with the role engine); one that has just ended may be seen for two minutes more",
			"nobody polls the task queue %s for %s: what is started waits", contract.TaskQueue, list(idle))
		return
	}
	slices.Sort(who)
	n.OK("worker", "%s polled by %s", contract.TaskQueue, list(slices.Compact(who)))
}

func (t Temporal) polling(pollers []*taskqueuepb.PollerInfo) (identities []string) {
	now := time.Now
	if t.Now != nil {
		now = t.Now
	}
	for _, p := range pollers {
		if now().Sub(p.GetLastAccessTime().AsTime()) < recent {
			identities = append(identities, p.GetIdentity())
		}
	}
	return identities
}
