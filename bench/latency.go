package main

import (
	"context"
	"fmt"
	"time"
)

// latency is what one call at a time takes.
type latency struct {
	Rows   []row   `json:"rows"`
	Ratios []ratio `json:"ratios"`
	// Stages are where the time from a text answer to its effect goes, by the times that the
	// histories record; Minimal the same for the minimal workflow.
	Stages  []row `json:"stages"`
	Minimal []row `json:"stages_minimal"`
}

// ratio of two medians that were taken side by side.
type ratio struct {
	Name string `json:"name"`
	// Ratio of the medians; Pairs is the median over the ratios of neighbours.
	Ratio float64 `json:"ratio"`
	Pairs float64 `json:"median_of_pairs"`
	// Aim is what it should be at most; 0 where nothing is aimed at.
	Aim float64 `json:"aim,omitempty"`
}

// samples of one path, and of the minimal workflow that was run right after each.
type samples struct {
	ours, minimal []timing
}

// paths of the latency measurement, in their order in the report.
const (
	byText = iota
	byHTTP
	byButton
	onPage
	paths
)

// measureLatency goes round: a message answered by text, the minimal workflow, and every third
// time the other paths, each followed by the minimal workflow.
func measureLatency(ctx context.Context, r *rig, s settings) (*latency, error) {
	p, err := r.openPage(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the web page: %w", err)
	}
	defer p.close()
	var got [paths]samples
	calls := [paths]func() (timing, error){
		byText:   func() (timing, error) { return r.messageCall(ctx, ada.ID) },
		byHTTP:   func() (timing, error) { return r.httpCall(ctx, -2) },
		byButton: func() (timing, error) { return r.buttonCall(ctx, -3) },
		onPage:   func() (timing, error) { return r.pageCall(ctx, p) },
	}
	if _, err := calls[onPage](); err != nil { // the others are warm
		return nil, fmt.Errorf("the web page: %w", err)
	}
	end := time.Now().Add(s.budget)
	for n := 0; n < s.calls && time.Now().Before(end); n++ {
		for path, ours := range calls {
			if path != byText && n%3 != 0 {
				continue
			}
			t, err := ours()
			if err != nil {
				return nil, fmt.Errorf("call %d, path %d: %w", n, path, err)
			}
			m, err := r.minimalCall(ctx)
			if err != nil {
				return nil, err
			}
			got[path].ours, got[path].minimal = append(got[path].ours, t), append(got[path].minimal, m)
		}
	}
	l := summary(got)
	l.Stages, l.Minimal, err = r.stages(ctx, last(got[byText].ours, s.traced), last(got[byText].minimal, s.traced))
	return l, err
}

func last[T any](items []T, n int) []T { return items[max(0, len(items)-n):] }

// The spans of a timing.
func toPrompt(t timing) time.Duration       { return t.prompt.Sub(t.began) }
func toEffect(t timing) time.Duration       { return t.effect.Sub(t.answered) }
func toAcknowledged(t timing) time.Duration { return t.acknowledged.Sub(t.answered) }

func spans(timings []timing, span func(timing) time.Duration) series {
	s := make(series, len(timings))
	for n, t := range timings {
		s[n] = span(t)
	}
	return s
}

func summary(got [paths]samples) *latency {
	var minimal []timing
	for _, g := range got {
		minimal = append(minimal, g.minimal...)
	}
	return &latency{
		Rows: []row{
			spans(got[byText].ours, toPrompt).row("Telegram message → prompt at Telegram"),
			spans(got[onPage].ours, toPrompt).row("web page message → prompt on the page"),
			spans(got[byHTTP].ours, toPrompt).row("POST /api/invocations → prompt at Telegram"),
			spans(minimal, toPrompt).row("minimal: start → prompt at Telegram"),
			spans(got[byText].ours, toEffect).row("Telegram text \"yes\" → file gone"),
			spans(got[byButton].ours, toEffect).row("Telegram button → file gone"),
			spans(got[onPage].ours, toEffect).row("web page button → file gone"),
			spans(got[byHTTP].ours, toEffect).row("HTTP decision → file gone"),
			spans(got[byHTTP].ours, toAcknowledged).row("HTTP decision → 200"),
			spans(minimal, toEffect).row("minimal: signal → file gone"),
			spans(minimal, toAcknowledged).row("minimal: signal → result"),
		},
		Ratios: []ratio{
			compare("text answer → effect / minimal signal → result", got[byText], toEffect, toAcknowledged, 1.5),
			compare("text answer → effect / minimal signal → effect", got[byText], toEffect, toEffect, 0),
			compare("button → effect / minimal signal → result", got[byButton], toEffect, toAcknowledged, 0),
			compare("web page button → effect / minimal signal → result", got[onPage], toEffect, toAcknowledged, 0),
			compare("HTTP decision → effect / minimal signal → result", got[byHTTP], toEffect, toAcknowledged, 0),
		},
	}
}

func compare(name string, s samples, ours, minimal func(timing) time.Duration, aim float64) ratio {
	return beside(name, spans(s.ours, ours), spans(s.minimal, minimal), aim)
}

// beside compares two series whose entries were taken in turn.
func beside(name string, a, b series, aim float64) ratio {
	pairs := make([]float64, min(len(a), len(b)))
	for n := range pairs {
		pairs[n] = over(float64(a[n]), float64(b[n]))
	}
	return ratio{Name: name, Ratio: over(float64(a.at(0.5)), float64(b.at(0.5))), Pairs: median(pairs), Aim: aim}
}
