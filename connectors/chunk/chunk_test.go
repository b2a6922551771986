package chunk_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/chunk"
)

// escaped counts as a platform that escapes.
func escaped(r rune) int {
	if r == '&' {
		return 5
	}
	return chunk.UTF16(r)
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty":           {"", nil},
		"blank":           {" \n\n ", nil},
		"short":           {"hello", []string{"hello"}},
		"at a line end":   {"aaaa\nbbbbbbbb\ncc", []string{"aaaa", "bbbbbbbb", "cc"}},
		"line fits whole": {"aaaaaaaaaa\nbb", []string{"aaaaaaaaaa", "bb"}},
		"at a blank":      {"aaaa bbbbbbbb", []string{"aaaa ", "bbbbbbbb"}},
		"anywhere":        {"aaaaaaaaaaaaa", []string{"aaaaaaaaaa", "aaa"}},
		"pairs":           {"a😀😀😀😀😀😀", []string{"a😀😀😀😀", "😀😀"}},
		"escaped":         {"a&&&", []string{"a&", "&&"}},
		"no UTF-8":        {"a\xffb", []string{"a\uFFFDb"}},
	} {
		require.Equal(t, c.want, chunk.Measure(escaped).Split(c.text, 10), name)
	}
	require.Equal(t, []string{"a", "&", "b"}, chunk.Measure(escaped).Split("a&b", 1), "a limit of no sense ends all the same")
}

func TestShorten(t *testing.T) {
	t.Parallel()
	mark := func(left int) string { return fmt.Sprintf("[%d]", left) }
	for name, text := range map[string]string{
		"letters": strings.Repeat("a", 1000), "pairs": strings.Repeat("😀", 1000), "escaped": strings.Repeat("&", 301), "broken": strings.Repeat("\xff.", 1000),
	} {
		short, cut := chunk.Measure(escaped).Shorten(text+" the end", 300, mark)
		require.True(t, cut, name)
		require.LessOrEqual(t, chunk.Measure(escaped).Length(short), 300, name)
		require.True(t, utf8.ValidString(short), name)
		require.True(t, strings.HasSuffix(short, " the end"), name)
		lines := strings.Split(short, "\n")
		require.Len(t, lines, 3, name)
		left := utf8.RuneCountInString(strings.ToValidUTF8(text+" the end", "\uFFFD")) - utf8.RuneCountInString(lines[0]+lines[2])
		require.Equal(t, mark(left), lines[1], name)
	}
	whole, cut := chunk.Measure(chunk.UTF16).Shorten(strings.Repeat("a", 300), 300, mark)
	require.Equal(t, strings.Repeat("a", 300), whole)
	require.False(t, cut)
}

func FuzzMeasure(f *testing.F) {
	f.Add("aaaa\nbbbbbbbb cc😀😀😀&&&&<<<>>>>", 20)
	f.Add("\n\n\n\n\n\n\n\n\n\n\n\n\n", 3)
	f.Add("&&", 0)
	f.Add(strings.Repeat("ab\xff", 300), 400)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		m := chunk.Measure(escaped)
		parts := m.Split(text, limit)
		for _, part := range parts {
			require.True(t, m.Length(part) <= limit || utf8.RuneCountInString(part) == 1)
			require.True(t, utf8.ValidString(part))
			require.NotEmpty(t, strings.TrimSpace(part))
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		require.Equal(t, squeeze(strings.ToValidUTF8(text, "\uFFFD")), squeeze(strings.Join(parts, "")), "nothing is lost")
		if limit < 300 {
			return
		}
		short, cut := m.Shorten(text, limit, func(left int) string { return fmt.Sprintf("[%d left out]", left) })
		require.LessOrEqual(t, m.Length(short), limit)
		require.Equal(t, cut, m.Length(strings.ToValidUTF8(text, "\uFFFD")) > limit)
	})
}

func ExampleMeasure_Split() {
	for _, message := range chunk.Measure(chunk.UTF16).Split("first line\nsecond line", 15) {
		fmt.Println(message)
	}
	// Output:
	// first line
	// second line
}
