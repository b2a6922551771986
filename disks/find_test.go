//go:build unix

package disks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSwappedBetweenTwoLooks puts a link in the place of what was just looked at.
func TestSwappedBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "inbound"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "inbound", "f"), []byte("secret"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "docs"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("A"), 0o600))
	top, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, top.Close()) })
	folder, err := top.Lstat("docs")
	require.NoError(t, err)
	file, err := top.Lstat("a.txt")
	require.NoError(t, err)

	require.NoError(t, os.Remove(filepath.Join(dir, "docs")))
	require.NoError(t, os.Symlink("inbound", filepath.Join(dir, "docs")))
	_, err = enter(top, "docs", folder)
	require.ErrorIs(t, err, errChanged)

	require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
	_, err = openFile(top, "a.txt", file)
	require.ErrorIs(t, err, errChanged)
	require.NoError(t, os.Symlink("inbound/f", filepath.Join(dir, "a.txt")))
	_, err = openFile(top, "a.txt", file)
	require.ErrorIs(t, err, errChanged)
}
