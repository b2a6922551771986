package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/worker"
	"go.uber.org/fx"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/dispatch"
	"github.com/countersignhq/countersign/workflows"
)

const (
	// workerStop lets a running tool come to its end when the process stops.
	workerStop = 6 * time.Second
	// pollers keep a busy queue from waiting for the next poll.
	pollers = 8
	// stickyTimeout is how long a task waits for the worker that knows the workflow: after a
	// crash nobody does.
	stickyTimeout = 2 * time.Second
	// throttle bounds how long a heartbeat is held back: it carries which parts of a reply are
	// sent, and what dies with the worker is sent again. The SDK would hold it for 8 seconds.
	throttle = 100 * time.Millisecond
)

// runEngine runs the Temporal worker. It waits for Temporal as long as it takes.
func runEngine(
	lc fx.Lifecycle, f flags, t temporal, a *activities.Activities, d *dispatch.Dispatcher, s *surfaces, m *mirror,
	store *attachments.Store, cfg *config.Config, logger *slog.Logger, failed fail,
) {
	w := worker.New(t.Client, contract.TaskQueue, worker.Options{
		MaxConcurrentWorkflowTaskPollers: pollers,
		MaxConcurrentActivityTaskPollers: pollers,
		StickyScheduleToStartTimeout:     stickyTimeout,
		WorkerStopTimeout:                workerStop,
		MaxHeartbeatThrottleInterval:     throttle,
		OnFatalError:                     func(err error) { failed(fmt.Errorf("the Temporal worker has died: %w", err)) },
	})
	workflows.Register(w)
	a.Register(w)
	started := false // begin has ended before it is read
	lc.Append(fx.StopHook(func() {
		if started {
			w.Stop() // before the client closes: a tool that is running comes to its end
		}
	}))
	begin := func(ctx context.Context) error {
		if err := awaitTemporal(ctx, t.Client, t.address, logger); err != nil {
			return err
		}
		d.UseAttributes(registerAttributes(ctx, t.Client, t.namespace, logger))
		if err := w.Start(); err != nil {
			return fmt.Errorf("start the Temporal worker: %w", err)
		}
		started = true
		for connector := range s.pollers {
			if err := d.Listen(ctx, connector); err != nil {
				return fmt.Errorf("start the listener of %s: %w", connector, err)
			}
		}
		logger.Info("the engine is running", "temporal", t.address, "namespace", t.namespace)
		return nil
	}
	background(lc, failed, pruneDaily(store, s.delivered, cfg.Attachments.Keep, logger))
	if m.Mirror != nil {
		background(lc, failed, m.Run)
	}
	if f.dev {
		lc.Append(fx.StartHook(begin))
		return
	}
	background(lc, failed, begin)
}
