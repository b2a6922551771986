package embedded

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// tick is how late a key may expire.
const tick = 50 * time.Millisecond

// Server is a running embedded Redis.
type Server struct {
	redis   *miniredis.Miniredis
	addr    string
	ending  sync.Once
	stopped chan struct{}
	ticking sync.WaitGroup
}

// Start listens on addr ("127.0.0.1:6380"; port 0 for a free one). It speaks
// plain text and asks for no password, so addr should be a loopback address.
func Start(addr string) (*Server, error) {
	redis := miniredis.NewMiniRedis()
	if err := redis.StartAddr(addr); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("embedded redis: %s is used by another program; "+
				"set COUNTERSIGN_REDIS_PORT to a free port, or REDIS_URL to a Redis that runs already: %w", addr, err)
		}
		return nil, fmt.Errorf("embedded redis: listening on %s: %w", addr, err)
	}
	s := &Server{redis: redis, addr: redis.Addr(), stopped: make(chan struct{})}
	s.ticking.Go(s.run)
	return s, nil
}

// run lets times to live pass, which miniredis does only when told to. It goes
// by the time that really passed: a ticker drops ticks on a busy machine.
func (s *Server) run() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-s.stopped:
			return
		case <-ticker.C:
			now := time.Now()
			s.redis.FastForward(now.Sub(last))
			last = now
		}
	}
}

// Addr is where it listens, "host:port".
func (s *Server) Addr() string { return s.addr }

// URL is its address in the form of REDIS_URL.
func (s *Server) URL() string { return "redis://" + s.addr + "/0" }

// Close ends it and forgets everything. It may be called again.
func (s *Server) Close() {
	s.ending.Do(func() {
		close(s.stopped)
		s.ticking.Wait()
		s.redis.Close()
	})
}
