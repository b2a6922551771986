package devstack_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/devstack"
)

func TestSampleIsMadeOnce(t *testing.T) {
	t.Parallel()
	dataDir := filepath.Join(t.TempDir(), "data")
	folder := filepath.Join(dataDir, "files")
	name := filepath.Join(folder, "reports", "old.csv")

	made, err := devstack.Sample(dataDir, folder)
	require.NoError(t, err)
	require.True(t, made)
	file, err := os.Open(name)
	require.NoError(t, err)
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.Greater(t, len(rows), 5)

	require.NoError(t, os.Remove(name))
	made, err = devstack.Sample(dataDir, folder)
	require.NoError(t, err)
	require.False(t, made)
	require.NoFileExists(t, name, "what was deleted stays deleted")
}

func TestSampleLeavesOthersFilesAlone(t *testing.T) {
	t.Parallel()
	dataDir, folder := t.TempDir(), t.TempDir()
	own := filepath.Join(folder, "reports", "old.csv")
	require.NoError(t, os.Mkdir(filepath.Dir(own), 0o700))
	require.NoError(t, os.WriteFile(own, []byte("mine"), 0o600))
	made, err := devstack.Sample(dataDir, folder)
	require.NoError(t, err)
	require.False(t, made)
	content, err := os.ReadFile(own)
	require.NoError(t, err)
	require.Equal(t, "mine", string(content))
}

func TestSampleThatCannotBeMadeIsTriedAgain(t *testing.T) {
	t.Parallel()
	dataDir := t.TempDir()
	folder := filepath.Join(dataDir, "files")
	require.NoError(t, os.WriteFile(folder, []byte("a file where the folder should be"), 0o600))
	_, err := devstack.Sample(dataDir, folder)
	require.ErrorContains(t, err, "putting the sample on disk local")
	require.NoError(t, os.Remove(folder))
	made, err := devstack.Sample(dataDir, folder)
	require.NoError(t, err)
	require.True(t, made)
}
