package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Output is what a command has printed, and how it ended.
type Output struct {
	Code           int
	Stdout, Stderr string
}

// run runs a program to its end, with nothing to read.
func run(t testing.TB, c command) Output {
	t.Helper()
	var stdout, stderr bytes.Buffer
	child := exec.CommandContext(t.Context(), c.path, c.args...)
	child.Env, child.Dir = c.env, c.dir
	child.Stdout, child.Stderr = &stdout, &stderr
	child.WaitDelay = time.Second
	err := child.Run()
	if child.ProcessState == nil {
		t.Fatalf("run %s: %v", c.name, err)
	}
	return Output{Code: child.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// DevSettings are those of a `make run` on a data folder and ports of its own.
func DevSettings(t testing.TB) map[string]string {
	t.Helper()
	programs, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	env := Surroundings(t)
	env["PATH"] += string(filepath.ListSeparator) + programs.BinDir
	env["COUNTERSIGN_DATA_DIR"] = t.TempDir()
	env["COUNTERSIGN_HTTP_ADDR"] = Address(Port(t))
	for _, name := range []string{"COUNTERSIGN_TEMPORAL_PORT", "COUNTERSIGN_TEMPORAL_UI_PORT", "COUNTERSIGN_REDIS_PORT"} {
		env[name] = portText(Port(t))
	}
	return env
}

// Dev starts `worker --dev` as `make run` does, with these settings.
func Dev(t testing.TB, env map[string]string) *Process {
	t.Helper()
	programs, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	return start(t, command{name: "worker --dev", path: programs.Worker, args: []string{"--dev"}, env: lines(env), dir: t.TempDir()})
}

// Starter runs the command line with these settings.
func Starter(t testing.TB, env map[string]string, args ...string) Output {
	t.Helper()
	programs, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	return run(t, command{name: "starter", path: programs.Starter, args: args, env: lines(env), dir: t.TempDir()})
}

// Children are the process ids of a running process's children (Linux).
func (p *Process) Children(t testing.TB) (children []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(content)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, pid)
		}
	}
	return children
}

// Alive tells whether there is a process with this id that is no zombie.
func Alive(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(status), ") ")
	return !strings.HasPrefix(rest, "Z")
}
