package harness

import (
	"testing"
	"time"
)

const (
	// patience bounds every wait; on a busy machine a restart takes a few seconds.
	patience = 60 * time.Second
	interval = 25 * time.Millisecond
)

// Until asks look again and again until it says yes, and returns what it saw.
func Until[T any](t testing.TB, what string, look func() (T, bool)) T {
	t.Helper()
	seen, ok := within(patience, look)
	if !ok {
		t.Fatalf("waited %s for: %s; last seen: %+v", patience, what, seen)
	}
	return seen
}

// Eventually is Until for a condition that has nothing to show.
func Eventually(t testing.TB, what string, look func() bool) {
	t.Helper()
	Until(t, what, func() (struct{}, bool) { return struct{}{}, look() })
}

func within[T any](limit time.Duration, look func() (T, bool)) (seen T, ok bool) {
	deadline := time.Now().Add(limit)
	for {
		if seen, ok = look(); ok || time.Now().After(deadline) {
			return seen, ok
		}
		time.Sleep(interval)
	}
}

// Pass lets a deadline pass that the product has set: the one thing that only time brings about.
func Pass(t testing.TB, deadline time.Time) {
	t.Helper()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal("the test's time is over")
	}
}
