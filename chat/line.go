package chat

// Line is a text for a person before it has a language: an entry of the catalogs in package
// words and what is said in it. Workflows pass lines, activities and connectors render them, so a
// history holds no language but the one that was chosen.
type Line struct {
	// ID is one of the Line constants; empty is no text.
	ID string `json:"id,omitempty"`
	// Args are data, put in literally. Whoever makes the line escapes what needs it.
	Args map[string]string `json:"args,omitempty"`
	// Texts are arguments that are themselves entries of the catalogs, by their id.
	Texts map[string]string `json:"texts,omitempty"`
}

// Text makes a line; args are names and values in turn. A name without a value is left out.
func Text(id string, args ...string) Line {
	line := Line{ID: id}
	for n := 0; n+1 < len(args); n += 2 {
		if line.Args == nil {
			line.Args = make(map[string]string, len(args)/2)
		}
		line.Args[args[n]] = args[n+1]
	}
	return line
}

// With adds an argument that is an entry of the catalogs itself, and returns the line.
func (l Line) With(name, id string) Line {
	if l.Texts == nil {
		l.Texts = map[string]string{}
	}
	l.Texts[name] = id
	return l
}

// Empty tells that there is nothing to say.
func (l Line) Empty() bool { return l.ID == "" }

// What is said around a question and a step. The arguments are named in the English catalog.
const (
	// LineQuestion is the prompt itself: CONTRACT §3 has its English form.
	LineQuestion = "question"
	// LineGeneric asks about an operation whose author wrote no question.
	LineGeneric      = "question_generic"
	LineGenericPlain = "question_generic_plain"
	LineStep         = "step"
	LineStepPage     = "step_page"
	LineStepMissing  = "step_missing"
	// LineStepUnchecked is LineStepMissing where the state could not be read.
	LineStepUnchecked = "step_unchecked"

	// LineCopy is a question or a step in a conversation that it does not come from.
	LineCopy = "copy"

	// LineVoteNoted answers a yes that is not the last one needed.
	LineVoteNoted = "vote_noted"

	LineButtonYes    = "button_yes"
	LineButtonNo     = "button_no"
	LineButtonAlways = "button_always"
	LineButtonDone   = "button_done"
	LineButtonCancel = "button_cancel"

	// LineProgramBy and LineProgram stand for a name where another program answered: "approved by
	// another program", "another program says so".
	LineProgramBy = "program_by"
	LineProgram   = "program"
)

// What became of a question, on its card.
const (
	LineDoneChecked   = "done_checked"
	LineDoneSeen      = "done_seen"
	LineDoneAsserted  = "done_asserted"
	LineCancelled     = "cancelled"
	LineApproved      = "approved"
	LineAlways        = "approved_always"
	LineDenied        = "denied"
	LineTimeout       = "timeout"
	LineSuperseded    = "superseded"
	LineUndeliverable = "undeliverable"
	LineWithdrawn     = "withdrawn"
)

// How a call ended that no agent tells about, and what a turn says by itself.
const (
	LineOutcomeUnknown = "outcome_unknown"
	LineDrift          = "drift"
	LineFailed         = "failed"
	LineNotRun         = "not_run"

	LineTurnCancelled = "turn_cancelled"
	LineTurnFailed    = "turn_failed"
	LineTurnEndless   = "turn_endless"
)

// The answers to the commands (command.go).
const (
	LineNew             = "command_new"
	LineHelp            = "command_help"
	LineLanguageSet     = "command_language_set"
	LineLanguageChoices = "command_language_choices"
	LineGrantsNone      = "command_grants_none"
	LineGrantsHead      = "command_grants_head"
	LineGrant           = "command_grant"
	LineGrantFor        = "command_grant_for"
	LineGrantsEnd       = "command_grants_end"
	// LineRevoked has a plural: {count}.
	LineRevoked = "command_revoked"
)

// What a person is told about a press of a button.
const (
	LinePressTaken     = "press_taken"
	LinePressNoted     = "press_noted"
	LinePressKept      = "press_kept"
	LinePressDecided   = "press_decided"
	LinePressDecidedBy = "press_decided_by"
	LinePressClosed    = "press_closed"
	LinePressClosedWhy = "press_closed_why"
	LinePressInvalid   = "press_invalid"
	LinePressUnknown   = "press_unknown"
	LinePressRefused   = "press_refused"
	LinePressOld       = "press_old"
	LinePressAgain     = "press_again"
)

// What connectors add to texts of others.
const (
	LineLeftOut     = "left_out"
	LineLeftOutFile = "left_out_file"
	// LineFileProblem names a file that the sender of a message does not get, LineFileRefused one
	// that the platform does not take.
	LineFileProblem = "file_problem"
	LineFileRefused = "file_refused"
	LineFileEmpty   = "file_empty"
)
