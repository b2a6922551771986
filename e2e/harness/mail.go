package harness

import (
	"slices"
	"strings"
	"testing"
)

// AddEngine starts one more process that runs workflows and activities of this World, beside
// the one that KillEngine ends. Its name is for logs.
func (w *World) AddEngine(t testing.TB, name string) *Process {
	t.Helper()
	p := start(t, command{name: name, path: w.programs.Worker, args: []string{"--roles", "engine"}, env: w.env})
	p.AwaitLog(t, `msg="the engine is running"`)
	return p
}

// SetEnv changes a setting of the processes that are started from now on.
func (w *World) SetEnv(name, value string) {
	prefix := name + "="
	w.env = slices.DeleteFunc(slices.Clone(w.env), func(line string) bool { return strings.HasPrefix(line, prefix) })
	w.env = append(w.env, prefix+value)
}
