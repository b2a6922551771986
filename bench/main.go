package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// limit bounds a whole run, whatever hangs.
const limit = 25 * time.Minute

func main() { os.Exit(status()) }

func status() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if err := run(ctx, s, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// sharing are the measurements that share a rig.
var sharing = []string{"latency", "throughput", "histories"}

// alone are those on servers of their own: what a process once needed it does not give back, and
// what one leaves to be done must not weigh on the next.
var alone = []struct {
	name string
	take func(ctx context.Context, s settings, r *report, progress io.Writer) (printed, error)
}{
	{"memory", measureMemory}, {"webhooks", measureWebhooks}, {"page", measurePage}, {"large", measureLarge},
}

// printed is what a measurement has to say.
type printed interface{ print(out io.Writer) }

// run takes the measurements and prints each as soon as it is there.
func run(ctx context.Context, s settings, out, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := newReport()
	if slices.ContainsFunc(s.what, func(name string) bool { return slices.Contains(sharing, name) }) {
		if err := measure(ctx, s, r, out, progress); err != nil {
			return err
		}
	}
	for _, m := range alone {
		if !slices.Contains(s.what, m.name) {
			continue
		}
		fmt.Fprintf(progress, "%s, in another installation … (%s)\n", m.name, time.Since(r.Started).Round(time.Second))
		said, err := m.take(ctx, s, r, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		said.print(out)
	}
	r.Finished = time.Now().UTC()
	r.footer(out)
	if s.json == "" {
		return nil
	}
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the numbers: %w", err)
	}
	return os.WriteFile(s.json, append(content, '\n'), 0o600)
}

// measure takes those that share a rig.
func measure(ctx context.Context, s settings, r *report, out, progress io.Writer) (err error) {
	fmt.Fprintln(progress, "starting Temporal, Redis, Telegram and the worker …")
	rig, err := newRig(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.stop(progress)) }()
	r.Redis = rig.redisName
	if err := rig.warm(ctx); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	for _, name := range s.what {
		if !slices.Contains(sharing, name) {
			continue
		}
		fmt.Fprintf(progress, "%s … (%s)\n", name, time.Since(r.Started).Round(time.Second))
		switch name {
		case "latency":
			if r.Latency, err = measureLatency(ctx, rig, s); err == nil {
				r.Latency.print(out)
			}
		case "throughput":
			if r.Throughput, err = measureThroughput(ctx, rig, s); err == nil {
				printThroughput(out, r.Throughput)
			}
		case "histories":
			if r.Histories, err = measureHistories(ctx, rig, s); err == nil {
				printHistories(out, r.Histories)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
