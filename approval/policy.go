package approval

import "github.com/countersignhq/countersign/tool"

// Mode is what has to happen before an operation runs (CONTRACT §2).
type Mode string

// The modes. The zero value is none of them and lets nothing run.
const (
	// None: it runs without asking.
	None Mode = "none"
	// Ask: a person has to agree; "Always allow" is offered, grants count.
	Ask Mode = "ask"
	// AskAlways: a person has to agree each time.
	AskAlways Mode = "ask_always"
	// ByHandoff: a person does it; there is no approval besides.
	ByHandoff Mode = "handoff"
)

// Resolve applies the table of CONTRACT §2. A kind or confirm that does not
// exist asks each time.
func Resolve(op tool.Operation) Mode {
	if op.Handoff != nil {
		return ByHandoff
	}
	known := op.Kind == tool.Read || op.Kind == tool.Write || op.Kind == tool.Danger
	switch {
	case !known:
		return AskAlways
	case op.Confirm == tool.ConfirmFalse:
		return None
	case op.Kind == tool.Danger:
		return AskAlways
	case op.Confirm == tool.ConfirmUnset:
		return None
	case op.Confirm == tool.ConfirmTrue:
		return Ask
	default:
		return AskAlways
	}
}

// OffersAlways tells whether "Always allow" is an answer in this mode.
func OffersAlways(mode Mode) bool { return mode == Ask }
