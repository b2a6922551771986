package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// pageReport is what the web page does with answers, and with many who look on.
type pageReport struct {
	// Seen is one call at a time, HTTP decisions and the minimal workflow in turn with it.
	Seen   []row   `json:"seen"`
	Ratios []ratio `json:"ratios"`
	// Live is how large /live is at the end of a conversation, in kB, and Fetches how often it
	// was fetched for one answer (median).
	Live    float64 `json:"live_kb"`
	Fetches int     `json:"fetches"`
	Load    string  `json:"load_before"`
	Between string  `json:"load_between"`

	Streams *streams `json:"streams"`
}

// perConversation is after how many calls the person begins a conversation anew.
const perConversation = 25

// measurePage looks at answers one by one, then lets many look on.
func measurePage(ctx context.Context, s settings, rep *report, progress io.Writer) (_ printed, err error) {
	p := &pageReport{Load: loadNow()}
	r, err := newRig(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.stop(progress)) }()
	rep.Redis = r.redisName
	if err := r.warm(ctx); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	if err := p.seen(ctx, r, s); err != nil {
		return nil, err
	}
	p.Between = loadNow()
	fmt.Fprintf(progress, "%d event streams …\n", s.streams)
	if p.Streams, err = measureStreams(ctx, r, s); err != nil {
		return nil, fmt.Errorf("event streams: %w", err)
	}
	rep.Page = p
	return p, nil
}

// decision is an HTTP decision and when its result was there for whoever waits for it.
type decision struct {
	timing
	result time.Time
}

// resultCall is httpCall that waits for the result.
func (r *rig) resultCall(ctx context.Context, chat int64) (decision, error) {
	var d decision
	t, err := r.ownCall(ctx, chat, func(ctx context.Context, p post) error {
		if _, err := r.gateway.allow(ctx, p.invocation); err != nil {
			return err
		}
		err := r.gateway.completed(ctx, p.invocation)
		d.result = time.Now()
		return err
	})
	d.timing = t
	return d, err
}

// seen goes round: the page, an HTTP decision, the minimal workflow.
func (p *pageReport) seen(ctx context.Context, r *rig, s settings) error {
	var page *page
	defer func() {
		if page != nil {
			page.close()
		}
	}()
	var all []sight
	var results, gone, minimal, fetched series
	var fetches []int
	calls := max(s.calls/2, 1)
	for end := time.Now().Add(s.budget); len(all) < calls && (len(all) == 0 || time.Now().Before(end)); {
		if len(all)%perConversation == 0 {
			if page != nil {
				page.close()
			}
			var err error
			if page, err = r.openPage(ctx); err != nil {
				return fmt.Errorf("open the web page: %w", err)
			}
			if _, err := r.seenCall(ctx, page); err != nil { // the first one makes the conversation
				return fmt.Errorf("the page: %w", err)
			}
		}
		one, err := r.seenCall(ctx, page)
		if err != nil {
			return fmt.Errorf("the page, call %d: %w", len(all), err)
		}
		d, err := r.resultCall(ctx, -2)
		if err != nil {
			return fmt.Errorf("HTTP: %w", err)
		}
		m, err := r.minimalCall(ctx)
		if err != nil {
			return err
		}
		all, fetched, fetches = append(all, one), append(fetched, one.fetched...), append(fetches, len(one.fetched))
		results, gone = append(results, d.result.Sub(d.answered)), append(gone, toEffect(d.timing))
		minimal = append(minimal, toAcknowledged(m))
	}
	html, err := page.live(ctx)
	if err != nil {
		return err
	}
	p.Live, p.Fetches = round(float64(len(html))/1000, 1), median(fetches)
	decided, replied, effect := sights(all, toDecided), sights(all, toReplied), sights(all, toGone)
	p.Seen = []row{
		sights(all, toTaken).row("page: answer → the gateway says taken"), effect.row("page: answer → file gone"),
		decided.row("page: answer → the card on the page says so"),
		replied.row("page: answer → the result is on the page"),
		fetched.row("page: one fetch of /live"),
		gone.row("HTTP: decision → file gone"), results.row("HTTP: decision → the result is there (GET ?wait)"),
		minimal.row("minimal: signal → result"),
	}
	p.Ratios = []ratio{
		beside("page: answer → result on the page / HTTP: decision → result", replied, results, 0),
		beside("page: answer → card on the page / HTTP: decision → result", decided, results, 0),
		beside("page: answer → file gone / HTTP: decision → file gone", effect, gone, 0),
		beside("page: answer → result on the page / minimal: signal → result", replied, minimal, 0),
	}
	return nil
}

func (p *pageReport) print(out io.Writer) {
	lines := [][]string{{"one at a time, milliseconds", "n", "p50", "p99"}}
	table(out, fmt.Sprintf("PAGE: from the answer to what the person sees (load %s)", p.Load), rows(lines, p.Seen))
	lines = [][]string{{"ratio, side by side", "of medians", "median of pairs"}}
	for _, r := range p.Ratios {
		lines = append(lines, []string{r.Name, fmt.Sprintf("%.2f", r.Ratio), fmt.Sprintf("%.2f", r.Pairs)})
	}
	lines = append(lines, []string{"/live at the end, kB / fetches for an answer", fmt.Sprintf("%.1f", p.Live), fmt.Sprint(p.Fetches)})
	table(out, "RATIOS", lines)
	p.Streams.print(out, p.Between)
}
