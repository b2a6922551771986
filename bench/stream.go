package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// stream is one open page's feed. It keeps what came and looks at it later: what it cost to read
// would be part of what is measured.
type stream struct {
	ended  chan struct{}
	events []received
}

// received is an event as it came.
type received struct {
	at   time.Time
	data []byte
}

// event is what is read of it.
type event struct {
	Kind       string    `json:"kind"`
	Invocation string    `json:"invocation"`
	At         time.Time `json:"at"`
}

// perSession is how many tabs somebody has open: signing in 500 times would take 25 minutes.
const perSession = 50

// openStreams signs in a few times and opens the rest as further tabs.
func (r *rig) openStreams(ctx context.Context, n int) ([]*stream, error) {
	all := make([]*stream, n)
	var opening errgroup.Group
	opening.SetLimit(8)
	var p *page
	for k := range all {
		if k%perSession == 0 {
			var err error
			if p, err = r.signIn(ctx); err != nil {
				return nil, err
			}
			p.http.Transport = &http.Transport{} // each tab has a connection of its own
		}
		tab := p
		opening.Go(func() error {
			feed, err := tab.send(ctx, http.MethodGet, "/events", "", nil, http.StatusOK) //nolint:bodyclose // read closes it
			if err != nil {
				return fmt.Errorf("open event stream %d: %w", k, err)
			}
			all[k] = &stream{ended: make(chan struct{})}
			go all[k].read(feed.Body)
			return nil
		})
	}
	return all, opening.Wait()
}

func (s *stream) read(feed io.ReadCloser) {
	defer close(s.ended)
	defer feed.Close()
	for lines := bufio.NewScanner(feed); lines.Scan(); {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:")); ok {
			s.events = append(s.events, received{at: time.Now(), data: bytes.Clone(data)})
		}
	}
}

// The kinds of event that tell of a question and of its end.
const (
	eventAsked = "asked"
	eventLost  = "lost"
)

// ends are the kinds of which one tells a page that a question is over.
var ends = map[string]bool{"closed": true, "edited": true, "decided": true}

// sum reads what the streams were told; they have ended.
func (st *streams) sum(all []*stream, asked map[string]time.Time) error {
	var told, since series
	for _, s := range all {
		<-s.ended
		begun, over := map[string]bool{}, map[string]bool{}
		for _, r := range s.events {
			var e event
			if err := json.Unmarshal(r.data, &e); err != nil {
				return fmt.Errorf("an event: %w", err)
			}
			began, ours := asked[e.Invocation]
			switch {
			case e.Kind == eventLost:
				st.Dropped++
			case !ours:
			case e.Kind == eventAsked && !begun[e.Invocation]:
				begun[e.Invocation] = true
				told, since = append(told, r.at.Sub(e.At)), append(since, r.at.Sub(began))
			case ends[e.Kind]:
				over[e.Invocation] = true
			}
		}
		st.Missed += len(asked) - len(begun)
		if !st.Unanswered {
			st.Missed += len(asked) - len(over)
		}
	}
	st.Told, st.Since = told.row("event → stream"), since.row("asked → stream")
	return nil
}

func (st *streams) print(out io.Writer, load string) {
	what := "asked and answered"
	if st.Unanswered {
		what = "asked, none answered"
	}
	table(out, fmt.Sprintf("EVENT STREAMS: %d open; %.0f questions a second wanted, %.1f %s (%d; load %s → %s)",
		st.Open, st.Wanted, st.Asked, what, st.N, load, st.After), append(rows([][]string{{"milliseconds", "n", "p50", "p99"}}, []row{st.Told, st.Since}),
		[]string{"questions or ends that a stream missed / events \"lost\"", fmt.Sprintf("%d / %d", st.Missed, st.Dropped)},
		[]string{"worker MB: without streams, with them, most while asked", fmt.Sprintf("%.0f, %.0f, %.0f", st.Idle, st.Quiet, st.Peak)},
		[]string{"above idle, and kB a stream", fmt.Sprintf("%.0f, %.0f", st.Peak-st.Idle, 1000*over(st.Peak-st.Idle, float64(st.Open)))},
		[]string{"CPU meanwhile, in cores: worker, Temporal", fmt.Sprintf("%.2f, %.2f", st.WorkerCPU, st.TemporalCPU)},
	))
}
