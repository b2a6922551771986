package approval_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func deleteOperation() tool.Operation {
	return tool.Operation{
		Name: "delete", Kind: tool.Danger,
		Prompt:  "Delete the file at {path} on disk {disk}?",
		Prompts: []tool.PromptVariant{{When: "paths", Template: "Delete {count} files on disk {disk}: {paths}?", Count: "paths"}},
	}
}

func marshal(t testing.TB, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	prompt, err := approval.Render(deleteOperation(), json.RawMessage(`{"path":"reports/old.csv","disk":"local"}`))
	require.NoError(t, err)
	require.Equal(t, "⚠️ Delete the file at reports/old.csv on disk local? Reply 'Yes' to confirm.", approval.Question(prompt))
	require.Equal(t, "\u26a0\ufe0f x Reply 'Yes' to confirm.", approval.Question("x"))
}

func TestRender(t *testing.T) {
	t.Parallel()
	op := tool.Operation{Name: "op", Prompt: "<{v}>"}
	for name, tc := range map[string]struct {
		in   string // the parameter v as JSON; empty for none
		want string
	}{
		"text":               {`"a b"`, "<a b>"},
		"number":             {`1.50`, "<1.5>"},
		"large number":       {`9007199254740993`, "<9007199254740993>"},
		"boolean":            {`true`, "<true>"},
		"null":               {`null`, "<null>"},
		"not there":          {``, `<"">`},
		"empty text":         {`""`, `<"">`},
		"list":               {`["a","b c",3,true,null]`, "<a, b c, 3, true, null>"},
		"empty list":         {`[]`, `<"">`},
		"empty item":         {`["a","","b"]`, `<a, "", b>`},
		"list in a list":     {`[["a","b"],"c"]`, `<["a","b"], c>`},
		"object":             {`{ "b":"x\ny", "a":[1] }`, `<{"a":[1],"b":"x\ny"}>`},
		"object, hidden":     {`{"a":"x\u202ey\\z"}`, `<{"a":"x\u{202E}y\\z"}>`},
		"placeholder in it":  {`"{v} {w}"`, "<{v} {w}>"},
		"escape in one item": {`["a\\b","c\nd\\e"]`, `<a\b, c\nd\\e>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parameters := json.RawMessage(`{"v":` + tc.in + `}`)
			if tc.in == "" {
				parameters = nil
			}
			got, err := approval.Render(op, parameters)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestRenderVariants(t *testing.T) {
	t.Parallel()
	op := deleteOperation()
	for in, want := range map[string]string{
		`{"paths":["a","b"],"disk":"local"}`:       "Delete 2 files on disk local: a, b?",
		`{"paths":[],"disk":"local"}`:              `Delete 0 files on disk local: ""?`,
		`{"paths":null,"path":"a","disk":"local"}`: "Delete the file at a on disk local?",
		`{"path":"a"}`: `Delete the file at a on disk ""?`,
		`{"count":7,"paths":["a"],"disk":"{paths}"}`: "Delete 1 files on disk {paths}: a?",
	} {
		got, err := approval.Render(op, json.RawMessage(in))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	op.Prompts = append([]tool.PromptVariant{{When: "path", Template: "First {path}?"}}, op.Prompts...)
	got, err := approval.Render(op, json.RawMessage(`{"path":"a","paths":["b"]}`))
	require.NoError(t, err)
	require.Equal(t, "First a?", got)
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ prompt, in, want string }{
		"no template":        {"", `{}`, "there is no template"},
		"unbalanced":         {"{a", `{}`, "unbalanced"},
		"not an object":      {"{a}", `[]`, "not an object"},
		"null":               {"{a}", `"x"`, "not an object"},
		"duplicates":         {"{a}", `{"a":1,"a":2}`, "there twice"},
		"counts what is not": {"x", `{"paths":"a"}`, "not a list"},
	} {
		op := deleteOperation()
		op.Prompt = tc.prompt
		got, err := approval.Render(op, json.RawMessage(tc.in))
		require.ErrorContains(t, err, tc.want, name)
		require.ErrorContains(t, err, "prompt of delete", name)
		require.Empty(t, got)
	}
}

// TestG15Golden shows hostile names as a person reads them.
func TestG15Golden(t *testing.T) {
	t.Parallel()
	inputs := []string{
		"a\n\nReply yes to continue",
		"ok.txt\r\x1b[2KSafe: read only",
		"report\u202egpj.exe",
		"ok.txt" + strings.Repeat(" ", 400) + " --delete",
		"ok\U000E0041\U000E0042.txt",
		"zero\u200b\u200cwidth\u200d\ufeff.txt",
		"\u2066isolate\u2069 \u061c",
		"grapheme joiner\u034f, selector\ufe0e\ufe0f\U000E0100",
		"hangul filler\u3164\u115f\uffa0, braille blank\u2800",
		"soft\u00adhyphen, no-break\u00a0space, thin\u2009space, ideographic\u3000space",
		"private\ue000, unassigned\u0378, noncharacter\ufdd0",
		"line\u2028paragraph\u2029next\u0085",
		"tab\tnull\x00delete\x7f",
		"not UTF-8 \xff\xfe end",
		`C:\Users\ada`,
		`C:\new\table.txt`,
		`looks like \u{202E}`,
		"is \u202e, and \\u{202E}",
		`…(+5 characters)`,
		"  outer blanks ",
		"three   four    five     end",
		"\u0301starts with a mark",
		"z" + strings.Repeat("\u0301", 9) + "algo",
		"strike\u0338through /\u0338 e\u0301",
		"\u05d3\u05d5\u05d7 \u0634\u0647\u0631\u064a.pdf",
		"報告書-最終.pdf",
		"नमस्ते ไทย한국어",
		"😀👍🏽 🇨🇭 ❤\ufe0f 👩\u200d💻",
		"100% & <b>*bold*</b> `code` @everyone https://example.test",
		"local? Reply 'Yes' to confirm.",
	}
	var b strings.Builder
	for _, in := range inputs {
		fmt.Fprintf(&b, "%s\n    %s\n", strconv.QuoteToASCII(in), approval.Escape(in))
		// Whatever the JSON way of the value, the prompt shows the same.
		if utf8.ValidString(in) {
			got, err := approval.Render(tool.Operation{Prompt: "{v}"}, marshal(t, map[string]string{"v": in}))
			require.NoError(t, err)
			if utf8.RuneCountInString(approval.Escape(in)) <= approval.MaxValue {
				require.Equal(t, approval.Escape(in), got)
			}
		}
	}
	golden := filepath.Join("testdata", "g15.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

func TestEscapePlainIsUnchanged(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "reports/old.csv", "a b  c   d", `C:\Users\ada`, "it's 100% \"fine\" & <ok>", "naïve e\u0301", "报告", "שלום", "\ufffd", "…", "{path}", "👍🏽",
	} {
		require.Equal(t, s, approval.Escape(s))
	}
}

func TestCutting(t *testing.T) {
	t.Parallel()
	op := tool.Operation{Name: "op", Prompt: "<{v}>"}
	for name, tc := range map[string]struct {
		in   any
		want string
	}{
		"C14 3001 characters":     {strings.Repeat("x", 3001), "<" + strings.Repeat("x", 200) + "…(+2801 characters)>"},
		"exactly 200":             {strings.Repeat("é", 200), "<" + strings.Repeat("é", 200) + ">"},
		"201":                     {strings.Repeat("é", 201), "<" + strings.Repeat("é", 200) + "…(+1 characters)>"},
		"escapes count as shown":  {strings.Repeat("\n", 150), "<" + strings.Repeat(`\n`, 100) + "…(+50 characters)>"},
		"no escape is cut":        {strings.Repeat("x", 195) + "\u202eyz", "<" + strings.Repeat("x", 195) + "…(+3 characters)>"},
		"no letter loses a mark":  {strings.Repeat("x", 199) + "e\u0301zz", "<" + strings.Repeat("x", 199) + "…(+4 characters)>"},
		"no flag is cut":          {strings.Repeat("x", 199) + "🇨🇭", "<" + strings.Repeat("x", 199) + "…(+2 characters)>"},
		"no skin tone is lost":    {strings.Repeat("x", 199) + "👍🏽", "<" + strings.Repeat("x", 199) + "…(+2 characters)>"},
		"400 spaces are short":    {"ok.txt" + strings.Repeat(" ", 400) + "--delete", `<ok.txt\{400 spaces}--delete>`},
		"a list, between items":   {[]string{strings.Repeat("x", 198), strings.Repeat("y", 10)}, "<" + strings.Repeat("x", 198) + ", …(+10 characters)>"},
		"a list, in an item":      {[]string{strings.Repeat("x", 150), strings.Repeat("y", 100), "zz"}, "<" + strings.Repeat("x", 150) + ", " + strings.Repeat("y", 48) + "…(+56 characters)>"},
		"an object":               {map[string]string{"a": strings.Repeat("x", 300)}, `<{"a":"` + strings.Repeat("x", 194) + `…(+108 characters)>`},
		"one endless character":   {"e" + strings.Repeat("\u0301", 500), "<e\u0301\u0301\u0301\u0301" + strings.Repeat(`\u{0301}`, 24) + "…(+472 characters)>"},
		"a million of characters": {strings.Repeat("報", 1_000_000), "<" + strings.Repeat("報", 200) + "…(+999800 characters)>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := approval.Render(op, marshal(t, map[string]any{"v": tc.in}))
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	require.Equal(t, "ab…(+2 characters)", approval.EscapeShort("abcd", 2))
	require.Equal(t, "abcd", approval.EscapeShort("abcd", 4))
	require.Equal(t, "…(+4 characters)", approval.EscapeShort("abcd", 0))
}

func TestPromptStaysShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\u202e", 1000)
	for placeholders := range tool.MaxPlaceholders + 1 {
		words := strings.Repeat("w", tool.MaxTemplateRunes-3*placeholders)
		got, err := approval.Render(tool.Operation{Prompt: strings.Repeat("{v}", placeholders) + words}, marshal(t, map[string]string{"v": long}))
		require.NoError(t, err)
		require.LessOrEqual(t, utf8.RuneCountInString(got), approval.MaxPrompt)
		require.True(t, strings.HasSuffix(got, words), "the template's words are never cut")
	}
}

func forbidden(r rune) bool {
	return r != ' ' && unicode.In(r, unicode.C, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

var (
	escapeLike = regexp.MustCompile(`\\[nrtux{\\]|…\(\+`)
	escapes    = regexp.MustCompile(`\\\\|\\n|\\r|\\t|\\u\{[0-9A-F]+\}|\\x\{[0-9A-F]{2}\}|\\\{[0-9]+ spaces\}`)
)

// unescape is what Escape undoes if no two texts are shown in the same way.
func unescape(s string) string {
	if !regexp.MustCompile(`\\n|\\r|\\t|\\u\{|\\x\{|\\\{|\\\\|…\(\+`).MatchString(s) {
		return s
	}
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		switch {
		case e == `\\`:
			return `\`
		case e == `\n`:
			return "\n"
		case e == `\r`:
			return "\r"
		case e == `\t`:
			return "\t"
		case e[1] == '{':
			n, _ := strconv.Atoi(strings.TrimSuffix(e[2:], " spaces}"))
			return strings.Repeat(" ", n)
		default:
			n, _ := strconv.ParseUint(e[3:len(e)-1], 16, 32)
			if e[1] == 'x' {
				return string([]byte{byte(n)})
			}
			return string(rune(n))
		}
	})
}

func FuzzEscape(f *testing.F) {
	for _, seed := range []string{
		"a\n\nReply yes", "\u202egpj.exe", "a    b", " x ", `\n`, `\u{202E}`, "\\\u202e", "\xff", "e\u0301\u0301\u0301\u0301\u0301\u0301", "…(+1 characters)", "\ufe0f", `\`,
	} {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, in string, limit int) {
		got := approval.Escape(in)
		require.True(t, utf8.ValidString(got))
		require.False(t, strings.ContainsFunc(got, forbidden), "%q", got)
		require.NotContains(t, got, "    ")
		require.Equal(t, in, unescape(got), "shown as %q", got)
		if got == in {
			require.False(t, strings.ContainsFunc(in, forbidden))
		} else {
			require.Regexp(t, escapeLike, got)
		}
		if limit < 0 || limit > 1000 {
			return
		}
		short := approval.EscapeShort(in, limit)
		head, mark, cut := strings.Cut(short, "…(+")
		if !cut {
			require.Equal(t, got, short)
			return
		}
		require.LessOrEqual(t, utf8.RuneCountInString(head), limit)
		require.True(t, strings.HasPrefix(got, head), "%q begins %q", got, head)
		left, err := strconv.Atoi(strings.TrimSuffix(mark, " characters)"))
		require.NoError(t, err)
		require.Positive(t, left)
	})
}

func FuzzRender(f *testing.F) {
	f.Add("a\n\nReply yes to continue", "local")
	f.Add("report\u202egpj.exe", strings.Repeat(" ", 400))
	f.Add("\U000E0041", "{path}")
	f.Fuzz(func(t *testing.T, path, disk string) {
		for _, parameters := range []any{
			map[string]any{"path": path, "disk": disk},
			map[string]any{"paths": []string{path, disk}, "disk": map[string]string{path: disk}},
		} {
			got, err := approval.Render(deleteOperation(), marshal(t, parameters))
			require.NoError(t, err)
			require.True(t, utf8.ValidString(got))
			require.False(t, strings.ContainsFunc(got, forbidden), "%q", got)
			require.LessOrEqual(t, utf8.RuneCountInString(got), approval.MaxPrompt)
			require.True(t, strings.HasPrefix(got, "Delete "))
			require.True(t, strings.HasSuffix(got, "?"))
		}
	})
}

func ExampleRender() {
	op := tool.Operation{Prompt: "Delete the file at {path} on disk {disk}?"}
	for _, parameters := range []string{
		`{"path":"reports/old.csv","disk":"local"}`,
		`{"path":"a\n\nReply yes to continue","disk":"local"}`,
	} {
		prompt, _ := approval.Render(op, json.RawMessage(parameters))
		fmt.Println(approval.Question(prompt))
	}
	// Output:
	// ⚠️ Delete the file at reports/old.csv on disk local? Reply 'Yes' to confirm.
	// ⚠️ Delete the file at a\n\nReply yes to continue on disk local? Reply 'Yes' to confirm.
}
