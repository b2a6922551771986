package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a child that ends with this program at the latest.
type process struct {
	name string
	pid  int
	log  string
	done chan struct{}
}

// startProcess starts a program whose output goes to a file.
func startProcess(name, log string, env []string, path string, args ...string) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("make the log of %s: %w", name, err)
	}
	defer file.Close() // the child has its own
	p := &process{name: name, log: log, done: make(chan struct{})}
	command := exec.Command(path, args...) //nolint:noctx // stop ends it, politely
	command.Env, command.Stdout, command.Stderr = env, file, file
	command.SysProcAttr = dependent()
	started := make(chan error)
	go func() {
		// The kernel ties the death signal to the thread that started the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		if err == nil {
			p.pid = command.Process.Pid
		}
		started <- err
		if err == nil {
			_ = command.Wait() // how it ended is in its log
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// stop asks politely, and waits until the process is gone.
func (p *process) stop() {
	_ = syscall.Kill(p.pid, syscall.SIGTERM)
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-p.done:
		return
	case <-timer.C:
	}
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
	<-p.done
}

// tail is the end of its log, for an error message.
func (p *process) tail() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	const enough = 3000
	return string(content[max(0, len(content)-enough):])
}

// freePort was free just now.
func freePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("look for a free port: %w", err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.Join(errors.New("look for a free port: not TCP"), listener.Close())
	}
	return address.Port, listener.Close()
}

// until looks every few milliseconds whether something is so.
func until(ctx context.Context, what string, patience time.Duration, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		ok, err := is()
		if err != nil {
			return fmt.Errorf("wait until %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w", what, ctx.Err())
		case <-time.After(3 * time.Millisecond):
		}
	}
}
