package slack

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack/slackutilsx"

	"github.com/countersignhq/countersign/approval"
)

// token is what Slack puts between angle brackets. What people type is escaped, so an
// angle bracket in a text is always Slack's own.
var token = regexp.MustCompile(`<([^<>]*)>`)

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// typed is what the person typed: Slack makes links of addresses (and of file names
// that look like one, as notes.md does) and escapes three characters. Mentions of
// people stay as they are.
func typed(text string) string {
	return unescape.Replace(token.ReplaceAllStringFunc(text, func(whole string) string {
		return plain(whole, whole[1:len(whole)-1])
	}))
}

func plain(whole, inside string) string {
	target, label, labelled := strings.Cut(inside, "|")
	if target == "" {
		return whole
	}
	switch target[0] {
	case '@':
		return whole
	case '#':
		if labelled && label != "" {
			return "#" + label
		}
		return whole
	case '!':
		switch {
		case target == "!here" || target == "!channel" || target == "!everyone":
			return "@" + target[1:]
		case strings.HasPrefix(target, "!subteam^") && strings.HasPrefix(label, "@"):
			return label
		}
		return whole
	}
	switch {
	case !strings.Contains(target, ":"):
		return whole // every address has a scheme: this is none of Slack's tokens
	case !labelled || label == "" || label == target:
		return target
	case automatic(target, label):
		return label
	default:
		return label + " (" + target + ")"
	}
}

// automatic tells a link that Slack made from one with a text of its own, behind
// which anything may be.
func automatic(target, label string) bool {
	if !strings.ContainsAny(label, "./@:") {
		return false
	}
	for _, scheme := range []string{"http://", "https://", "mailto:", "tel:"} {
		if rest, found := strings.CutPrefix(target, scheme); found && strings.TrimSuffix(rest, "/") == strings.TrimSuffix(label, "/") {
			return true
		}
	}
	return false
}

var mentionForm = regexp.MustCompile(`<@([A-Z0-9]+)(?:\|[^<>]*)?>`)

// mentions tells whether text mentions one of these users.
func mentions(text string, users []string) bool {
	for _, found := range mentionForm.FindAllStringSubmatch(text, -1) {
		if slices.Contains(users, found[1]) {
			return true
		}
	}
	return false
}

// unmention drops one leading mention of one of these users.
func unmention(text string, users []string) string {
	found := mentionForm.FindStringSubmatch(text)
	if len(found) == 0 || !slices.Contains(users, found[1]) {
		return text
	}
	return approval.StripMention(text, found[0])
}

// escape makes Slack show text as it is, where it would read markup.
func escape(text string) string { return slackutilsx.EscapeMessage(text) }
