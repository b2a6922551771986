//go:build unix

package filemanager_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestG01Links(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "s"), []byte("outside"), 0o600))
	b := newBench(t, setup{url: "file://" + dir})
	write(t, b.program, "inbound/u/x", "secret")
	write(t, b.local, "docs/a.txt", "A")
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "l")))
	require.NoError(t, os.Symlink("inbound", filepath.Join(dir, "in")))
	require.NoError(t, os.Symlink("../inbound", filepath.Join(dir, "docs", "back")))
	for _, name := range []string{"l", "l/", "l/s", "in", "in/u/x", "docs/back/u/x", "in/none"} {
		for operation, parameters := range map[string]values{
			"list": {}, "read": {}, "exists": {}, "write": {"content": "x"}, "append": {"content": "x"}, "delete": {}, "attach_to_reply": {},
			"mkdir": {}, "move": {"destination": "x"}, "copy": {"destination": "x"},
		} {
			parameters["disk"], parameters["path"] = "local", name
			require.NotContains(t, b.refused(t, operation, parameters), "exist", "%s %s", operation, name)
		}
		b.refused(t, "copy", values{"disk": "local", "path": "docs/a.txt", "destination": name})
	}
	require.Len(t, b.do(t, "list", values{"disk": "local", "path": ""})["entries"], 1)
	require.Equal(t, "secret", read(t, b.program, "inbound/u/x"))

	// A folder with such a link in it.
	for _, operation := range []string{"copy", "move"} {
		reason := b.refused(t, operation, values{"disk": "local", "path": "docs", "destination": "away"})
		require.Contains(t, reason, `"docs/back" is a link`)
		require.False(t, exists(t, b.local, "away"))
		require.Equal(t, "A", read(t, b.local, "docs/a.txt"))
	}
}
