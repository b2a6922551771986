package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/audit"
	"github.com/countersignhq/countersign/chat"
)

func entry(n int) activities.AuditEntry {
	return activities.AuditEntry{
		At: time.Date(2029, 1, 1, 9, 0, n, 0, time.UTC), Kind: "approved", Invocation: fmt.Sprintf("01J%03d", n), Tool: "file_manager",
		Operation: "delete", Thread: chat.Thread{Connector: chat.Telegram, Key: "a\nb\u2028c"}, Requester: "ada", Digest: "d",
		Decision: &chat.Decision{Decision: chat.Allow, By: "ada", Via: "telegram", Reason: "line\nbreak"},
	}
}

func lines(t *testing.T, dir string) []activities.AuditEntry {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	require.NoError(t, err)
	var entries []activities.AuditEntry
	for line := range bytes.Lines(content) {
		var e activities.AuditEntry
		require.NoError(t, json.Unmarshal(line, &e), "%q", line)
		entries = append(entries, e)
	}
	return entries
}

func open(t *testing.T, dir string) *audit.Log {
	t.Helper()
	log, err := audit.Open(dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	return log
}

func TestEntriesAreOnlyEverAdded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := open(t, dir)
	require.NoError(t, log.Record(t.Context(), entry(1)))
	require.NoError(t, log.Close())
	log = open(t, dir)
	require.NoError(t, log.Record(t.Context(), entry(2)))
	require.Equal(t, []activities.AuditEntry{entry(1), entry(2)}, lines(t, dir), "one line each, whatever is in it")
	info, err := os.Stat(filepath.Join(dir, "audit.jsonl"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// Two workers on one machine, each with several runs at once.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logs := []*audit.Log{open(t, dir), open(t, dir)}
	const writers = 50
	var wg sync.WaitGroup
	faults := make([]error, writers)
	for n := range writers {
		wg.Go(func() { faults[n] = logs[n%2].Record(t.Context(), entry(n)) })
	}
	wg.Wait()
	for _, err := range faults {
		require.NoError(t, err)
	}
	have := lines(t, dir)
	want := make([]activities.AuditEntry, 0, writers)
	for n := range writers {
		want = append(want, entry(n))
	}
	require.ElementsMatch(t, want, have)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	_, err := audit.Open(filepath.Join(t.TempDir(), "missing"), slog.Default())
	require.ErrorContains(t, err, "open the audit log")
	log := open(t, t.TempDir())
	require.NoError(t, log.Close())
	require.ErrorContains(t, log.Record(t.Context(), entry(1)), "write the audit log", "an entry that is lost must stop the run")
}

func ExampleLog_Record() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	log, err := audit.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	defer log.Close()
	err = log.Record(context.Background(), activities.AuditEntry{
		At: time.Date(2029, 1, 1, 9, 0, 0, 0, time.UTC), Kind: "granted", Invocation: "01J", Tool: "t", Operation: "o",
		Thread: chat.Thread{Connector: "web", Key: "s"},
	})
	if err != nil {
		panic(err)
	}
	content, _ := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	fmt.Print(string(content))
	// Output: {"at":"2029-01-01T09:00:00Z","kind":"granted","invocation":"01J","tool":"t","operation":"o","thread":{"connector":"web","key":"s"}}
}
