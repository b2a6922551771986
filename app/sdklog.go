package app

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/log"
)

// sdkLogger is the log of Temporal's SDK without alarm about what is in order: an activity that
// watches a handoff is still running when the handoff ends, finds its workflow gone at its next
// heartbeat, and stops.
type sdkLogger struct{ log.Logger }

// With implements log.WithLogger, so that what the SDK derives stays as quiet.
func (l sdkLogger) With(keyvals ...any) log.Logger { return sdkLogger{log.With(l.Logger, keyvals...)} }

// Warn implements log.Logger.
func (l sdkLogger) Warn(msg string, keyvals ...any) {
	if inOrder(keyvals) {
		l.Debug(msg, keyvals...)
		return
	}
	l.Logger.Warn(msg, keyvals...)
}

// Error implements log.Logger.
func (l sdkLogger) Error(msg string, keyvals ...any) {
	if inOrder(keyvals) {
		l.Debug(msg, keyvals...)
		return
	}
	l.Logger.Error(msg, keyvals...)
}

// inOrder tells that what is reported is only that somebody's work was no longer wanted.
func inOrder(keyvals []any) bool {
	for _, v := range keyvals {
		err, ok := v.(error)
		if ok && (errors.As(err, new(*serviceerror.NotFound)) || errors.Is(err, context.Canceled)) {
			return true
		}
	}
	return false
}
