package chat

import "strings"

// StartsAfresh tells whether a text is the command "!new", which starts the conversation
// afresh: an exact match of the trimmed, lower-case text (CONTRACT §8).
func StartsAfresh(text string) bool {
	return strings.ToLower(strings.TrimSpace(text)) == "!new"
}
