package delivered

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

func stores(t *testing.T) map[string]*blob.Bucket {
	dir, err := Dir(t.TempDir() + "/new/folder")
	require.NoError(t, err)
	memory := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, errors.Join(dir.Close(), memory.Close())) })
	return map[string]*blob.Bucket{"dir": dir, "memory": memory}
}

func TestStore(t *testing.T) {
	t.Parallel()
	for name, bucket := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, store := t.Context(), New(bucket)
			read := func(owner, uuid, name string) (string, error) {
				reader, size, err := store.Open(ctx, owner, uuid, name)
				if err != nil {
					return "", err
				}
				content, err := io.ReadAll(reader)
				require.NoError(t, err)
				require.EqualValues(t, len(content), size)
				return string(content), reader.Close()
			}
			require.NoError(t, store.Save(ctx, "a", "1", "../x", strings.NewReader("first")))
			require.NoError(t, store.Save(ctx, "a", "1", "../x", strings.NewReader("again")))
			require.NoError(t, store.Save(ctx, "a", "2", "x", strings.NewReader("other message")))
			require.NoError(t, store.Save(ctx, "b", "1", "../x", strings.NewReader("other owner")))

			content, err := read("a", "1", "../x")
			require.NoError(t, err)
			require.Equal(t, "again", content)
			_, err = read("a", "1", "x")
			require.ErrorIs(t, err, fs.ErrNotExist)

			require.NoError(t, store.Remove(ctx, "a", "1"))
			require.NoError(t, store.Remove(ctx, "a", "1"))
			_, err = read("a", "1", "../x")
			require.ErrorIs(t, err, fs.ErrNotExist)
			_, err = read("b", "1", "../x")
			require.NoError(t, err)

			require.NoError(t, bucket.WriteAll(ctx, "web/feeds/x", nil, nil)) // of somebody else

			removed, err := store.Prune(ctx, time.Now().Add(-time.Hour))
			require.NoError(t, err)
			require.Zero(t, removed)
			removed, err = store.Prune(ctx, time.Now().Add(time.Hour))
			require.NoError(t, err)
			require.Equal(t, 2, removed)
			there, err := bucket.Exists(ctx, "web/feeds/x")
			require.NoError(t, err)
			require.True(t, there)
		})
	}
}

func TestBrokenReaderLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, bucket := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, broken := New(bucket), errors.New("broken pipe")
			content := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))
			require.ErrorIs(t, store.Save(t.Context(), "a", "1", "x", content), broken)
			_, _, err := store.Open(t.Context(), "a", "1", "x")
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}
