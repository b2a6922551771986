package contract

import "errors"

// What can be wrong with a workflow that is to be reached.
var (
	// ErrGone: the workflow which was to be told has ended.
	ErrGone = errors.New("the workflow has ended")
	// ErrNotFound: there is no such workflow.
	ErrNotFound = errors.New("not found")
	// ErrNoEngine: no worker answered in time; what was sent is kept.
	ErrNoEngine = errors.New("no engine answers; start a worker with the role engine")
)
