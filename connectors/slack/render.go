package slack

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/chunk"
	"github.com/countersignhq/countersign/words"
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

// characters are counted as Slack does.
var characters chunk.Measure = measure

// measure is what a character counts in a message.
func measure(r rune) int {
	switch r {
	case '&':
		return len("&amp;")
	case '<', '>':
		return len("&lt;")
	default:
		return chunk.UTF16(r)
	}
}

// shorten takes the middle out of a text that is too long. The digest is that of the
// whole text, which comes as a file.
func shorten(language, text string, limit int) (short string, cut bool) {
	return characters.Shorten(text, limit, func(left int) string {
		sum := sha256.Sum256([]byte(strings.ToValidUTF8(text, "\uFFFD")))
		return words.Say(language, chat.Text(chat.LineLeftOutFile,
			"characters", strconv.Itoa(left), "file", promptFile, "sum", hex.EncodeToString(sum[:8])))
	})
}

// promptFile is the name of a question that is too long for a message.
const promptFile = "prompt.txt"

// blocks of a question. Every text in them is plain: nothing in it can become markup.
// cut tells that the question had to be shortened.
func blocks(card chat.Card) (out []slackgo.Block, cut bool) {
	text, cut := shorten(card.Language, card.Text, maxSection)
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
				actionPrefix+string(b.Action), buttonValue(card.Invocation), plainText(characters.Head(b.Label, maxLabel))))
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
	return characters.Head(strings.ToValidUTF8(card.Closed, "\uFFFD"), maxClosing)
}

// fallback is the question in one text, for notifications and for clients that know no
// blocks; it is still to be escaped.
func fallback(card chat.Card) string {
	if card.Closed == "" {
		text, _ := shorten(card.Language, card.Text, maxText)
		return text
	}
	text, _ := shorten(card.Language, card.Text, maxText-maxClosing)
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

// whisper is what a presser is told, and only they see; empty where the question itself
// will say it.
func whisper(v chat.Verdict) chat.Line {
	if v.Standing == chat.StandingTaken {
		return chat.Line{}
	}
	return words.Press(v, "15:04:05 UTC")
}
