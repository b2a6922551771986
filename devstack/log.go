package devstack

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

const (
	// maxLog is when an old log is begun anew; warnings alone fill it slowly.
	maxLog    = 10 << 20
	tailBytes = 2000
)

func openLog(name string) (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(name); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of the temporal dev server: %w", err)
	}
	return file, nil
}

// tail returns the last lines of the log, for an error message.
func tail(name string) []byte {
	file, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	start := max(0, info.Size()-tailBytes)
	content, err := io.ReadAll(io.NewSectionReader(file, start, tailBytes))
	if err != nil {
		return nil
	}
	if _, rest, found := bytes.Cut(content, []byte("\n")); found && start > 0 {
		content = rest
	}
	return bytes.TrimSpace(content)
}
