package rediscompat

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/countersignhq/countersign/chat"
)

// Params are what New needs.
type Params struct {
	// URL of the server: redis://[user:password@]host:port/db, rediss:// with TLS, unix://.
	// "?cluster=true" for Redis Cluster, with "&addr=host:port" for each further node.
	URL string
	// Prefix of every key (COUNTERSIGN_REDIS_PREFIX); a Laravel install uses one.
	Prefix string
	Logger *slog.Logger
	// Pending tells which questions are pending now, from Temporal; it may fail while
	// Temporal is away. Run needs it.
	Pending func(context.Context) ([]Pending, error)
	// Answer hands a pushed reply to its invocation; nil means that it is durable. It is
	// called again with the same Answer.ID until it has returned nil once. Run needs it.
	Answer func(context.Context, Answer) error
	// Ours tells whether a value of awaiting_confirm is an invocation of ours, running or ended.
	Ours func(context.Context, string) (bool, error)
	// Now is the clock of deadlines; time.Now where it is nil.
	Now func() time.Time
}

// Pending is a question that waits for a person, as Temporal knows it.
type Pending struct {
	Thread     chat.Thread
	Invocation string
	// Expires is the deadline; zero while the prompt has not been delivered.
	Expires time.Time
	// Timeout is the whole time a person has from the delivery on.
	Timeout time.Duration
}

// Answer is a reply that another program pushed.
type Answer struct {
	Invocation string
	Thread     chat.Thread
	// ID is the same whenever the same list element is handed over again.
	ID string
	// Text as it was pushed, at most 64 KiB of it; it may be blank.
	Text string
	// ReadAt is when it was first read from the list: what counts against the deadline.
	ReadAt time.Time
}

// pace holds the intervals, so that tests need not wait as long as people do.
type pace struct {
	reconcile time.Duration // between two comparisons with Temporal
	probe     time.Duration // between two looks whether Redis is back
	recheck   time.Duration // of a list that cannot be waited on now
	again     time.Duration // before a state that looked wrong once is taken for wrong
	sweep     time.Duration // between two searches for keys that nobody owns
	patience  time.Duration // for one call of Pending or Answer
	attempt   time.Duration // for one attempt of a command; there are two
}

// usual adds up to less than the 10 s of CONTRACT §5: a probe, a pass, the wait for a second look.
var usual = pace{
	reconcile: 3 * time.Second,
	probe:     500 * time.Millisecond,
	recheck:   time.Second,
	again:     2500 * time.Millisecond,
	sweep:     time.Minute,
	patience:  4 * time.Second,
	attempt:   500 * time.Millisecond,
}

// Mirror keeps the keys. Its methods may be called from several goroutines.
type Mirror struct {
	params   Params
	log      *slog.Logger
	now      func() time.Time
	pace     pace
	commands redis.UniversalClient
	blocking redis.UniversalClient

	breaker  breaker
	returned chan struct{} // Redis is back: compare at once

	ctx      context.Context // of everything that runs in the background
	stop     context.CancelFunc
	routines sync.WaitGroup
	ending   sync.Once

	mu        sync.Mutex
	questions map[string]*question   // by invocation
	closed    map[string]time.Time   // by invocation: closed here, lately
	unclosed  map[string]chat.Thread // by invocation: Close failed, to be repeated
}

// New returns a Mirror. It does not connect: Redis may be away. The error says
// what is wrong with the parameters and never holds the URL's password.
func New(params Params) (*Mirror, error) { return newMirror(params, usual) }

func newMirror(params Params, pace pace) (*Mirror, error) {
	if params.Ours == nil {
		return nil, errors.New("redis mirror: Params.Ours is missing")
	}
	commands, blocking, err := clients(params.URL, pace.attempt)
	if err != nil {
		return nil, err
	}
	m := &Mirror{
		params: params, log: params.Logger, now: params.Now, pace: pace,
		commands: commands, blocking: blocking,
		returned:  make(chan struct{}, 1),
		questions: map[string]*question{}, closed: map[string]time.Time{},
		unclosed: map[string]chat.Thread{},
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	if m.now == nil {
		m.now = time.Now
	}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m, nil
}

// Shutdown ends the waiters and closes the connections; the keys stay, since
// the questions do. Call it once nothing else uses the Mirror.
func (m *Mirror) Shutdown() error {
	m.halt()
	return m.commands.Close()
}

// halt ends what runs in the background. A blocked waiter notices only when its
// connection goes, so the blocking client is closed first.
func (m *Mirror) halt() {
	m.ending.Do(func() {
		m.mu.Lock()
		m.stop()
		m.mu.Unlock()
		if err := m.blocking.Close(); err != nil {
			m.log.Debug("closing the waiting redis connections", "error", err)
		}
	})
	m.routines.Wait()
}

// background runs do until it returns, unless the Mirror has ended.
func (m *Mirror) background(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spawn(do)
}

// spawn is background for callers that hold mu, which orders it with halt's Wait.
func (m *Mirror) spawn(do func()) {
	if m.ctx.Err() == nil {
		m.routines.Go(do)
	}
}

// pause waits, and tells whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
