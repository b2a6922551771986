package approval

import (
	"strings"
	"unicode"

	"github.com/countersignhq/countersign/chat"
)

// ReplyKind says what a text is as an answer to a question.
type ReplyKind string

// What a text can be. The zero value decides nothing.
const (
	// NoText: no text, so no answer; the wait stays open.
	NoText ReplyKind = ""
	// Yes: the word yes, alone on the first non-empty line.
	Yes ReplyKind = "yes"
	// Always: likewise the word always.
	Always ReplyKind = "always"
	// Other: any other text.
	Other ReplyKind = "other"
)

// Answer is a text read as an answer.
type Answer struct {
	Kind ReplyKind
	// Text is all of the text, less what does not count at its ends: the reason
	// to hand on, as data. It is valid UTF-8.
	Text string
}

// Read reads a message's text, or a file's caption, exactly by the rule of
// CONTRACT §3: its first non-empty line is the answer. Equality is the whole
// rule: no quotation is cut, no punctuation forgiven, no word looked for.
func Read(text string) Answer {
	line := firstLine(text)
	if line == "" {
		return Answer{}
	}
	answer := Answer{Kind: Other, Text: strings.ToValidUTF8(strings.TrimFunc(text, doesNotCount), "\uFFFD")}
	switch {
	case foldEqual(line, "yes"):
		answer.Kind = Yes
	case foldEqual(line, "always"):
		answer.Kind = Always
	}
	return answer
}

// ReadStep reads a text as an answer to a handoff, by the same rule: chat.ActionDone,
// chat.ActionCancel, or empty for a text that is neither and answers nothing.
func ReadStep(text string) chat.Action {
	line := firstLine(text)
	for _, word := range []chat.Action{chat.ActionDone, chat.ActionCancel} {
		if foldEqual(line, string(word)) {
			return word
		}
	}
	return ""
}

// firstLine is the first line that is not empty, trimmed; empty for no text.
func firstLine(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimFunc(line, doesNotCount); line != "" {
			return line
		}
	}
	return ""
}

// Decision turns an answer by someone who may answer into one of the values of
// chat.Decision, or empty for a text that is none: the wait stays open. Where
// "Always allow" is not offered, the word always is a text like any other: a no.
func (a Answer) Decision(mode Mode) string {
	switch {
	case a.Kind == NoText:
		return ""
	case a.Kind == Yes:
		return chat.Allow
	case a.Kind == Always && OffersAlways(mode):
		return chat.AllowAlways
	default:
		return chat.Deny
	}
}

// doesNotCount tells which characters are no text at the ends of a line
// (CONTRACT §3): exactly these, and no other character that is not seen.
func doesNotCount(r rune) bool {
	switch {
	case unicode.Is(unicode.White_Space, r),
		r == '\uFEFF',
		r >= '\u200B' && r <= '\u200F',
		r == '\u2060',
		r == '\u061C',
		r >= '\u202A' && r <= '\u202E',
		r >= '\u2066' && r <= '\u2069':
		return true
	default:
		return false
	}
}

// foldEqual compares with a word in lower-case ASCII letters, folding ASCII
// letters only. strings.EqualFold takes "yeſ" for yes.
func foldEqual(s, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range len(s) {
		if lower(s[i]) != lower(word[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
