package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// webhooks is how long platforms wait for their 200 while the engine has more to do than it can.
type webhooks struct {
	Rate    int     `json:"per_second"`
	Seconds float64 `json:"seconds"`
	// Rows are from the moment when something was due: Slack's messages, Telegram's, all of them,
	// and bare signals. Late is how far behind the generator was with sending, which is part of them.
	Rows []row `json:"rows"`
	Late row   `json:"generator_late"`
	// RatioP50 and RatioP99 are of all messages to the bare signals.
	RatioP50 float64 `json:"ratio_p50"`
	RatioP99 float64 `json:"ratio_p99"`
	// OK of Messages were answered 200 at once; Resent is how often others were sent again, as
	// platforms do, and Refused those that were not taken then either.
	Messages int `json:"messages"`
	OK       int `json:"ok_at_once"`
	Resent   int `json:"resent"`
	Refused  int `json:"never_taken"`
	// Statuses are those other than 200; 0 is no answer.
	Statuses map[int]int `json:"other_statuses"`
	// Calls a second were asked, decided and completed beside it; Unfinished were not, within 30 s.
	Calls      float64 `json:"calls_per_second"`
	Unfinished int64   `json:"calls_unfinished"`
	// Answered is how many messages had their reply when the last one came in, and DrainedOf how
	// many more in the Drained seconds after it.
	Answered  int     `json:"replied_meanwhile"`
	Drained   float64 `json:"drained_seconds"`
	DrainedOf int     `json:"drained_messages"`
	Effects   tally   `json:"effects"`
	// CPU that the worker and Temporal used meanwhile, in cores.
	WorkerCPU   float64 `json:"worker_cores"`
	TemporalCPU float64 `json:"temporal_cores"`
	Load        string  `json:"load_before"`
	After       string  `json:"load_after"`
}

// webhookAim is the aim for the p99, in milliseconds; Slack waits three times as long.
const webhookAim = 1000

// measureWebhooks lets messages come in faster than they can be answered.
func measureWebhooks(ctx context.Context, s settings, rep *report, progress io.Writer) (_ printed, err error) {
	w := &webhooks{Rate: s.rate, Load: loadNow(), Statuses: map[int]int{}}
	r, err := newRig(ctx, s, withSlack)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.stop(progress)) }()
	rep.Redis = r.redisName
	if err := r.warm(ctx); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	storm, err := r.newStorm(ctx)
	if err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	busy := r.beBusy(ctx)
	defer busy.cancel()
	if err := pause(ctx, s.settle); err != nil {
		return nil, err
	}
	busy.count()
	worker, temporal := &meter{pid: r.worker.pid}, &meter{pid: r.temporal.PID()}
	began := time.Now()
	err = worker.over(func() error {
		return temporal.over(func() error {
			arrivals(ctx, s.rate, s.during, storm.arrive)
			return ctx.Err()
		})
	})
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	w.Seconds = round(took.Seconds(), 1)
	w.WorkerCPU, w.TemporalCPU = round(float64(worker.total)/float64(took), 2), round(float64(temporal.total)/float64(took), 2)
	fmt.Fprintf(progress, "the last message was answered after %.1f s\n", w.Seconds)
	w.Calls, w.Unfinished = busy.end()
	w.After, w.Answered = loadNow(), storm.effects().Once-talks
	storm.resend(ctx, s.budget)
	fmt.Fprintf(progress, "what was not taken was sent again, now the replies …\n")
	if err := storm.drain(ctx, w, 4*s.budget, progress); err != nil {
		return nil, err
	}
	storm.sum(w)
	rep.Webhooks = w
	return w, ctx.Err()
}

// sum makes the numbers.
func (s *storm) sum(w *webhooks) {
	var slack, telegram, all, late series
	for _, h := range s.hits[talks:] {
		w.Messages++
		w.Resent += h.again
		if h.first != ok {
			w.Statuses[h.first]++
			w.Refused += boolean(h.status != ok)
		} else {
			w.OK++
		}
		all, late = append(all, h.took), append(late, h.late)
		if h.slack() {
			slack = append(slack, h.took)
		} else {
			telegram = append(telegram, h.took)
		}
	}
	w.Late = late.row("of that: the generator was late with sending")
	w.Rows = []row{
		slack.row("Slack event → answer"), telegram.row("Telegram update → answer"), all.row("both"),
		s.bare.row("a bare signal to a minimal workflow, at the same time"),
	}
	w.RatioP50, w.RatioP99 = over(w.Rows[2].P50, w.Rows[3].P50), over(w.Rows[2].P99, w.Rows[3].P99)
}

func boolean(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (w *webhooks) print(out io.Writer) {
	lines := [][]string{{"milliseconds from the moment it was due", "n", "p50", "p99", "most", "aim for p99"}}
	for n, r := range append(slices.Clone(w.Rows), w.Late) {
		aim := "–"
		if n < 3 {
			aim = fmt.Sprintf("< %d", webhookAim)
		}
		lines = append(lines, []string{r.Name, fmt.Sprint(r.N), fmt.Sprintf("%.1f", r.P50), fmt.Sprintf("%.1f", r.P99), fmt.Sprintf("%.1f", r.Max), aim})
	}
	lines = append(lines, []string{"ratio, both / bare signal", "", fmt.Sprintf("%.2f", w.RatioP50), fmt.Sprintf("%.2f", w.RatioP99)})
	table(out, fmt.Sprintf("WEBHOOKS: %d a second for %.1f s in %d conversations, beside %.1f whole calls a second (load %s → %s)",
		w.Rate, w.Seconds, talks, w.Calls, w.Load, w.After), lines)
	others := "none"
	if len(w.Statuses) > 0 {
		others = ""
		for _, status := range slices.Sorted(maps.Keys(w.Statuses)) {
			others += fmt.Sprintf("%d×%d ", w.Statuses[status], status)
		}
	}
	table(out, "WHAT BECAME OF THE MESSAGES", [][]string{
		{"answered 200 at once", fmt.Sprintf("%d of %d (%.2f%%); others: %s", w.OK, w.Messages, 100*float64(w.OK)/float64(max(w.Messages, 1)), others)},
		{"CPU meanwhile, in cores: worker, Temporal", fmt.Sprintf("%.2f, %.2f", w.WorkerCPU, w.TemporalCPU)},
		{"sent again / never taken", fmt.Sprintf("%d / %d", w.Resent, w.Refused)},
		{"calls beside them that took more than 30 s", fmt.Sprint(w.Unfinished)},
		{"had their reply when the last came in", fmt.Sprint(w.Answered)},
		{"and after that", fmt.Sprintf("%d in %.0f s (%.1f a second)", w.DrainedOf, w.Drained, over(float64(w.DrainedOf), w.Drained))},
		{"of those taken: replied to once, waiting once", fmt.Sprintf("%d, %d of %d", w.Effects.Once, w.Effects.Waiting, w.Messages+talks-w.Refused)},
		{"nowhere / more than once / could not be asked", fmt.Sprintf("%d / %d / %d", w.Effects.Missing, w.Effects.Repeated, w.Effects.Unknown)},
	})
}
