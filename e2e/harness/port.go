package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// Ports below the range from which the kernel takes those of outgoing
// connections (32768 on Linux): one that a killed server had is still free when
// its successor wants it.
const firstPort, lastPort = 15000, 32000

// claims keeps the files whose locks keep the ports of this process from every
// other one that runs such tests; they end with the process.
var claims struct {
	sync.Mutex
	files []*os.File
}

// Port returns a port of 127.0.0.1 that is free, and that no other test on this
// machine is given while this process lives.
func Port(t testing.TB) int {
	t.Helper()
	folder := filepath.Join(os.TempDir(), "countersign-e2e-ports")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		port := firstPort + rand.N(lastPort-firstPort)
		if claim(filepath.Join(folder, portText(port))) && free(port) {
			return port
		}
	}
	t.Fatal("no free port was found")
	return 0
}

// claim tells whether nobody else has the port's file; locks are per open file,
// so this holds for other tests of this process too.
func claim(name string) bool {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return false
	}
	claims.Lock()
	defer claims.Unlock()
	claims.files = append(claims.files, file)
	return true
}

func free(port int) bool {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", Address(port))
	return err == nil && listener.Close() == nil
}

// Address is host:port on loopback.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", portText(port)) }

// URL is an HTTP address on loopback.
func URL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

func portText(port int) string { return strconv.Itoa(port) }
