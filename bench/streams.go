package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// streams is what many open pages cost, and how late they hear of a question.
type streams struct {
	Open int `json:"open"`
	// Wanted questions a second, and how many were asked and answered.
	Wanted float64 `json:"wanted_per_second"`
	Asked  float64 `json:"asked_per_second"`
	// Unanswered: they were asked only.
	Unanswered bool `json:"unanswered,omitempty"`
	N          int  `json:"questions"`
	// Idle is the worker's memory without streams, Quiet with them and nothing to say, Peak the
	// most while it was asked; in MB.
	Idle  float64 `json:"idle_mb"`
	Quiet float64 `json:"open_mb"`
	Peak  float64 `json:"peak_mb"`
	// CPU of the worker and of Temporal meanwhile, in cores.
	WorkerCPU   float64 `json:"worker_cores"`
	TemporalCPU float64 `json:"temporal_cores"`
	// Told is from the moment that the event itself names to its arrival at a stream; Since the
	// same from when somebody asked, which is mostly Temporal.
	Told  row `json:"told"`
	Since row `json:"since_asked"`
	// Missed are questions that a stream was not told of, or not of their end; Dropped are the
	// events that say so ("lost"), after which a page looks for itself.
	Missed  int    `json:"missed"`
	Dropped int    `json:"lost_events"`
	After   string `json:"load_after"`
}

// asking keeps what is asked, by invocation.
type asking struct {
	mu    sync.Mutex
	began map[string]time.Time
}

// measureStreams opens the streams, then asks beside them.
func measureStreams(ctx context.Context, r *rig, s settings) (*streams, error) {
	st := &streams{Open: s.streams, Wanted: float64(s.asking), Unanswered: s.unanswered}
	if err := pause(ctx, s.settle); err != nil {
		return nil, err
	}
	var err error
	if st.Idle, err = rss(r.worker.pid); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	open, err := r.openStreams(ctx, s.streams)
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, s.settle); err != nil {
		return nil, err
	}
	if st.Quiet, err = rss(r.worker.pid); err != nil {
		return nil, err
	}
	peak, err := watchPeak(r.worker.pid)
	if err != nil {
		return nil, err
	}
	worker, temporal := &meter{pid: r.worker.pid}, &meter{pid: r.temporal.PID()}
	var asked map[string]time.Time
	began := time.Now()
	err = worker.over(func() error {
		return temporal.over(func() (err error) { asked, err = r.ask(ctx, s); return err })
	})
	took := time.Since(began)
	most, _, peakErr := peak()
	if err := errors.Join(err, peakErr); err != nil {
		return nil, err
	}
	st.Peak, st.N, st.Asked = most, len(asked), round(float64(len(asked))/took.Seconds(), 1)
	st.WorkerCPU, st.TemporalCPU = round(float64(worker.total)/float64(took), 2), round(float64(temporal.total)/float64(took), 2)
	if err := pause(ctx, s.settle); err != nil { // what is on its way
		return nil, err
	}
	st.After = loadNow()
	cancel()
	if err := st.sum(open, asked); err != nil {
		return nil, err
	}
	return st, nil
}

// ask asks, and unless the questions are to stay open answers, at the wanted rate, as many at once as that needs and a Temporal can bear.
func (r *rig) ask(ctx context.Context, s settings) (map[string]time.Time, error) {
	const lanes = 64
	asked := asking{began: map[string]time.Time{}}
	free := make(chan int, lanes)
	for lane := range lanes {
		free <- lane
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	end := time.Now().Add(s.during)
	for n, next := 0, time.Now(); time.Now().Before(end) && ctx.Err() == nil; n, next = n+1, next.Add(time.Second/time.Duration(s.asking)) {
		if pause(ctx, time.Until(next)) != nil {
			break
		}
		lane := <-free
		wait.Go(func() {
			chat := int64(-9_000_000 - lane)
			if s.unanswered { // each in a conversation of its own, or they would replace each other
				chat -= lanes * int64(n)
			}
			if err := r.askOnce(ctx, chat, &asked, !s.unanswered); err != nil {
				cancel(err)
			}
			free <- lane
		})
	}
	wait.Wait()
	return asked.began, context.Cause(ctx)
}

// askOnce asks in a Telegram chat and, if it is to be answered, decides over HTTP.
func (r *rig) askOnce(ctx context.Context, chat int64, asked *asking, answered bool) error {
	name, _, err := r.file()
	if err != nil {
		return err
	}
	posts := r.bot.listen(chat)
	defer r.bot.deaf(chat)
	began := time.Now()
	id, err := r.gateway.invoke(ctx, chat, name)
	if err != nil {
		return err
	}
	if _, err := take(ctx, posts, func(p post) bool { return p.invocation == id }); err != nil {
		return err
	}
	asked.mu.Lock()
	asked.began[id] = began
	asked.mu.Unlock()
	if !answered {
		return nil
	}
	if _, err := r.gateway.allow(ctx, id); err != nil {
		return err
	}
	return r.gateway.completed(ctx, id)
}
