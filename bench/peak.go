package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// watchPeak looks for the most memory that a process has resident until the result is called.
// Linux is asked to forget what it was before (proc(5), clear_refs); where it does not, sampling
// has to do.
func watchPeak(pid int) (most func() (mb float64, exact bool, err error), err error) {
	now, err := rss(pid)
	if err != nil {
		return nil, err
	}
	reset := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200) == nil
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				ended <- nil
				return
			case <-tick.C:
				mb, err := rss(pid)
				if err != nil {
					ended <- err
					return
				}
				now = max(now, mb)
			}
		}
	}()
	return func() (float64, bool, error) {
		close(done)
		if err := <-ended; err != nil {
			return 0, false, err
		}
		mark, err := memoryOf(pid, "VmHWM:")
		if reset && err == nil {
			return max(mark, now), true, nil
		}
		return now, false, nil
	}, nil
}

// rss is the resident memory of a process in MB (10^6 bytes).
func rss(pid int) (float64, error) { return memoryOf(pid, "VmRSS:") }

// memoryOf is a line of /proc/pid/status (proc(5)), which has kB, in MB.
func memoryOf(pid int, name string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read a process's memory (Linux only): %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return round(kb*1024/1e6, 1), err
		}
	}
	return 0, errors.New("read a process's memory: no " + name)
}
