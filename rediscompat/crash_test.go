package rediscompat

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that is killed at any point loses nothing, and repeats itself only
// under the same id. The process is this test program once more, see TestMain.
func TestKilledAtAnyPoint(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	ctx, them := t.Context(), other(t, server.url())
	journal := filepath.Join(t.TempDir(), "answers")
	require.NoError(t, them.Set(ctx, awaiting, "inv1", time.Hour).Err())

	const rounds, pushes = 12, 100
	interrupted := 0
	for round := range rounds {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "MIRROR_CHILD_REDIS="+server.url(), "MIRROR_CHILD_JOURNAL="+journal)
		child.Stderr = os.Stderr
		require.NoError(t, child.Start())
		known := len(lines(journal))
		for i := range pushes {
			require.NoError(t, them.RPush(ctx, confirm, fmt.Sprintf("answer %d.%d", round, i)).Err())
		}
		for deadline := time.Now().Add(20 * time.Second); len(lines(journal)) == known; time.Sleep(100 * time.Microsecond) {
			require.True(t, time.Now().Before(deadline), "it does not work")
		}
		time.Sleep(rand.N(5 * time.Millisecond)) // anywhere in the middle
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
		if them.LLen(ctx, confirm).Val() > 0 {
			interrupted++
		}
	}

	w := newWorld()
	w.ask(Pending{Thread: thread, Invocation: "inv1", Expires: time.Now().Add(time.Minute), Timeout: time.Minute})
	w.running(t, server.url(), brisk)
	eventually(t, 20*time.Second, "the rest is read", func() bool { return them.Exists(ctx, confirm).Val() == 0 })
	ids := map[string]string{}
	note := func(text, id string) {
		if first, again := ids[text]; again {
			require.Equal(t, first, id, text)
		}
		ids[text] = id
	}
	for _, line := range lines(journal) {
		text, id, found := strings.Cut(line, "\t")
		require.True(t, found, line)
		note(text, id)
	}
	require.Positive(t, interrupted, "every kill came too late to show anything")
	t.Logf("%d kills in the middle; %d answers handed over, %d of them twice", interrupted, len(lines(journal)), len(lines(journal))-len(ids))
	for len(w.answers) > 0 {
		a := <-w.answers
		note(a.Text, a.ID)
	}
	require.Len(t, ids, rounds*pushes)
}

func lines(path string) []string {
	content, _ := os.ReadFile(path)
	return strings.FieldsFunc(string(content), func(r rune) bool { return r == '\n' })
}

// TestMain also is the process that gets killed: it writes each answer to a journal.
func TestMain(m *testing.M) {
	url := os.Getenv("MIRROR_CHILD_REDIS")
	if url == "" {
		os.Exit(m.Run())
	}
	journal, err := os.OpenFile(os.Getenv("MIRROR_CHILD_JOURNAL"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	w := newWorld()
	w.ask(Pending{Thread: thread, Invocation: "inv1", Expires: time.Now().Add(time.Minute), Timeout: time.Minute})
	p := w.params(url)
	p.Answer = func(_ context.Context, a Answer) error {
		_, err := fmt.Fprintf(journal, "%s\t%s\n", a.Text, a.ID)
		return err
	}
	mirror, err := newMirror(p, brisk)
	if err != nil {
		panic(err)
	}
	panic(mirror.Run(context.Background()))
}
