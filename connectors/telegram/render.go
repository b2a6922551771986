package telegram

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/chunk"
	"github.com/countersignhq/countersign/words"
)

// Limits of the Bot API. Telegram counts UTF-16 units.
const (
	maxText         = 4096
	maxCallbackData = 64 // bytes
	maxToast        = 200
)

// units are what Telegram counts.
var units chunk.Measure = chunk.UTF16

// prompt is the text of a question's message. Nothing in it is markup: it is
// sent without parse_mode. cut tells that it had to be shortened; then the middle
// goes, since the end says how to answer.
func prompt(card chat.Card) (text string, cut bool) {
	closed := ""
	if card.Closed != "" {
		closed = "\n\n" + units.Head(strings.ToValidUTF8(card.Closed, "\uFFFD"), maxText/2)
	}
	text, cut = units.Shorten(card.Text, maxText-units.Length(closed), func(left int) string {
		return words.Say(card.Language, chat.Text(chat.LineLeftOut, "characters", strconv.Itoa(left)))
	})
	return text + closed, cut
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
func toast(language string, v chat.Verdict) string {
	return units.Head(words.Say(language, words.Press(v, "15:04 UTC")), maxToast)
}
