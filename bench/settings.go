package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usualFlights is the default of -inflight.
const usualFlights = "16,64"

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

	// rate is the webhooks' messages a second, and during for how long they come.
	rate   int
	during time.Duration
	// size of the large file, in bytes.
	size int64
	// streams are open event streams, asking the questions a second beside them.
	streams, asking int
	// unanswered leaves those questions open.
	unanswered bool
}

// measurements in the order in which they are taken.
var measurements = []string{"latency", "throughput", "histories", "memory", "webhooks", "page"}

// onRequest are those that are taken only when they are named: they write gigabytes.
var onRequest = []string{"large"}

func parse(args []string, out io.Writer) (settings, error) {
	s := settings{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprintf(out, "bench [flags] [%s]: all of them by default, but for %s\n",
			strings.Join(known(), "|"), strings.Join(onRequest, ", "))
		flags.PrintDefaults()
	}
	quick := flags.Bool("quick", false, "fewer calls: a look")
	inflight := flags.String("inflight", usualFlights, "throughput: calls in flight, separated by commas")
	megabytes := flags.Int64("size", 1000, "large: size of the file in MB (10^6 bytes); more than 250 needs http.max_upload, which is then set")
	flags.StringVar(&s.bin, "bin", filepath.Join("..", "bin"), "folder with worker and, unless one is on the PATH, temporal")
	flags.StringVar(&s.json, "json", "", "write the numbers to this file as well")
	flags.BoolVar(&s.keep, "keep", false, "keep the folders with logs and databases, and say where they are")
	flags.IntVar(&s.calls, "calls", 200, "latency: calls of the main path, the others get a third; page: half as many")
	flags.IntVar(&s.rounds, "rounds", 3, "throughput: rounds per number in flight")
	flags.IntVar(&s.batch, "batch", 128, "throughput: calls in a round")
	flags.IntVar(&s.pending, "pending", 2000, "memory: questions")
	flags.IntVar(&s.rate, "rate", 200, "webhooks: messages a second")
	flags.DurationVar(&s.during, "for", 15*time.Second, "webhooks: how long they come; page: how long is asked beside the streams")
	flags.BoolVar(&s.unanswered, "unanswered", false, "page: the questions beside the streams stay open")
	flags.IntVar(&s.streams, "streams", 500, "page: open event streams")
	flags.IntVar(&s.asking, "asking", 50, "page: questions a second beside them")
	flags.DurationVar(&s.budget, "budget", 50*time.Second, "about how long a measurement may take (memory: half as long again); it then reports what it has")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.size = *megabytes * 1e6
	s.traced, s.repeats, s.sampled, s.settle, s.watch = 50, 5, 30, 3*time.Second, 5*time.Second
	if *quick {
		s.hurry()
		if *inflight == usualFlights {
			*inflight = "16"
		}
	}
	return s, errors.Join(s.choose(flags.Args(), out), s.flights(*inflight, out), s.loads(out))
}

// hurry is -quick.
func (s *settings) hurry() {
	s.calls, s.rounds, s.batch, s.pending = min(s.calls, 12), 1, min(s.batch, 32), min(s.pending, 100)
	s.traced, s.repeats, s.sampled, s.budget = 12, 1, 8, min(s.budget, 6*time.Second)
	s.settle, s.watch = time.Second, 2*time.Second
	s.rate, s.during, s.streams, s.asking = min(s.rate, 50), min(s.during, 3*time.Second), min(s.streams, 100), min(s.asking, 10)
	s.size = min(s.size, 64e6)
}

func known() []string { return slices.Concat(measurements, onRequest) }

func (s *settings) choose(args []string, out io.Writer) error {
	for _, name := range args {
		if !slices.Contains(known(), name) {
			fmt.Fprintf(out, "bench: there is no measurement %q; known are %s\n", name, strings.Join(known(), ", "))
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

// loads checks what would otherwise divide by zero or never end.
func (s *settings) loads(out io.Writer) error {
	if s.rate < 1 || s.asking < 1 || s.streams < 1 || s.size < 1 || s.during <= 0 {
		fmt.Fprintln(out, "bench: -rate, -asking, -streams, -size and -for must be above zero")
		return errors.New("usage")
	}
	return nil
}
