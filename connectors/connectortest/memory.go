package connectortest

import (
	"strings"
	"sync"
)

// Log is a log that is read while it is written. The zero value is ready.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Progress is a chat.Progress in memory.
type Progress map[string]bool

// Done implements chat.Progress.
func (p Progress) Done(part string) bool { return p[part] }

// Mark implements chat.Progress.
func (p Progress) Mark(part string) { p[part] = true }
