// Package audit keeps what was run by whose word, or without one, as lines of
// JSON that are only ever added to.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/countersignhq/countersign/activities"
)

// Log is an audit log in a file. It is safe for use by several goroutines.
type Log struct {
	mu     sync.Mutex
	file   *os.File
	logger *slog.Logger
}

// Open opens the log in a data folder: audit.jsonl, mode 0600.
func Open(dataDir string, logger *slog.Logger) (*Log, error) {
	file, err := os.OpenFile(filepath.Join(dataDir, "audit.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return &Log{file: file, logger: logger}, nil
}

// Record adds an entry, in the file before it returns: a crash of the process does not lose it,
// that of the machine may.
func (l *Log) Record(_ context.Context, entry activities.AuditEntry) error {
	line, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	l.logger.Info("audit", "kind", entry.Kind, "invocation", entry.Invocation, "tool", entry.Tool, "operation", entry.Operation)
	return nil
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
