package cli

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDemoUnattended(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]string{
		"yes":  {"Answered for you: yes", "The call ended: completed", "The file is gone."},
		"no":   {"Answered for you: no", "denied (PERMISSION_DENIED, denied)", "The file is still there."},
		"none": {"The question ends at 03:06:05 UTC", "denied (PERMISSION_DENIED, timeout)", "The file is still there."},
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			require.Equal(t, Done, b.run(t, "demo", "--answer", answer), b.stderr.String())
			for _, line := range append(want, "⚠️ Delete the file at reports/demo-20290102-030405-", "http://127.0.0.1:8233/namespaces/default/workflows/invocation%2F") {
				require.Contains(t, b.stdout.String(), line)
			}
			require.Equal(t, answer != "yes", len(b.engine.files) == 1)
		})
	}
}

func TestDemoInATerminal(t *testing.T) {
	t.Parallel()
	for typed, gone := range map[string]bool{
		"yes\n": true, "\n\n  YES \n": true, "no\n": false, "Yes.\n": false, "yes please\n": false, "always\n": false, "YES": true,
	} {
		b := newBench(t)
		b.tty, b.stdin = true, strings.NewReader(typed)
		require.Equal(t, Done, b.run(t, "demo"), "%q: %s", typed, b.stderr.String())
		require.Equal(t, gone, len(b.engine.files) == 0, "%q", typed)
	}
}

// H19: the end of the input is no answer: the question stays as it is.
func TestDemoWithoutAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tty = true
	require.Equal(t, Failed, b.run(t, "demo"))
	require.Contains(t, b.stderr.String(), "stays open until 03:06:05 UTC")
	for _, c := range b.engine.calls {
		if c.state.Approval != nil {
			require.Equal(t, "pending", c.state.Approval.Status)
		}
	}
	// Nobody types, and the demo's own time is over first.
	reader, writer := io.Pipe()
	t.Cleanup(func() { require.NoError(t, writer.Close()) })
	b.stdin = reader
	require.Equal(t, TimedOut, b.run(t, "demo", "--timeout", "100ms"))
	require.Contains(t, b.stderr.String(), "stays open")
}

func TestDemoJSON(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, Done, b.run(t, "demo", "--answer", "no", "--output", "json"))
	var got report
	require.NoError(t, json.Unmarshal(b.stdout.Bytes(), &got))
	require.True(t, got.Exists)
	require.Equal(t, "denied", got.Result.Status)
	require.Contains(t, got.Prompt, got.Path)
}

func TestDemoWhereNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.noAsk = true
	require.Equal(t, Failed, b.run(t, "demo", "--answer", "yes"))
	require.Contains(t, b.stderr.String(), "no_approver")
}
