package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// visibleStyles makes the sequences of a golden file readable.
var visibleStyles = strings.NewReplacer(plainStyle, "⟨0⟩", bold, "⟨b⟩", faint, "⟨f⟩", italic, "⟨i⟩", underlined, "⟨u⟩", struck, "⟨s⟩", codeStyle, "⟨c⟩")

func TestMarkdown(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("testdata", "markdown.md"))
	require.NoError(t, err)
	golden := filepath.Join("testdata", "markdown.golden")
	got := visibleStyles.Replace(pretty(string(source))) + "\n"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// What is no Markdown reads as it was written.
func TestMarkdownLeavesOtherTextAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "yes", "✅ Done: file_manager list\n{\n  \"entries\": [\n    \"a\"\n  ]\n}",
		"file_manager – Works on files.\n  /file_manager delete disk=… path=… (asks first)\n  /file_manager list",
		"a < b & c > d", "2 * 3 * 4", "snake_case_name", "C:\\dir\\file", "50% – 👩‍👩‍👧 é", "<b>not bold</b>",
	} {
		require.Equal(t, text, pretty(text))
	}
	require.Equal(t, "a\nb", pretty("a\r\nb"))
	long := strings.Repeat("**a** ", maxMarkdown)
	require.Equal(t, long, pretty(long), "a long text is a file that somebody printed")
}

// G15: whatever an agent, a tool or a file's name says, the only sequences are our styles.
var hostile = map[string]string{
	"erase the line":         "ok\r\x1b[2KSafe: read only",
	"in bold":                "**a\x1b[31mb**",
	"eight bits":             "a\u009b2Jb",
	"a title":                "\x1b]0;owned\x07",
	"a link of the terminal": "\x1b]8;;http://evil.test\x1b\\x\x1b]8;;\x1b\\",
	"an entity":              "a &#27;[2J b",
	"a hexadecimal one":      "&#x1b;]0;x&#x7;",
	"one of an entity":       "&amp;#27;[2J",
	"an entity in code":      "`&#27;[2J`",
	"in a block":             "```\n\x1b[2J\n```",
	"in its name":            "```\x1b[2J\nx\n```",
	"in a link":              "[a](http://x.test/&#27;[2J)",
	"in a link's title":      "[a](http://x.test \"\x1b[2J\")",
	"in an image":            "![\x1b[2J](&#27;)",
	"in a table":             "|a|\x1b[2J|\n|-|-|\n|&#27;c|b|",
	"in HTML":                "<div title=\"\x1b[2J\">\n&#27;\n</div>",
	"a reference":            "[x]: &#27;\n\n[x]",
	"backwards":              "report\u202egpj.exe &#x202e;x &rlm; &lrm;",
	"a new line":             "a\u2028b\u2029c\u0085d",
	"an autolink":            "<http://x.test/\u202e>",
	"a tag":                  "a\U000E0041b",
}

var ourStyles = regexp.MustCompile(`\x1b\[(0|1|2|3|4|9|36)m`)

func checkHarmless(t *testing.T, drawn string) {
	t.Helper()
	rest := ourStyles.ReplaceAllString(drawn, "")
	for _, r := range rest {
		if r != '\n' && r != '\t' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Fatalf("%U reaches the terminal: %q", r, drawn)
		}
	}
	if last := strings.LastIndex(drawn, "\x1b["); last >= 0 {
		require.True(t, strings.HasPrefix(drawn[last:], plainStyle), "a style goes on: %q", drawn)
	}
}

func TestNothingRewritesTheTerminal(t *testing.T) {
	t.Parallel()
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkHarmless(t, pretty(text))
			checkHarmless(t, harmless(text))
		})
	}
	require.Equal(t, `a \u{001B}[1m b`, pretty("a \x1b[1m b"), "not a style of the text's own")
	require.Equal(t, `a \u{001B}[2J b`, pretty("a &#27;[2J b"))
	require.Equal(t, `"a\u009b\u202e\udb40\udc41"`, harmlessJSON("\"a\u009b\u202e\U000E0041\""))
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Add("> - 1. a\n> > # b\n\n| a | b |\n|--:|---|\n| `c` | ~~d~~ |\n\n- [ ] e\n- [x] f <http://g.test>\n\n---\n")
	f.Add(strings.Repeat(">", 3000) + "x")
	f.Fuzz(func(t *testing.T, text string) { checkHarmless(t, pretty(text)) })
}
