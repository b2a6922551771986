package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"

	"github.com/countersignhq/countersign/config"
)

// Exit codes of the worker.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// stopTimeout bounds a clean end (CONTRACT: Ctrl-C stops all of it within 10 s).
const stopTimeout = 8 * time.Second

// Run is the long-running program. It returns its exit code once ctx has ended or a part has
// died; all parts have then stopped.
func Run(ctx context.Context, args []string, env Environment) int {
	f, err := parseFlags(args, env)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, errUsage):
		fmt.Fprintln(env.Stderr, err)
		return exitUsage
	}
	if err := run(ctx, f, env); err != nil {
		fmt.Fprintln(env.Stderr, "countersign:", err)
		return exitFailed
	}
	return exitDone
}

func run(ctx context.Context, f flags, env Environment) error {
	cfg, err := config.Load(env.LookupEnv, env.Environ, env.ReadFile)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data folder (COUNTERSIGN_DATA_DIR): %w", err)
	}
	logger, closeLog, err := newLogger(f, cfg, env)
	if err != nil {
		return err
	}
	defer closeLog()
	for _, warning := range cfg.Warnings {
		logger.Warn(warning)
	}
	parts := &embedded{}
	defer parts.stop(logger)
	if f.dev {
		if err := parts.start(ctx, cfg, env, logger); err != nil {
			return err
		}
	}
	return serve(ctx, f, cfg, env, logger, parts)
}

// serve runs the graph until ctx ends or a part asks for the end.
func serve(ctx context.Context, f flags, cfg *config.Config, env Environment, logger *slog.Logger, parts *embedded) error {
	var failure error
	app := fx.New(
		fx.Supply(f, cfg, env, logger, parts),
		fx.WithLogger(func() fxevent.Logger { return &fxevent.SlogLogger{Logger: slog.New(slog.DiscardHandler)} }),
		fx.StartTimeout(time.Minute), fx.StopTimeout(stopTimeout),
		fx.Provide(func(s fx.Shutdowner) fail {
			return func(err error) {
				failure = err
				_ = s.Shutdown(fx.ExitCode(exitFailed))
			}
		}),
		graph(f),
	)
	if err := app.Err(); err != nil {
		return root(err)
	}
	starting, cancel := context.WithTimeout(ctx, app.StartTimeout())
	defer cancel()
	if err := app.Start(starting); err != nil {
		return root(err)
	}
	announce(f, cfg, env, parts)
	select {
	case <-ctx.Done():
	case <-app.Wait():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := app.Stop(stopping); err != nil {
		logger.Warn("not everything stopped in time", "error", err)
	}
	return failure
}

// fail ends the process with an error: a part has died.
type fail func(error)

// root leaves out fx's own words about the graph, and none of ours.
func root(err error) error { return dig.RootCause(err) }

// newLogger logs to stderr; with --dev, where a person watches the terminal, to a file and only
// warnings to stderr.
func newLogger(f flags, cfg *config.Config, env Environment) (*slog.Logger, func(), error) {
	if !f.dev {
		return slog.New(slog.NewTextHandler(env.Stderr, nil)), func() {}, nil
	}
	file, err := os.OpenFile(filepath.Join(cfg.DataDir, "worker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w", err)
	}
	handler := slog.NewMultiHandler(
		slog.NewTextHandler(file, nil),
		slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}),
	)
	return slog.New(handler), func() { _ = file.Close() }, nil
}
