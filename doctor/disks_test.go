package doctor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/doctor"
)

func TestDisks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	occupied := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(occupied, nil, 0o600))
	local, other := filepath.Join(dir, "local"), filepath.Join(dir, "other")
	require.NoError(t, os.MkdirAll(filepath.Join(local, "inbound"), 0o700))
	require.NoError(t, os.MkdirAll(other, 0o700))
	for name, test := range map[string]struct {
		file string
		want []string
		says string
	}{
		"one":             {"disks: {local: 'file://" + local + "'}", []string{"ok local", "ok attachments"}, "can be written, read and deleted"},
		"no inbound yet":  {"disks: {local: 'file://" + other + "'}", []string{"ok local", "ok attachments"}, ""},
		"in memory":       {"disks: {local: 'mem://'}", []string{"ok local", "ok attachments"}, ""},
		"attachments too": {"disks: {local: 'file://" + local + "', keep: 'file://" + other + "'}\nattachments: {disk: keep}", []string{"ok local", "ok keep", "ok attachments"}, "keep can be written"},
		"not there yet":   {"disks: {local: 'file://" + dir + "/new'}", []string{"warn local"}, "the worker makes it"},
		"a file":          {"disks: {local: 'file://" + occupied + "'}", []string{"fail local"}, "is no folder"},
		"below a file":    {"disks: {local: 'file://" + occupied + "/x'}", []string{"fail local"}, "worker's user"},
		"an odd one":      {"disks: {local: 'gopher://user:hidden-0123@x'}", []string{"fail local"}, "gopher"},
		"no bucket": {"disks: {local: 's3://bucket?region=eu-central-1&endpoint=http://127.0.0.1:1&use_path_style=true'}",
			[]string{"fail local"}, "AWS_"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := examine(t, doctor.Disks{Config: load(t, test.file)}.Check)
			require.Equal(t, test.want, found.short(), found)
			found.says(t, test.says)
		})
	}
	t.Cleanup(func() {
		for _, folder := range []string{filepath.Join(local, "inbound"), other} {
			left, err := os.ReadDir(folder)
			require.NoError(t, err)
			require.Empty(t, left, "the probe is gone")
		}
		require.NoDirExists(t, filepath.Join(dir, "new"), "nothing is made")
	})
}
