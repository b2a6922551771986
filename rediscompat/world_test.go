package rediscompat

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

// brisk keeps the order of the intervals of usual, at a tenth; but it waits longer
// for a server that has to share the machine with many others.
var brisk = pace{
	reconcile: 300 * time.Millisecond, probe: 50 * time.Millisecond, recheck: 100 * time.Millisecond,
	again: 250 * time.Millisecond, sweep: time.Second, patience: time.Second, attempt: 5 * time.Second,
}

var thread = chat.Thread{Connector: chat.Telegram, Key: "-100:7"}

const (
	awaiting = "awaiting_confirm:telegram:-100:7"
	confirm  = "confirm:telegram:-100:7"
)

// world stands for Temporal: what is pending there, and the answers it has got.
type world struct {
	mu      sync.Mutex
	pending []Pending
	away    bool
	answers chan Answer
	// refuse, when set, is what Answer does first.
	refuse func(context.Context, Answer) error
	logs   strings.Builder
}

var errTemporal = errors.New("temporal is away")

func newWorld() *world { return &world{answers: make(chan Answer, 10_000)} }

func (w *world) ask(p ...Pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = p
}

func (w *world) leave(away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = away
}

func (w *world) Pending(context.Context) ([]Pending, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away {
		return nil, errTemporal
	}
	return slices.Clone(w.pending), nil
}

func (w *world) Answer(ctx context.Context, a Answer) error {
	if w.refuse != nil {
		if err := w.refuse(ctx, a); err != nil {
			return err
		}
	}
	w.answers <- a
	return nil
}

// Ours: invocations of these tests begin with "inv".
func (w *world) Ours(_ context.Context, value string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away {
		return false, errTemporal
	}
	return strings.HasPrefix(value, "inv"), nil
}

// Write makes it a log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logs.Write(p)
}

func (w *world) log() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logs.String()
}

func (w *world) params(url string) Params {
	return Params{
		URL: url, Pending: w.Pending, Answer: w.Answer, Ours: w.Ours,
		Logger: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// mirror is one that does not run: nothing repairs what a test looks at.
func (w *world) mirror(t *testing.T, url string) *Mirror {
	t.Helper()
	m, err := newMirror(w.params(url), brisk)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Shutdown() })
	return m
}

// running is one that compares with Temporal, at the given pace.
func (w *world) running(t *testing.T, url string, p pace) *Mirror {
	t.Helper()
	m, err := newMirror(w.params(url), p)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, m.Shutdown())
	})
	return m
}

func (w *world) next(t *testing.T) Answer {
	t.Helper()
	select {
	case a := <-w.answers:
		return a
	case <-time.After(15 * time.Second):
		require.FailNow(t, "no answer came", w.log())
		return Answer{}
	}
}

func (w *world) silent(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case a := <-w.answers:
		require.FailNow(t, "an answer came that should not", "%+v", a)
	case <-time.After(d):
	}
}

func eventually(t *testing.T, within time.Duration, what string, check func() bool) {
	t.Helper()
	require.Eventually(t, check, within, 10*time.Millisecond, what)
}
