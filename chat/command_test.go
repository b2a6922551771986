package chat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

// CONTRACT §8: an exact match of the trimmed, lower-case text.
func TestReadCommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]chat.Command{
		"!new": chat.CommandNew, " !NEW \n": chat.CommandNew, "!grants": chat.CommandGrants, "!Revoke": chat.CommandRevoke,
		"!help\t": chat.CommandHelp, "!language": chat.CommandLanguage, "!language fr": chat.CommandLanguage,
		"": chat.CommandNone, "new": chat.CommandNone, "!!new": chat.CommandNone, "!new please": chat.CommandNone,
		"! new": chat.CommandNone, "!help me": chat.CommandNone, "please !help": chat.CommandNone, "!help\n!revoke": chat.CommandNone,
		"!languages": chat.CommandNone, "!language de es": chat.CommandNone, "!ｎew": chat.CommandNone, "yes": chat.CommandNone,
	} {
		command, language := chat.ReadCommand(text)
		require.Equal(t, want, command, "%q", text)
		require.Empty(t, language, "%q", text)
	}
	for text, want := range map[string]string{
		"!language de": "de", " !LANGUAGE  ZH-CN ": "zh-CN", "!language es\n": "es", "!language en": "en",
	} {
		command, language := chat.ReadCommand(text)
		require.Equal(t, chat.CommandLanguage, command, "%q", text)
		require.Equal(t, want, language, "%q", text)
	}
}

func FuzzReadCommand(f *testing.F) {
	for _, seed := range []string{"!new", "!language de", "!language \u212a", "yes", "!help\u200b", "\xff!new"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		command, language := chat.ReadCommand(text)
		if command == chat.CommandNone {
			require.Empty(t, language)
			return
		}
		require.True(t, strings.HasPrefix(strings.TrimSpace(text), "!"), "no other text is taken for one")
		if language != "" {
			require.Contains(t, chat.Languages(), language)
		}
		again, same := chat.ReadCommand(strings.ToLower(strings.TrimSpace(text)))
		require.Equal(t, command, again)
		require.Equal(t, language, same)
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	require.True(t, chat.Line{}.Empty())
	require.Equal(t, chat.Line{ID: "a"}, chat.Text("a"))
	require.Equal(t, chat.Line{ID: "a", Args: map[string]string{"x": "1", "y": ""}}, chat.Text("a", "x", "1", "y", "", "odd"))
	require.Equal(t, chat.Line{ID: "a", Texts: map[string]string{"by": "b"}}, chat.Text("a").With("by", "b"))
}
