package emailtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program is a server that is running.
type program struct {
	command *exec.Cmd
	output  *buffer
	ended   chan struct{}
}

// start runs a server in a process group of its own and waits until a port answers.
func start(t testing.TB, port int, name string, args ...string) *program {
	t.Helper()
	p := &program{command: exec.Command(name, args...), output: &buffer{}, ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = p.output, p.output
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, p.command.Start())
	go func() {
		_ = p.command.Wait()
		close(p.ended)
	}()
	deadline := time.Now().Add(30 * time.Second)
	for {
		conn, err := net.DialTimeout("tcp", address(port), time.Second)
		if err == nil {
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			_, err = conn.Read(make([]byte, 1)) // the greeting
			conn.Close()
		}
		if err == nil {
			return p
		}
		select {
		case <-p.ended:
			require.Fail(t, name+" ended at its start", p.output.String())
		case <-time.After(20 * time.Millisecond):
		}
		require.True(t, time.Now().Before(deadline), "%s does not answer: %v\n%s", name, err, p.output)
	}
}

// stop ends a server and what it has started.
func (p *program) stop() {
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
	}
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// program finds one that Debian installs where users do not look.
func find(t testing.TB, name, pkg string) string {
	t.Helper()
	for _, dir := range append([]string{"/usr/sbin", "/usr/local/sbin"}, filepath.SplitList(os.Getenv("PATH"))...) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	require.FailNow(t, name+" is not installed, and this test needs it: run scripts/install-tools, or apt-get install "+pkg)
	return ""
}

// account runs a server's inner parts and owns the mail: servers do not let root do that.
func account(t testing.TB) *user.User {
	t.Helper()
	me, err := user.Current()
	require.NoError(t, err)
	if me.Uid == "0" {
		me, err = user.Lookup("nobody")
		require.NoError(t, err)
	}
	return me
}

// folder is one that others than its owner can reach, which t.TempDir does not make.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "emailtest-*") //nolint:usetesting // t.TempDir is for its owner alone, and so are its parents
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// freePort is one that was free a moment ago.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// buffer is a log that is written and read at once.
type buffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.TrimSpace(b.out.String())
}
