package command

import (
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// What the agent says; package words has the texts.
const (
	lineDone          = "agent_done"
	lineDeniedBy      = "agent_denied_by"
	lineDenied        = "agent_denied"
	lineTimeout       = "agent_timeout"
	lineSuperseded    = "agent_superseded"
	lineUndeliverable = "agent_undeliverable"
	lineDrift         = "agent_drift"
	lineWithdrawn     = "agent_withdrawn"
	lineNoApprover    = "agent_no_approver"
	lineNotRun        = "agent_not_run"
	lineUnknown       = "agent_unknown"
	lineCancelled     = "agent_cancelled"
	lineLate          = "agent_late"
	lineFailed        = "agent_failed"
	lineCut           = "agent_cut"

	lineUnreadable  = "agent_unreadable"
	lineNoTool      = "agent_no_tool"
	lineNoOperation = "agent_no_operation"
	lineNoQuestion  = "agent_no_question"
	lineHint        = "agent_hint"

	lineReceived        = "agent_received"
	lineReceivedFile    = "agent_received_file"
	lineReceivedProblem = "agent_received_problem"
	lineReceivedSave    = "agent_received_save"

	lineHelp  = "agent_help"
	lineAsks  = "agent_asks"
	lineYours = "agent_yours"
)

// speaker says things in the language of one turn.
type speaker string

func (s speaker) say(line chat.Line) string { return words.Say(string(s), line) }
