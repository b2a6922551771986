package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// busyLanes are the calls in flight beside what is measured.
const busyLanes = 4

// busy is a second load: whole calls over HTTP, one after the other in each lane.
type busy struct {
	done, unfinished, kept atomic.Int64
	began                  time.Time
	cancel                 context.CancelFunc
	lanes                  sync.WaitGroup
}

// beBusy asks, decides and completes calls until it is ended.
func (r *rig) beBusy(ctx context.Context) *busy {
	b := &busy{}
	ctx, b.cancel = context.WithCancel(ctx)
	for lane := range busyLanes {
		b.lanes.Go(func() {
			for ctx.Err() == nil {
				switch err := r.oursOnce(ctx, int64(-8_000_000-lane), &b.kept); {
				case err == nil:
					b.done.Add(1)
				case ctx.Err() == nil:
					b.unfinished.Add(1)
				}
			}
		})
	}
	return b
}

// count begins to count.
func (b *busy) count() {
	b.began = time.Now()
	b.done.Store(0)
	b.unfinished.Store(0)
}

// end stops it, and tells how many calls a second came to their end since count.
func (b *busy) end() (rate float64, unfinished int64) {
	rate = round(float64(b.done.Load())/time.Since(b.began).Seconds(), 1)
	b.cancel()
	b.lanes.Wait()
	return rate, b.unfinished.Load()
}
