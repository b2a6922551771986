package devstack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Not parallel: these set PATH.

func TestFindPrefersThePath(t *testing.T) {
	onPath, beside := t.TempDir(), t.TempDir()
	for _, dir := range []string{onPath, beside} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"), 0o700))
	}
	t.Setenv("PATH", onPath)
	found, err := find([]string{beside})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(onPath, program), found)

	t.Setenv("PATH", t.TempDir())
	found, err = find([]string{t.TempDir(), beside})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(beside, program), found)
}

func TestFindWithoutTemporalSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, program), nil, 0o600), "not executable")
	_, err := find([]string{dir})
	require.ErrorIs(t, err, ErrNoTemporal)
	require.ErrorContains(t, err, "`make build`")
}
