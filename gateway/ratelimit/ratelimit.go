package ratelimit

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Size is how many senders a Limiter remembers. The one that was quiet for longest is
// forgotten first; it then starts with a full allowance again.
const Size = 10_000

// Limiter allows each key so many messages a minute. Its zero value is not usable; a nil
// Limiter allows everything. It is safe for concurrent use.
type Limiter struct {
	perMinute int
	size      int
	now       func() time.Time

	mu      sync.Mutex
	buckets map[string]bucket
	recent  *list.List // keys, most recently used first
}

type bucket struct {
	limit *rate.Limiter
	place *list.Element
}

// New returns a Limiter of perMinute messages a minute and key: as many at once, then one
// whenever its share of the minute has passed. 0 or less switches it off (nil is returned).
// A nil now is time.Now.
func New(perMinute int, now func() time.Time) *Limiter {
	if perMinute <= 0 {
		return nil
	}
	if now == nil {
		now = time.Now
	}
	return &Limiter{
		perMinute: perMinute, size: Size, now: now,
		buckets: make(map[string]bucket), recent: list.New(),
	}
}

// Allow takes one message from the key's allowance and tells whether there was one.
func (l *Limiter) Allow(key string) bool {
	ok, _ := l.Take(key)
	return ok
}

// Take is Allow that also says how long to wait until the next message would be allowed.
func (l *Limiter) Take(key string) (ok bool, wait time.Duration) {
	if l == nil {
		return true, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	taken := l.bucket(key).ReserveN(now, 1)
	wait = taken.DelayFrom(now)
	if wait == 0 {
		return true, 0
	}
	taken.CancelAt(now) // a refused message costs nothing
	return false, wait
}

func (l *Limiter) bucket(key string) *rate.Limiter {
	if known, ok := l.buckets[key]; ok {
		l.recent.MoveToFront(known.place)
		return known.limit
	}
	if l.recent.Len() >= l.size {
		if oldest, ok := l.recent.Remove(l.recent.Back()).(string); ok {
			delete(l.buckets, oldest)
		}
	}
	fresh := bucket{limit: rate.NewLimiter(rate.Limit(float64(l.perMinute)/60), l.perMinute), place: l.recent.PushFront(key)}
	l.buckets[key] = fresh
	return fresh.limit
}
