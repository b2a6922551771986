package harness

import (
	"bytes"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Process is a child process and what it has printed.
type Process struct {
	Name string
	pid  int
	log  *log
	done chan struct{}
	code int
}

// command is what it takes to start one.
type command struct {
	name string
	path string
	args []string
	env  []string
	dir  string
}

// start starts a program that ends with this process, at the latest with the test.
func start(t testing.TB, c command) *Process {
	t.Helper()
	p := &Process{Name: c.name, log: newLog(), done: make(chan struct{})}
	child := exec.Command(c.path, c.args...) //nolint:noctx // it is killed, not cancelled
	child.Env, child.Dir = c.env, c.dir
	child.Stdout, child.Stderr = p.log, p.log
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// The kernel ties the death signal to the thread that started the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := child.Start()
		if err == nil {
			p.pid = child.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		_ = child.Wait()
		p.code = child.ProcessState.ExitCode()
		close(p.done)
	}()
	if err := <-started; err != nil {
		t.Fatalf("start %s: %v", c.name, err)
	}
	t.Cleanup(func() {
		p.Kill()
		if strings.Contains(p.Log(), "WARNING: DATA RACE") {
			t.Errorf("%s has a data race", c.name)
		}
		if t.Failed() {
			t.Logf("── log of %s ──\n%s", c.name, tail(p.Log(), 12000))
		}
	})
	return p
}

// PID of the process.
func (p *Process) PID() int { return p.pid }

// Kill is kill -9; it returns when the process is gone.
func (p *Process) Kill() {
	_ = p.signal(syscall.SIGKILL)
	<-p.done
}

// Signal sends a signal, as a terminal or a supervisor would.
func (p *Process) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := p.signal(signal); err != nil {
		t.Fatalf("signal %s: %v", p.Name, err)
	}
}

func (p *Process) signal(signal syscall.Signal) error {
	select {
	case <-p.done:
		return errors.New("it has ended")
	default:
		return syscall.Kill(p.pid, signal)
	}
}

// Wait waits for the end and returns the exit code (-1 where a signal ended it).
func (p *Process) Wait(t testing.TB, limit time.Duration) int {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.code
	case <-timer.C:
		t.Fatalf("%s has not ended within %s", p.Name, limit)
		return 0
	}
}

// Running tells whether it has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Log is what it has printed so far.
func (p *Process) Log() string { return p.log.String() }

// AwaitLog waits until it has printed text.
func (p *Process) AwaitLog(t testing.TB, text string) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		found, changed := p.log.contains(text)
		if found {
			return
		}
		select {
		case <-changed:
		case <-p.done:
			if found, _ := p.log.contains(text); !found {
				t.Fatalf("%s has ended with code %d and never printed %q:\n%s", p.Name, p.code, text, tail(p.Log(), 4000))
			}
			return
		case <-timer.C:
			t.Fatalf("%s does not print %q:\n%s", p.Name, text, tail(p.Log(), 4000))
		}
	}
}

// log keeps what a process prints and tells who waits for it.
type log struct {
	mu      sync.Mutex
	buffer  bytes.Buffer
	changed chan struct{}
}

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.buffer.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}

func (l *log) contains(text string) (bool, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Contains(l.buffer.Bytes(), []byte(text)), l.changed
}

func tail(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return "…" + text[len(text)-n:]
}
