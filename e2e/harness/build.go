package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// Programs are the built programs.
type Programs struct {
	Worker, Starter string
	// BinDir is where bin/temporal is looked for, after the PATH.
	BinDir string
	folder string
}

// Build builds worker and starter once for a test process: with the race
// detector where the tests themselves have it.
var Build = sync.OnceValues(build)

func build() (Programs, error) {
	root, err := Repository()
	if err != nil {
		return Programs{}, err
	}
	folder, err := os.MkdirTemp("", "countersign-e2e-")
	if err != nil {
		return Programs{}, fmt.Errorf("make a folder for the programs: %w", err)
	}
	args := []string{"build", "-o", folder + string(filepath.Separator)}
	if raced {
		args = append(args, "-race")
	}
	command := exec.Command("go", append(args, "./worker", "./starter")...) //nolint:noctx // once for the whole test process
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		_ = os.RemoveAll(folder)
		return Programs{}, fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return Programs{
		Worker: filepath.Join(folder, "worker"), Starter: filepath.Join(folder, "starter"),
		BinDir: filepath.Join(root, "bin"), folder: folder,
	}, nil
}

// Clean ends what the whole test process shares and removes the programs; for TestMain.
func Clean() {
	stopShared()
	if programs, err := Build(); err == nil {
		_ = os.RemoveAll(programs.folder)
	}
}

// Repository is the folder with go.mod above this source file.
func Repository() (string, error) {
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		return "", fmt.Errorf("where this source lies is not known")
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(here)))
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return "", fmt.Errorf("no repository at %s; build the tests without -trimpath: %w", root, err)
	}
	return root, nil
}
