package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"github.com/countersignhq/countersign/contract"
)

// again is how long a start waits before it tries Temporal once more.
const again = time.Second

// newClient makes a client from Temporal's own settings (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TLS, temporal.toml); address, if set, is the embedded server. It does not connect yet: neither
// role ends because Temporal is away.
func newClient(env Environment, address string, logger *slog.Logger) (client.Client, client.Options, error) {
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: lookup{env}})
	if err != nil {
		return nil, options, fmt.Errorf("read Temporal's settings: %w", err)
	}
	if address != "" {
		options.HostPort = address
	}
	if options.HostPort == "" {
		options.HostPort = client.DefaultHostPort
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	options.Logger = sdkLogger{log.NewStructuredLogger(logger.With("component", "temporal"))}
	c, err := client.NewLazyClient(options)
	if err != nil {
		return nil, options, fmt.Errorf("make a Temporal client: %w", err)
	}
	return c, options, nil
}

// lookup is envconfig's view of an environment.
type lookup struct{ env Environment }

// Environ implements envconfig.EnvLookup.
func (l lookup) Environ() []string { return l.env.Environ }

// LookupEnv implements envconfig.EnvLookup.
func (l lookup) LookupEnv(name string) (string, bool) { return l.env.LookupEnv(name) }

// awaitTemporal returns once Temporal answers, however long that takes.
func awaitTemporal(ctx context.Context, c client.Client, address string, logger *slog.Logger) error {
	for told := false; ; {
		trying, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err := c.CheckHealth(trying, &client.CheckHealthRequest{})
		cancel()
		if err == nil {
			return nil
		}
		if !told {
			logger.Warn("Temporal does not answer yet; waiting for it", "address", address, "error", err)
			told = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(again):
		}
	}
}

// registerAttributes makes the search attributes known to the namespace, where this client may.
// It tells whether they can be used; without them everything but filtered lists works.
func registerAttributes(ctx context.Context, c client.Client, namespace string, logger *slog.Logger) bool {
	wanted := map[string]enumspb.IndexedValueType{}
	for _, name := range []string{
		contract.AttributeConnector, contract.AttributeThread, contract.AttributeTool,
		contract.AttributeOperation, contract.AttributeStatus,
	} {
		wanted[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	if attributesKnown(ctx, c, namespace, wanted) {
		return true
	}
	_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: wanted,
	})
	if err != nil {
		logger.Warn("the search attributes could not be registered; lists in Temporal's Web UI cannot be filtered by them",
			"namespace", namespace, "error", err)
	}
	return attributesKnown(ctx, c, namespace, wanted)
}

func attributesKnown(ctx context.Context, c client.Client, namespace string, wanted map[string]enumspb.IndexedValueType) bool {
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	known := map[string]enumspb.IndexedValueType{}
	if err == nil {
		known = listed.GetCustomAttributes()
	} else if all, e := c.WorkflowService().GetSearchAttributes(ctx, &workflowservice.GetSearchAttributesRequest{}); e == nil {
		known = all.GetKeys()
	}
	for name, kind := range wanted {
		if known[name] != kind {
			return false
		}
	}
	return true
}
