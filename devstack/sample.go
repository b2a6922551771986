package devstack

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// SamplePath is the sample's path on disk local.
const SamplePath = "reports/old.csv"

//go:embed sample.csv
var sample []byte

// Sample puts [SamplePath] into the folder of disk local, once in the life of a
// data folder: never over a file, never again after it was deleted, and never
// into a folder that holds something already. It tells whether it did.
func Sample(dataDir, folder string) (bool, error) {
	marker := filepath.Join(dataDir, "sample")
	if _, err := os.Stat(marker); err == nil {
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("looking for the sample's mark: %w", err)
	}
	made, err := fill(folder)
	if err != nil {
		return false, fmt.Errorf("putting the sample on disk local: %w", err)
	}
	// The mark comes last: a start that was killed before it does no harm again.
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return false, fmt.Errorf("making the data folder: %w", err)
	}
	if err := os.WriteFile(marker, []byte("The sample "+SamplePath+" was put there once.\n"), 0o600); err != nil {
		return false, fmt.Errorf("marking the sample as made: %w", err)
	}
	return made, nil
}

func fill(folder string) (bool, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if len(entries) > 0 {
		return false, nil
	}
	name := filepath.Join(folder, filepath.FromSlash(SamplePath))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // a person's files, not ours: as their umask says
		return false, err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // likewise
	if err != nil {
		return false, err
	}
	_, err = file.Write(sample)
	return err == nil, errors.Join(err, file.Close())
}
