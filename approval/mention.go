package approval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// StripMention drops one leading mention of the bot, for Slack channels
// (mentions: "<@U1>") and Telegram groups ("@my_bot"). A mention counts in any
// letter case (ASCII), after nothing but characters that do not count, and
// before white space or the end: "@my_botyes" and "@my_bot, yes" mention nobody.
// The white space after it goes too. A text without such a mention is returned
// as it is.
func StripMention(text string, mentions ...string) string {
	start := strings.TrimLeftFunc(text, doesNotCount)
	for _, mention := range mentions {
		if mention == "" || len(start) < len(mention) || !foldEqual(start[:len(mention)], mention) {
			continue
		}
		rest := start[len(mention):]
		if next, _ := utf8.DecodeRuneInString(rest); rest == "" || unicode.Is(unicode.White_Space, next) {
			return strings.TrimLeftFunc(rest, isWhiteSpace)
		}
	}
	return text
}

func isWhiteSpace(r rune) bool { return unicode.Is(unicode.White_Space, r) }
