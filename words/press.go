package words

import "github.com/countersignhq/countersign/chat"

// Press is what somebody is told about a press of a button. clock is the form in which a moment is
// shown, as time.Format takes it; all of them are UTC.
func Press(v chat.Verdict, clock string) chat.Line {
	switch v.Standing {
	case chat.StandingTaken:
		return chat.Text(chat.LinePressTaken)
	case chat.StandingNoted:
		if !v.Why.Empty() {
			return v.Why // a step that is not done yet
		}
		return chat.Text(chat.LinePressNoted)
	case chat.StandingKept:
		return chat.Text(chat.LinePressKept)
	case chat.StandingDecided:
		if d := v.Decision; d != nil {
			return chat.Text(chat.LinePressDecidedBy, "by", d.By, "at", d.At.UTC().Format(clock))
		}
		return chat.Text(chat.LinePressDecided)
	case chat.StandingClosed:
		if v.Reason != "" {
			return chat.Text(chat.LinePressClosedWhy, "reason", v.Reason) // a code: the same in all languages
		}
		return chat.Text(chat.LinePressClosed)
	case chat.StandingInvalid:
		return chat.Text(chat.LinePressInvalid)
	case chat.StandingUnknown:
		return chat.Text(chat.LinePressUnknown)
	default: // refused, and whatever is not known here
		return chat.Text(chat.LinePressRefused)
	}
}
