package telegram

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/countersignhq/countersign/chat"
)

// Limits of the Bot API. Telegram counts UTF-16 units.
const (
	maxText         = 4096
	maxCallbackData = 64 // bytes
	maxToast        = 200
)

// units counts UTF-16 code units, as Telegram does.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// head is the longest beginning of text that has at most limit units; a character stays whole.
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

// prompt is the text of a question's message. Nothing in it is markup: it is
// sent without parse_mode. cut tells that it had to be shortened; then the middle
// goes, since the end says how to answer.
func prompt(card chat.Card) (text string, cut bool) {
	text = strings.ToValidUTF8(card.Text, "\uFFFD")
	closed := ""
	if card.Closed != "" {
		closed = "\n\n" + head(strings.ToValidUTF8(card.Closed, "\uFFFD"), maxText/2)
	}
	limit := maxText - units(closed)
	if units(text) <= limit {
		return text + closed, false
	}
	const ending, mark = 200, 80
	end := tail(text, ending)
	begin := head(text, limit-ending-mark)
	left := utf8.RuneCountInString(text) - utf8.RuneCountInString(begin) - utf8.RuneCountInString(end)
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s%s", begin, left, end, closed), true
}

// split cuts a reply into messages of at most limit units: at line ends where there
// are any, else at blanks, else between characters.
func split(text string, limit int) []string {
	var parts []string
	text = strings.ToValidUTF8(text, "\uFFFD")
	for units(text) > limit {
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
	// Telegram refuses messages of blanks only.
	kept := parts[:0]
	for _, part := range parts {
		if strings.TrimSpace(part) != "" {
			kept = append(kept, part)
		}
	}
	return kept
}

// letters are the first character of the callback data, by action.
var letters = map[chat.Action]string{
	chat.ActionYes: "y", chat.ActionNo: "n", chat.ActionAlways: "a", chat.ActionDone: "d", chat.ActionCancel: "c",
}

// DigestPrefix starts a Click.Invocation that holds, in place of the invocation's
// id, the first 32 hex digits of its SHA-256. Buttons hold 64 bytes, and an id
// may be a caller's own key of any length: who takes the click finds the
// question by its thread and compares with Digest.
const DigestPrefix = "sha256:"

const digestDigits = 32

// Digest is the short form of an invocation's id: DigestPrefix and 32 hex digits.
func Digest(invocation string) string {
	sum := sha256.Sum256([]byte(invocation))
	return DigestPrefix + hex.EncodeToString(sum[:])[:digestDigits]
}

// buttonData is "y:{id}", or "y#{digest}" where the id does not fit or could come back changed.
func buttonData(action chat.Action, invocation string) string {
	letter := letters[action]
	if len(invocation) <= maxCallbackData-2 && printable(invocation) && !strings.HasPrefix(invocation, DigestPrefix) {
		return letter + ":" + invocation
	}
	return letter + "#" + strings.TrimPrefix(Digest(invocation), DigestPrefix)
}

func printable(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// readData is the inverse of buttonData; known is false for data that is not ours.
func readData(data string) (action chat.Action, invocation string, known bool) {
	if len(data) < 3 {
		return "", "", false
	}
	for a, letter := range letters {
		if data[:1] == letter {
			action = a
		}
	}
	switch rest := data[2:]; {
	case action == "":
		return "", "", false
	case data[1] == ':' && printable(rest) && !strings.HasPrefix(rest, DigestPrefix):
		return action, rest, true
	case data[1] == '#' && isDigest(rest):
		return action, DigestPrefix + rest, true
	default:
		return "", "", false
	}
}

func isDigest(s string) bool {
	return len(s) == digestDigits && strings.Trim(s, "0123456789abcdef") == ""
}

// keyboard renders buttons in one row; without any it takes an old keyboard away.
func keyboard(card chat.Card) string {
	type button struct {
		Text string `json:"text"`
		Data string `json:"callback_data"`
	}
	rows := [][]button{}
	if card.Closed == "" && len(card.Buttons) > 0 {
		var row []button
		for _, b := range card.Buttons {
			if letters[b.Action] != "" {
				row = append(row, button{Text: b.Label, Data: buttonData(b.Action, card.Invocation)})
			}
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	out, err := json.Marshal(map[string]any{"inline_keyboard": rows})
	if err != nil { // strings only: it cannot fail
		return `{"inline_keyboard":[]}`
	}
	return string(out)
}

// toast is what a clicker is told; only they see it.
func toast(v chat.Verdict) string {
	var text string
	switch v.Standing {
	case chat.StandingTaken:
		text = "Recorded"
	case chat.StandingNoted:
		text = "Recorded; more people have to agree"
	case chat.StandingKept:
		text = "Kept; it counts from the moment you pressed"
	case chat.StandingDecided:
		text = "Already decided"
		if d := v.Decision; d != nil {
			text += " by " + d.By + " at " + d.At.UTC().Format("15:04") + " UTC"
		}
	case chat.StandingClosed:
		text = "This question is closed"
		if v.Reason != "" {
			text += ": " + v.Reason
		}
	case chat.StandingInvalid:
		text = "That answer is not offered here"
	case chat.StandingUnknown:
		text = "There is no such question"
	default: // refused, and whatever is not known here
		text = "You may not answer this one"
	}
	return head(text, maxToast)
}
