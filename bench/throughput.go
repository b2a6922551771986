package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// throughput is how many calls a second come from their start to their end, with a number in flight.
type throughput struct {
	InFlight int `json:"in_flight"`
	Calls    int `json:"calls_per_round"`
	// Ours and Minimal are calls a second, by round; the rounds alternate.
	Ours    []float64 `json:"ours_per_second"`
	Minimal []float64 `json:"minimal_per_second"`
	Ratio   float64   `json:"ratio_of_medians"`
	// P50 and P99 of one of our calls, in milliseconds.
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	// Kept decisions found no engine that answered within 5 s, and counted later. TurnedAway are
	// requests that were answered 503 and sent again.
	Kept       int64 `json:"kept"`
	TurnedAway int64 `json:"turned_away"`
	// CPU is what one call costs each process, in milliseconds of CPU time: it depends far less
	// on what else the machine is doing than a rate does.
	CPU cost `json:"cpu_ms_per_call"`
}

// cost is CPU time by process; the minimal workflow's worker is in this program, with the load
// generator, so that there only Temporal's can be told.
type cost struct {
	Worker          float64 `json:"worker"`
	Temporal        float64 `json:"temporal"`
	TemporalMinimal float64 `json:"temporal_minimal"`
}

// meter adds up CPU time over several stretches.
type meter struct {
	pid   int
	total time.Duration
}

// over runs do and adds what the process used meanwhile.
func (m *meter) over(do func() error) error {
	before, err := cpuTime(m.pid)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := cpuTime(m.pid)
	m.total += after - before
	return err
}

func (m *meter) each(calls int) float64 {
	return round(float64(m.total)/float64(time.Millisecond)/float64(max(calls, 1)), 1)
}

// measureThroughput floods ours and the minimal workflow in turn.
func measureThroughput(ctx context.Context, r *rig, s settings) ([]throughput, error) {
	var all []throughput
	for n, inflight := range s.inflight {
		t, err := r.flight(ctx, n, inflight, s)
		if err != nil {
			return nil, fmt.Errorf("%d in flight: %w", inflight, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// flight measures with one number in flight; n keeps its chats apart from the others'.
func (r *rig) flight(ctx context.Context, n, inflight int, s settings) (throughput, error) {
	t := throughput{InFlight: inflight, Calls: max(s.batch, inflight)}
	worker, temporal, temporalMinimal := &meter{pid: r.worker.pid}, &meter{pid: r.temporal.PID()}, &meter{pid: r.temporal.PID()}
	var took series
	var kept atomic.Int64
	before := r.gateway.turnedAway.Load()
	ours := func() error {
		rate, each, err := flood(ctx, inflight, t.Calls, func(ctx context.Context, lane int) error {
			return r.oursOnce(ctx, int64(-10_000*(n+2)-lane), &kept)
		})
		t.Ours, took = append(t.Ours, rate), append(took, each...)
		return err
	}
	minimal := func() error {
		rate, _, err := flood(ctx, inflight, t.Calls, func(ctx context.Context, lane int) error {
			return r.minimalOnce(ctx, int64(-100_000*(n+2)-lane))
		})
		t.Minimal = append(t.Minimal, rate)
		return err
	}
	end := time.Now().Add(s.budget / time.Duration(len(s.inflight)))
	for round := 0; round < s.rounds && (round == 0 || time.Now().Before(end)); round++ {
		if err := worker.over(func() error { return temporal.over(ours) }); err != nil {
			return t, err
		}
		if err := temporalMinimal.over(minimal); err != nil {
			return t, fmt.Errorf("minimal: %w", err)
		}
	}
	t.Ratio = over(median(t.Ours), median(t.Minimal))
	t.P50, t.P99 = milliseconds(took.at(0.5)), milliseconds(took.at(0.99))
	t.Kept, t.TurnedAway = kept.Load(), r.gateway.turnedAway.Load()-before
	calls := t.Calls * len(t.Ours)
	t.CPU = cost{Worker: worker.each(calls), Temporal: temporal.each(calls), TemporalMinimal: temporalMinimal.each(calls)}
	return t, nil
}

// flood does something so often, in so many lanes, and returns the rate a second.
func flood(ctx context.Context, lanes, times int, do func(ctx context.Context, lane int) error) (rate float64, each series, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var left atomic.Int64
	left.Store(int64(times))
	var mu sync.Mutex
	var wg sync.WaitGroup
	began := time.Now()
	for lane := range lanes {
		wg.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				start := time.Now()
				if err := do(ctx, lane); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				each = append(each, time.Since(start))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return 0, nil, err
	}
	return round(float64(times)/time.Since(began).Seconds(), 1), each, nil
}

// oursOnce is a call from its start over HTTP, by the prompt at Telegram and a decision over
// HTTP, to its result over HTTP.
func (r *rig) oursOnce(ctx context.Context, chat int64, kept *atomic.Int64) error {
	name, _, err := r.file()
	if err != nil {
		return err
	}
	posts := r.bot.listen(chat)
	defer r.bot.deaf(chat)
	id, err := r.gateway.invoke(ctx, chat, name)
	if err != nil {
		return err
	}
	if _, err := take(ctx, posts, func(p post) bool { return p.invocation == id }); err != nil {
		return err
	}
	late, err := r.gateway.allow(ctx, id)
	if err != nil {
		return err
	}
	if late {
		kept.Add(1)
	}
	return r.gateway.completed(ctx, id)
}

// minimalOnce is the same for the minimal workflow.
func (r *rig) minimalOnce(ctx context.Context, chat int64) error {
	posts := r.bot.listen(chat)
	defer r.bot.deaf(chat)
	run, _, _, err := r.startErrand(ctx, chat, posts)
	if err != nil {
		return err
	}
	return r.answerErrand(ctx, run)
}
