package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/devstack"
	redisserver "github.com/countersignhq/countersign/rediscompat/embedded"
)

// restartPause is how long the dev server is left alone after it died.
const restartPause = time.Second

// embedded is what --dev runs beside the worker, where nothing else is configured.
type embedded struct {
	temporal string // address; empty where TEMPORAL_ADDRESS is set
	ui       string
	redis    string // URL; empty where REDIS_URL is set

	mu     sync.Mutex
	stack  *devstack.Stack
	server *redisserver.Server
	ending bool
}

// start starts what is missing, or says which variable to set where a port is taken.
func (e *embedded) start(ctx context.Context, cfg *config.Config, env Environment, logger *slog.Logger) error {
	if folder, ok := config.Folder(cfg.Disks["local"]); ok {
		if _, err := devstack.Sample(cfg.DataDir, folder); err != nil {
			return err
		}
	}
	if cfg.Redis.URL == "" {
		server, err := redisserver.Start(net.JoinHostPort("127.0.0.1", strconv.Itoa(cfg.Redis.Port)))
		if err != nil {
			return fmt.Errorf("start the embedded Redis (set COUNTERSIGN_REDIS_PORT to a free port, or REDIS_URL to a server): %w", err)
		}
		e.server, e.redis = server, server.URL()
	}
	if cfg.Temporal.AddressSet {
		return nil
	}
	fmt.Fprintln(env.Stdout, "Starting Temporal's dev server …")
	params := devstack.Params{
		DataDir: cfg.DataDir, TemporalPort: cfg.Temporal.Port, UIPort: cfg.Temporal.UIPort, Logger: logger,
	}
	stack, err := devstack.Start(ctx, params)
	if err != nil {
		return err
	}
	e.stack, e.temporal, e.ui = stack, stack.Address(), stack.UI()
	go e.keep(context.WithoutCancel(ctx), stack, logger)
	return nil
}

// keep starts the dev server again when it dies: its state is in a file, and what is pending goes on.
func (e *embedded) keep(ctx context.Context, stack *devstack.Stack, logger *slog.Logger) {
	for {
		<-stack.Done()
		if e.over() {
			return
		}
		logger.Error("Temporal's dev server has ended; starting it again", "error", stack.Err(), "log", stack.LogFile())
		for {
			time.Sleep(restartPause)
			if e.over() {
				return
			}
			next, err := devstack.Start(ctx, stack.Params())
			if err == nil {
				stack = next
				break
			}
			logger.Error("Temporal's dev server could not be started again", "error", err)
		}
		if !e.replace(stack) {
			_ = stack.Stop()
			return
		}
	}
}

func (e *embedded) over() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ending
}

// replace keeps a new stack; false where everything is ending.
func (e *embedded) replace(stack *devstack.Stack) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stack = stack
	return !e.ending
}

func (e *embedded) stop(logger *slog.Logger) {
	e.mu.Lock()
	e.ending = true
	stack, server := e.stack, e.server
	e.mu.Unlock()
	if stack != nil {
		if err := stack.Stop(); err != nil {
			logger.Warn("Temporal's dev server did not stop cleanly", "error", err)
		}
	}
	if server != nil {
		server.Close()
	}
}
