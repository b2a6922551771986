//go:build unix

package testtools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Build returns the path of a program from a Go module, e.g.
// Build(t, "github.com/versity/versitygw@v1.8.0", "cmd/versitygw"). It is
// built on first use; test processes that run at the same time build it once.
func Build(t testing.TB, module, pkg string) string {
	t.Helper()
	program, err := build(module, pkg)
	if err != nil {
		t.Fatalf("build %s of %s: %v", pkg, module, err)
	}
	return program
}

func build(module, pkg string) (string, error) {
	path, version, found := strings.Cut(module, "@")
	if !found {
		return "", fmt.Errorf("module %q needs a version, as in module@v1.2.3", module)
	}
	root, err := repository()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "tools", filepath.Base(path)+"-"+version)
	program := filepath.Join(dir, filepath.Base(pkg))
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	install := exec.Command("go", "install", path+"/"+pkg+"@"+version)
	// Outside the module, so that its go.mod and vendor settings have no say.
	install.Dir = dir
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-buildvcs=false", "GOWORK=off")
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
}

// lock waits for a file lock, which the system gives back if its holder dies.
func lock(name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = file.Close() }, nil
}

// repository is the folder with go.mod above this source file.
func repository() (string, error) {
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		return "", fmt.Errorf("where this source lies is not known")
	}
	dir := filepath.Dir(filepath.Dir(filepath.Dir(here)))
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("no repository at %s; build tests without -trimpath: %w", dir, err)
	}
	return dir, nil
}
