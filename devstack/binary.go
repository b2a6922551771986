package devstack

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

const program = "temporal"

// ErrNoTemporal means that there is no Temporal program to start.
var ErrNoTemporal = errors.New("there is no program called temporal on the PATH or in bin/; `make build` makes one")

// find looks on the PATH, then in the folders.
func find(binDirs []string) (string, error) {
	if found, err := exec.LookPath(program); err == nil {
		return filepath.Abs(found)
	}
	for _, dir := range binDirs {
		candidate, err := filepath.Abs(filepath.Join(dir, program))
		if err != nil {
			continue
		}
		if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", ErrNoTemporal
}

// defaultBinDirs are beside this executable, and bin in the working folder.
func defaultBinDirs() []string {
	dirs := []string{"bin"}
	if executable, err := os.Executable(); err == nil {
		dirs = append([]string{filepath.Dir(executable)}, dirs...)
	}
	return dirs
}
