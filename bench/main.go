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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usualFlights is the default of -inflight.
const usualFlights = "16,64"

// limit bounds a whole run, whatever hangs.
const limit = 15 * time.Minute

// settings are the command line.
type settings struct {
	what     []string
	bin      string
	json     string
	keep     bool
	calls    int
	inflight []int
	rounds   int
	batch    int
	pending  int
	// traced calls are looked at stage by stage, repeats calls of a kind are counted, and
	// sampled answers are measured with and without questions pending.
	traced, repeats, sampled int
	// settle is how long processes are left alone before their memory is read, and watch how long
	// their CPU time is watched while they wait.
	settle, watch time.Duration
	budget        time.Duration
}

// measurements in the order in which they are taken.
var measurements = []string{"latency", "throughput", "histories", "memory"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2)
	}
	if err := run(ctx, s, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string, out io.Writer) (settings, error) {
	s := settings{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprintf(out, "bench [flags] [%s]: all of them by default\n", strings.Join(measurements, "|"))
		flags.PrintDefaults()
	}
	quick := flags.Bool("quick", false, "fewer calls: a look, under 40 s")
	inflight := flags.String("inflight", usualFlights, "throughput: calls in flight, separated by commas")
	flags.StringVar(&s.bin, "bin", filepath.Join("..", "bin"), "folder with worker and, unless one is on the PATH, temporal")
	flags.StringVar(&s.json, "json", "", "write the numbers to this file as well")
	flags.BoolVar(&s.keep, "keep", false, "keep the folders with logs and databases, and say where they are")
	flags.IntVar(&s.calls, "calls", 200, "latency: calls of the main path; the others get a third")
	flags.IntVar(&s.rounds, "rounds", 3, "throughput: rounds per number in flight")
	flags.IntVar(&s.batch, "batch", 128, "throughput: calls in a round")
	flags.IntVar(&s.pending, "pending", 2000, "memory: questions")
	flags.DurationVar(&s.budget, "budget", 50*time.Second, "about how long a measurement may take (memory: half as long again); it then reports what it has")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.traced, s.repeats, s.sampled, s.settle, s.watch = 50, 5, 30, 3*time.Second, 5*time.Second
	if *quick {
		s.calls, s.rounds, s.batch, s.pending = min(s.calls, 12), 1, min(s.batch, 32), min(s.pending, 100)
		s.traced, s.repeats, s.sampled, s.budget = 12, 1, 8, min(s.budget, 6*time.Second)
		s.settle, s.watch = time.Second, 2*time.Second
		if *inflight == usualFlights {
			*inflight = "16"
		}
	}
	return s, errors.Join(s.choose(flags.Args(), out), s.flights(*inflight, out))
}

func (s *settings) choose(args []string, out io.Writer) error {
	for _, name := range args {
		if !slices.Contains(measurements, name) {
			fmt.Fprintf(out, "bench: there is no measurement %q; known are %s\n", name, strings.Join(measurements, ", "))
			return errors.New("usage")
		}
	}
	s.what = args
	if len(args) == 0 {
		s.what = measurements
	}
	return nil
}

func (s *settings) flights(list string, out io.Writer) error {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > 1000 {
			fmt.Fprintf(out, "bench: -inflight is numbers from 1 to 1000, not %q\n", text)
			return errors.New("usage")
		}
		s.inflight = append(s.inflight, n)
	}
	return nil
}

// run takes the measurements and prints each as soon as it is there.
func run(ctx context.Context, s settings, out, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := newReport()
	if slices.ContainsFunc(s.what, func(name string) bool { return name != "memory" }) {
		if err := measure(ctx, s, r, out, progress); err != nil {
			return err
		}
	}
	if slices.Contains(s.what, "memory") {
		// On servers of its own: what a process once needed it does not give back.
		if err := measureMemory(ctx, s, r, progress); err != nil {
			return err
		}
		r.Memory.print(out)
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
