package harness

import (
	"bytes"
	"os/exec"
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

// Dev starts `worker --dev` as `make run` does: env are its settings, over an environment
// that has none.
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
