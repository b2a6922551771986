package slack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
)

// Limits of Block Kit and of messages. Slack counts characters after escaping; here
// one beyond the basic plane counts as two, which errs on the safe side.
const (
	maxSection = 3000
	maxText    = 3500 // Slack cuts at 4000
	maxClosing = 400  // so that a question that fits is not cut when it closes
	maxValue   = 2000
	maxLabel   = 75
)

// The ids that buttons and their block carry, so that a press can be told from others.
const (
	actionPrefix = "countersign:"
	blockPrefix  = "countersign:"
)

// width is what a character counts.
func width(r rune) int {
	switch {
	case r == '&':
		return len("&amp;")
	case r == '<' || r == '>':
		return len("&lt;")
	case r > 0xFFFF:
		return 2
	default:
		return 1
	}
}

func length(text string) int {
	n := 0
	for _, r := range text {
		n += width(r)
	}
	return n
}

// head is the longest beginning of text that counts at most limit; a character stays whole.
func head(text string, limit int) string {
	n := 0
	for i, r := range text {
		if n += width(r); n > limit {
			return text[:i]
		}
	}
	return text
}

// tail is head from the other end.
func tail(text string, limit int) string {
	n, start := 0, len(text)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if n += width(r); n > limit {
			break
		}
		start -= size
	}
	return text[start:]
}

// shorten takes the middle out of a text that is too long, since the end of a question
// says how to answer. The digest is that of the whole text, which comes as a file.
func shorten(text string, limit int) (short string, cut bool) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if length(text) <= limit {
		return text, false
	}
	const ending, mark = 200, 150
	end := tail(text, ending)
	begin := head(text, limit-ending-mark)
	left := utf8.RuneCountInString(text) - utf8.RuneCountInString(begin) - utf8.RuneCountInString(end)
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s\n[… %d characters left out; the whole is in %s, SHA-256 %s …]\n%s",
		begin, left, promptFile, hex.EncodeToString(sum[:8]), end), true
}

// promptFile is the name of a question that is too long for a message.
const promptFile = "prompt.txt"

// blocks of a question. Every text in them is plain: nothing in it can become markup.
// cut tells that the question had to be shortened.
func blocks(card chat.Card) (out []slackgo.Block, cut bool) {
	text, cut := shorten(card.Text, maxSection)
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			out = append(out, slackgo.NewSectionBlock(plainText(text), nil, nil))
		}
	}
	add(text)
	if card.Closed != "" {
		add(closing(card))
		return out, cut
	}
	var buttons []slackgo.BlockElement
	for _, b := range card.Buttons {
		if offered[b.Action] {
			buttons = append(buttons, slackgo.NewButtonBlockElement(
				actionPrefix+string(b.Action), buttonValue(card.Invocation), plainText(head(b.Label, maxLabel))))
		}
	}
	if len(buttons) > 0 {
		out = append(out, slackgo.NewActionBlock(blockPrefix+card.Thread.Key, buttons...))
	}
	return out, cut
}

func plainText(text string) *slackgo.TextBlockObject {
	return slackgo.NewTextBlockObject(slackgo.PlainTextType, text, false, false)
}

// closing is the line that says what happened.
func closing(card chat.Card) string {
	return head(strings.ToValidUTF8(card.Closed, "\uFFFD"), maxClosing)
}

// fallback is the question in one text, for notifications and for clients that know no
// blocks; it is still to be escaped.
func fallback(card chat.Card) string {
	if card.Closed == "" {
		text, _ := shorten(card.Text, maxText)
		return text
	}
	text, _ := shorten(card.Text, maxText-maxClosing)
	return text + "\n\n" + closing(card)
}

var offered = map[chat.Action]bool{
	chat.ActionYes: true, chat.ActionNo: true, chat.ActionAlways: true, chat.ActionDone: true, chat.ActionCancel: true,
}

// actionOf is the action of a button; "" for one that is not ours.
func actionOf(actionID string) chat.Action {
	name, ours := strings.CutPrefix(actionID, actionPrefix)
	if action := chat.Action(name); ours && offered[action] {
		return action
	}
	return ""
}

// DigestPrefix starts a Click.Invocation that holds, in place of the invocation's id,
// the first 32 hex digits of its SHA-256: an id may be a caller's own key of any length
// and any characters. Who takes the click finds the question by its thread.
const DigestPrefix = "sha256:"

// buttonValue is the invocation's id, or its digest where it does not fit or could come back changed.
func buttonValue(invocation string) string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '&' || r == '<' || r == '>' }
	if len(invocation) <= maxValue && !strings.ContainsFunc(invocation, odd) && !strings.HasPrefix(invocation, DigestPrefix) {
		return invocation
	}
	sum := sha256.Sum256([]byte(invocation))
	return DigestPrefix + hex.EncodeToString(sum[:])[:32]
}

// split cuts a reply into messages that count at most limit: at line ends where there
// are any, else at blanks, else between characters.
func split(text string, limit int) []string {
	var parts []string
	text = strings.ToValidUTF8(text, "\uFFFD")
	for length(text) > limit {
		part := head(text, limit)
		switch {
		case strings.HasPrefix(text[len(part):], "\n"):
		case strings.LastIndexByte(part, '\n') > 0:
			part = part[:strings.LastIndexByte(part, '\n')]
		case strings.LastIndexByte(part, ' ') > 0:
			part = part[:strings.LastIndexByte(part, ' ')+1]
		}
		parts = append(parts, part)
		text = strings.TrimPrefix(text[len(part):], "\n")
	}
	parts = append(parts, text)
	// Slack refuses messages of blanks only.
	kept := parts[:0]
	for _, part := range parts {
		if strings.TrimSpace(part) != "" {
			kept = append(kept, part)
		}
	}
	return kept
}

// whisper is what a presser is told, and only they see; "" where the question itself
// will say it.
func whisper(v chat.Verdict) string {
	switch v.Standing {
	case chat.StandingTaken:
		return ""
	case chat.StandingNoted:
		return "Recorded; more people have to agree"
	case chat.StandingKept:
		return "Kept; it counts from the moment you pressed"
	case chat.StandingDecided:
		text := "Already decided"
		if d := v.Decision; d != nil {
			text += " by " + d.By + " at " + d.At.UTC().Format("15:04:05") + " UTC"
		}
		return text
	case chat.StandingClosed:
		if v.Reason != "" {
			return "This question is closed: " + v.Reason
		}
		return "This question is closed"
	case chat.StandingInvalid:
		return "That answer is not offered here"
	case chat.StandingUnknown:
		return "There is no such question"
	default: // refused, and whatever is not known here
		return notYours
	}
}

const (
	notYours  = "You may not answer this one"
	oldButton = "This button does not work any more"
	tryAgain  = "Your answer could not be recorded just now; press again in a moment"
)
