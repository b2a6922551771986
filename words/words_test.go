package words_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	require.Equal(t, chat.Languages(), words.Languages())
	require.Equal(t, words.English, words.Languages()[0])
	words.Languages()[0] = "fr"
	require.Equal(t, words.English, words.Languages()[0], "a copy")
}

func TestPick(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		candidates []string
		want       string
	}{
		{nil, "en"},
		{[]string{"", ""}, "en"},
		{[]string{"de"}, "de"},
		{[]string{"de-AT"}, "de"},
		{[]string{"DE_ch"}, "de"},
		{[]string{"es-MX"}, "es"},
		{[]string{"en-GB"}, "en"},
		{[]string{"zh"}, "zh-CN"},
		{[]string{"zh-cn"}, "zh-CN"},
		{[]string{"zh-Hans-SG"}, "zh-CN"},
		{[]string{"zh-TW"}, "en"}, // other letters
		{[]string{"fr"}, "en"},
		{[]string{"fr", "de"}, "de"},
		{[]string{"", "es", "de"}, "es"},
		{[]string{"de; DROP", "\x00", "zh-CN"}, "zh-CN"},
		{[]string{"und"}, "en"},
		{[]string{strings.Repeat("de-", 10000)}, "en"},
	} {
		require.Equal(t, test.want, words.Pick(test.candidates...), "%q", test.candidates)
	}
}

// The person, then the conversation, then the installation, then English.
func TestChoice(t *testing.T) {
	t.Parallel()
	choice := words.Choice{Default: "es", Conversations: map[string]string{"telegram:-100": "de", "slack:C01": "zh-CN", "slack:C01:2": "en"}}
	group, topic := chat.Thread{Connector: chat.Telegram, Key: "-100"}, chat.Thread{Connector: chat.Telegram, Key: "-100:7"}
	german := chat.Person{Language: "de-AT"}
	require.Equal(t, "de", choice.Of(german, chat.Thread{}, "es"))
	require.Equal(t, "zh-CN", choice.Of(chat.Person{}, group, "zh-cn"), "what was chosen there wins over what is configured")
	require.Equal(t, "de", choice.Of(chat.Person{}, group, ""))
	require.Equal(t, "de", choice.Of(chat.Person{}, topic, ""), "a group's language counts for its topics")
	require.Equal(t, "de", choice.Of(chat.Person{Language: "fr"}, group, ""), "a language that is not spoken here is none")
	require.Equal(t, "zh-CN", choice.Of(chat.Person{}, chat.Thread{Connector: chat.Slack, Key: "C01:1"}, ""))
	require.Equal(t, "en", choice.Of(chat.Person{}, chat.Thread{Connector: chat.Slack, Key: "C01:2"}, ""))
	require.Equal(t, "es", choice.Of(chat.Person{}, chat.Thread{Connector: chat.Slack, Key: "-100"}, ""), "another connector's")
	require.Equal(t, "en", words.Choice{}.Of(chat.Person{}, group, ""))
}

// CONTRACT §3: this text to the letter.
func TestTheEnglishPrompt(t *testing.T) {
	t.Parallel()
	prompt := "Delete the file at reports/old.csv on disk local?"
	want := "⚠️ Delete the file at reports/old.csv on disk local? Reply 'Yes' to confirm."
	require.Equal(t, want, approval.Question(prompt))
	for _, language := range []string{"en", "", "fr", "en-US"} {
		require.Equal(t, want, words.Say(language, chat.Text(chat.LineQuestion, "prompt", prompt)))
	}
}

func TestSay(t *testing.T) {
	t.Parallel()
	require.Empty(t, words.Say("de", chat.Line{}))
	require.Equal(t, "Das wurde abgebrochen.", words.Say("de-AT", chat.Text(chat.LineTurnCancelled)))
	require.Equal(t, "✅ Genehmigt von einem anderen Programm um 12:00.",
		words.Say("de", chat.Text(chat.LineApproved, "at", "12:00").With("by", chat.LineProgramBy)))
	require.Equal(t, "no_such_entry", words.Say("de", chat.Text("no_such_entry", "a", "b")), "from a newer program")
	require.Equal(t, "It failed: ", words.Say("en", chat.Text(chat.LineFailed)), "an argument that is missing is left out")
	for n, want := range map[string]string{
		"1": "1 dauerhafte Erlaubnis ist beendet.", "2": "2 dauerhafte Erlaubnisse sind beendet.", "0": "0 dauerhafte Erlaubnisse sind beendet.",
	} {
		require.Contains(t, words.Say("de", chat.Text(chat.LineRevoked, "count", n)), want)
	}
	require.Contains(t, words.Say("es", chat.Text(chat.LineRevoked, "count", "1000000")), "Han terminado 1000000 permisos")
	require.Contains(t, words.Say("zh-CN", chat.Text(chat.LineRevoked, "count", "1")), "1 项")
}

func ExampleSay() {
	line := chat.Text(chat.LineQuestion, "prompt", "Die Datei alt.csv löschen?")
	fmt.Println(words.Say("de", line))
	// Output: ⚠️ Die Datei alt.csv löschen? Zum Bestätigen mit 'Yes' antworten.
}

func ExampleChoice_Of() {
	choice := words.Choice{Default: "en", Conversations: map[string]string{"telegram:-100123": "de"}}
	group := chat.Thread{Connector: chat.Telegram, Key: "-100123"}
	fmt.Println(choice.Of(chat.Person{Name: "ada", Language: "es"}, group, ""), choice.Of(chat.Person{Name: "bob"}, group, ""))
	// Output: es de
}

// Arguments are data: what looks like a template, a placeholder or a format is shown as it is.
func FuzzArgumentsAreLiteral(f *testing.F) {
	for _, seed := range []string{
		"", "{{.by}}", "{{template \"x\"}}", "{{/*", "}}", "%s %d", "$1", "\\n", "<b>", "{path}", "\x00\xff", "{{.prompt}}{{.prompt}}", "1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, language := range words.Languages() {
			const mark = "\u2603"
			frame := words.Say(language, chat.Text(chat.LineQuestion, "prompt", mark))
			require.Equal(t, strings.Replace(frame, mark, value, 1), words.Say(language, chat.Text(chat.LineQuestion, "prompt", value)))
			line := chat.Text(chat.LineDenied, "by", value, "at", value, "unknown", value, "count", value)
			frame = words.Say(language, chat.Text(chat.LineDenied, "by", mark, "at", mark))
			require.Equal(t, strings.ReplaceAll(frame, mark, value), words.Say(language, line))
			_ = words.Say(language, chat.Text(chat.LineRevoked, "count", value))
			_ = words.Say(value, chat.Text(value, value, value))
		}
	})
}
