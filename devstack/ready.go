package devstack

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// frontend is the name under which Temporal's frontend reports its health.
const frontend = "temporal.api.workflowservice.v1.WorkflowService"

func (s *Stack) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	connection, err := grpc.NewClient(s.Address(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: retryInterval, Multiplier: 1, MaxDelay: retryInterval},
			MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return fmt.Errorf("connecting to the temporal dev server: %w", err)
	}
	defer func() { _ = connection.Close() }()
	health := grpc_health_v1.NewHealthClient(connection)
	for {
		response, err := health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: frontend})
		if err == nil && response.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING {
			return nil
		}
		select {
		case <-s.done:
			return s.err
		case <-ctx.Done():
			return fmt.Errorf("the temporal dev server does not answer at %s (%w); its last lines in %s:\n%s",
				s.Address(), ctx.Err(), s.logFile, tail(s.logFile))
		case <-time.After(retryInterval):
		}
	}
}
