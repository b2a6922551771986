package chat

import (
	"slices"
	"strings"
)

// Command is something that the bot itself understands, before any agent sees it.
type Command string

// The commands of CONTRACT §8. The zero value is none.
const (
	CommandNone Command = ""
	// CommandNew starts the conversation afresh; it alone withdraws a pending question.
	CommandNew Command = "!new"
	// CommandLanguage chooses the language of the conversation: "!language de". Without one that is
	// spoken here it lists them.
	CommandLanguage Command = "!language"
	// CommandGrants lists what is always allowed in the conversation, CommandRevoke ends all of it.
	CommandGrants Command = "!grants"
	CommandRevoke Command = "!revoke"
	// CommandHelp says what the bot understands.
	CommandHelp Command = "!help"
)

// Languages are those that a conversation may choose, as package words has them.
func Languages() []string { return []string{"en", "de", "es", "zh-CN"} }

// ReadCommand returns the command that a text is: an exact match of the trimmed, lower-case text
// (CONTRACT §8). language is what CommandLanguage chose, empty for one that is not spoken here.
func ReadCommand(text string) (command Command, language string) {
	text = strings.ToLower(strings.TrimSpace(text))
	switch c := Command(text); c {
	case CommandNew, CommandGrants, CommandRevoke, CommandHelp:
		return c, ""
	default:
	}
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 2 || words[0] != string(CommandLanguage) {
		return CommandNone, ""
	}
	if len(words) == 1 {
		return CommandLanguage, ""
	}
	at := slices.IndexFunc(Languages(), func(l string) bool { return strings.EqualFold(l, words[1]) })
	if at < 0 {
		return CommandLanguage, ""
	}
	return CommandLanguage, Languages()[at]
}
