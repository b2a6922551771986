package disks_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/internal/testtools"
)

func TestNothingHalfDone(t *testing.T) {
	t.Parallel()
	broken := errors.New("the sender went away")
	onEachKind(t, func(t *testing.T, d pair) {
		ctx := t.Context()
		write(t, d.agent, "kept.txt", "before")
		half := func() io.Reader {
			return io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), iotest.ErrReader(broken))
		}
		require.ErrorIs(t, d.agent.Write(ctx, "kept.txt", half()), broken)
		require.ErrorIs(t, d.agent.Write(ctx, "new.txt", half()), broken)
		require.ErrorIs(t, d.agent.Create(ctx, "new.txt", half()), broken)
		require.ErrorIs(t, d.agent.Append(ctx, "kept.txt", half()), broken)

		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		require.Error(t, d.agent.Write(cancelled, "new.txt", strings.NewReader("x")))

		require.Equal(t, "before", read(t, d.agent, "kept.txt"))
		require.Equal(t, []string{"kept.txt"}, names(t, d.agent, "/"))
	})
}

// TestNotShownWhileWriting looks at the disk from inside the reader of a file that is being written.
func TestNotShownWhileWriting(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		looked := false
		content := io.MultiReader(strings.NewReader("first half"), readerFunc(func([]byte) (int, error) {
			require.Empty(t, names(t, d.agent, "docs"))
			exists, err := d.agent.Exists(t.Context(), "docs/slow.txt")
			require.NoError(t, err)
			require.False(t, exists)
			looked = true
			return 0, io.EOF
		}))
		_, err := d.agent.Mkdir(t.Context(), "docs")
		require.NoError(t, err)
		require.NoError(t, d.agent.Write(t.Context(), "docs/slow.txt", content))
		require.True(t, looked)
		require.Equal(t, []string{"docs/slow.txt"}, names(t, d.agent, "docs"))
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestManyWritersOneName(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		write(t, d.agent, "a.txt", "A")
		const writers = 8
		got := make([]string, writers)
		var group sync.WaitGroup
		for i := range writers {
			group.Go(func() {
				made, err := d.agent.Copy(t.Context(), "a.txt", "b.txt")
				if err == nil {
					got[i] = made
				}
			})
		}
		group.Wait()
		seen := map[string]bool{}
		for _, name := range got {
			require.NotEmpty(t, name)
			require.False(t, seen[name], "%s was given out twice", name)
			seen[name] = true
			require.Equal(t, "A", read(t, d.agent, name))
		}
	})
}

func TestLargeFileIsStreamedToS3(t *testing.T) {
	t.Parallel()
	d := open(t, testtools.S3(t))
	const size = 12 << 20 // more than one part of a multipart upload
	require.NoError(t, d.agent.Create(t.Context(), "big.bin", io.LimitReader(zeros{}, size)))
	info, err := d.agent.Stat(t.Context(), "big.bin")
	require.NoError(t, err)
	require.Equal(t, int64(size), info.Size)
	require.ErrorIs(t, d.agent.Create(t.Context(), "big.bin", io.LimitReader(zeros{}, size)), fs.ErrExist)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clearBytes(p); return len(p), nil }

func clearBytes(p []byte) {
	for i := range p {
		p[i] = 0
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		write(t, d.agent, "docs/a/b.txt", "one")
		before, err := d.agent.Fingerprint(t.Context(), "docs")
		require.NoError(t, err)
		again, err := d.agent.Fingerprint(t.Context(), "docs/")
		require.NoError(t, err)
		require.Equal(t, before, again)
		write(t, d.agent, "docs/a/b.txt", "other")
		after, err := d.agent.Fingerprint(t.Context(), "docs")
		require.NoError(t, err)
		require.NotEqual(t, before, after)
	})
}
