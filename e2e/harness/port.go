package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports below the range from which the kernel takes those of outgoing
// connections (32768 on Linux): one that a killed server had is still free when
// its successor wants it.
const firstPort, lastPort = 15000, 32000

var ports struct {
	sync.Mutex
	given map[int]bool
}

// Port returns a port of 127.0.0.1 that is free, and that no other test of this
// process is given.
func Port(t testing.TB) int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[int]bool{}
	}
	for range 1000 {
		port := firstPort + rand.N(lastPort-firstPort)
		if ports.given[port] {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", Address(port))
		if err != nil {
			continue
		}
		_ = listener.Close()
		ports.given[port] = true
		return port
	}
	t.Fatal("no free port was found")
	return 0
}

// Address is host:port on loopback.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// URL is an HTTP address on loopback.
func URL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

func portText(port int) string { return strconv.Itoa(port) }
