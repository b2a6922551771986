package approval

// Code says why an invocation did not complete (CONTRACT §1). It is empty for
// one that did, and for one that has not ended: look at the Status.
type Code string

// The codes of CONTRACT §1, in the order of the steps.
const (
	InvalidParameters Code = "INVALID_PARAMETERS"
	OutOfScope        Code = "OUT_OF_SCOPE"
	Unavailable       Code = "UNAVAILABLE"
	PermissionDenied  Code = "PERMISSION_DENIED"
	HandoffCancelled  Code = "HANDOFF_CANCELLED"
	HandoffTimeout    Code = "HANDOFF_TIMEOUT"
	ToolFailed        Code = "TOOL_FAILED"
	OutcomeUnknown    Code = "OUTCOME_UNKNOWN"
)

// Reason says why permission was not given (with PermissionDenied). A
// person's refusal, a timeout and a failed delivery are different things (H15).
type Reason string

// The reasons of CONTRACT §1.
const (
	// ReasonDenied: a person said no.
	ReasonDenied Reason = "denied"
	// ReasonTimeout: nobody answered before the deadline.
	ReasonTimeout Reason = "timeout"
	// ReasonSuperseded: another question took the place of this one.
	ReasonSuperseded Reason = "superseded"
	// ReasonUndeliverable: the question could not be delivered.
	ReasonUndeliverable Reason = "undeliverable"
	// ReasonDrift: what would have run is no longer what was approved.
	ReasonDrift Reason = "drift"
	// ReasonWithdrawn: the question was taken back, or the invocation cancelled.
	ReasonWithdrawn Reason = "withdrawn"
	// ReasonNoApprover: nobody can be asked there.
	ReasonNoApprover Reason = "no_approver"
)

// Status is where an invocation stands (CONTRACT §1). The zero value is none.
type Status string

// The statuses of CONTRACT §1.
const (
	StatusRunning   Status = "running"
	StatusWaiting   Status = "waiting" // for a person
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusDenied    Status = "denied"
	StatusCancelled Status = "cancelled"
	StatusTimedOut  Status = "timed_out"
	StatusUnknown   Status = "unknown"
)

// StatusOf returns the final status that belongs to a code. No code ever means
// StatusCompleted, the empty one neither: only who saw the operation complete
// can say so. A code that is not known is StatusUnknown.
func StatusOf(code Code) Status {
	switch code {
	case InvalidParameters, OutOfScope, Unavailable, ToolFailed:
		return StatusFailed
	case PermissionDenied:
		return StatusDenied
	case HandoffCancelled:
		return StatusCancelled
	case HandoffTimeout:
		return StatusTimedOut
	default:
		return StatusUnknown
	}
}

// Final tells whether an invocation with this status has ended.
func (s Status) Final() bool {
	switch s {
	case StatusCompleted, StatusFailed, StatusDenied, StatusCancelled, StatusTimedOut, StatusUnknown:
		return true
	default:
		return false
	}
}
