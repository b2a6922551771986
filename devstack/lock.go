package devstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrDataDirBusy means that another stack runs on the same data folder.
var ErrDataDirBusy = errors.New("the data folder is in use by another `make run`: stop that one, or set COUNTERSIGN_DATA_DIR to another folder")

// lock keeps two servers off one database. The child inherits the file, so
// that the lock holds as long as either process lives.
func lock(ctx context.Context, dataDir string, patience time.Duration) (*os.File, error) {
	name := filepath.Join(dataDir, "temporal.lock")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the data folder: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%s: %w", dataDir, ErrDataDirBusy), file.Close())
		case <-time.After(retryInterval):
		}
	}
}
