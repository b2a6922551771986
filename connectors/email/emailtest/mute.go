package emailtest

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Mute is a wire to a server. Once cut, connections that are open look alive and
// say nothing any more, in neither direction; new ones work.
type Mute struct {
	Port int

	mu    sync.Mutex
	cut   []chan struct{}
	count int
}

// NewMute puts a wire before a server.
func NewMute(t testing.TB, port int) *Mute {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	m := &Mute{Port: l.Addr().(*net.TCPAddr).Port}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address(port))
			if err != nil {
				client.Close()
				continue
			}
			cut := make(chan struct{})
			m.mu.Lock()
			m.cut = append(m.cut, cut)
			m.count++
			m.mu.Unlock()
			go pass(client, server, cut)
			go pass(server, client, cut)
		}
	}()
	return m
}

// Cut silences all connections that are open.
func (m *Mute) Cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.cut {
		close(c)
	}
	m.cut = nil
}

// Connections is how many were made so far.
func (m *Mute) Connections() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count
}

// pass copies until one side ends. What comes after the cut is swallowed.
func pass(to, from net.Conn, cut <-chan struct{}) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-cut:
			_, _ = io.Copy(io.Discard, from)
			return
		default:
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
