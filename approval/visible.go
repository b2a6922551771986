package approval

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape shows somebody else's text (a value, a name, a reason) in one line that
// reads as what it is (CONTRACT §3, G15). Text without special characters comes
// out unchanged. Otherwise:
//
//   - control, format, zero-width, direction, private-use and unassigned
//     characters, line separators, every default-ignorable character (variation
//     selectors, tags, fillers) and every space but the ASCII one become \n, \r,
//     \t or \u{202E}; bytes that are no UTF-8 become \x{FF};
//   - blanks at either end become \u{0020}; more than 3 in a row become
//     \{400 spaces};
//   - a combining mark without a letter or digit before it, or after four others,
//     is escaped like a control character.
//
// What was a backslash can be told from what is an escape: where anything was
// escaped, and where the text holds something that looks like an escape, every
// backslash is doubled. So no two texts are shown in the same way.
func Escape(s string) string {
	if looksPlain(s) {
		return s
	}
	var b strings.Builder
	for g := range glyphs(s, styleData) {
		b.WriteString(g.shown)
	}
	return b.String()
}

// EscapeShort is Escape for at most limit characters as shown; what is left out
// is counted: "…(+2801 characters)". It cuts neither a character nor an escape.
func EscapeShort(s string, limit int) string {
	return shorten([]segment{{text: s, style: styleData}}, limit)
}

// style is how a text is shown.
type style int

const (
	styleLiteral style = iota // ours: as it is
	styleData                 // somebody else's text
	styleJSON                 // JSON: its own backslashes already tell it apart
)

// glyph is the smallest piece that is shown or left out.
type glyph struct {
	shown string
	size  int // bytes of the original
}

// These begin what could be taken for an escape of ours.
var escapeLike = []string{`\n`, `\r`, `\t`, `\u{`, `\x{`, `\{`, `\\`, "…(+"}

func looksPlain(s string) bool {
	for _, sequence := range escapeLike {
		if strings.Contains(s, sequence) {
			return false
		}
	}
	at := 0
	for g := range glyphs(s, styleData) {
		// A backslash alone changes nothing: it would be doubled only next to escapes.
		if original := s[at : at+g.size]; g.shown != original && original != `\` {
			return false
		}
		at += g.size
	}
	return true
}

// maxBlanks are shown as they are, and so are maxMarks on one letter.
const (
	maxBlanks = 3
	maxMarks  = 4
)

// glyphs walks over a text as it is to be shown.
func glyphs(s string, how style) iter.Seq[glyph] {
	return func(yield func(glyph) bool) {
		marks := maxMarks // none may follow the start, a blank, a sign or an escape
		for i := 0; i < len(s); {
			g := glyph{}
			switch r, size := utf8.DecodeRuneInString(s[i:]); {
			case how == styleLiteral:
				g = glyph{s[i : i+size], size}
			case r == utf8.RuneError && size == 1:
				g, marks = glyph{fmt.Sprintf(`\x{%02X}`, s[i]), 1}, maxMarks
			case r == ' ':
				g, marks = blanks(s, i, how), maxMarks
			case unicode.Is(unicode.M, r) && marks < maxMarks && !unseen(r):
				g = glyph{s[i : i+size], size}
				marks++
			case unicode.Is(unicode.M, r) || unseen(r):
				g, marks = glyph{escapeRune(r), size}, maxMarks
			case how == styleData && r == '\\':
				g, marks = glyph{`\\`, 1}, maxMarks
			case how == styleData && strings.HasPrefix(s[i:], "…(+"):
				g, marks = glyph{escapeRune(r), size}, maxMarks
			case unicode.In(r, unicode.L, unicode.N):
				g, marks = glyph{s[i : i+size], size}, 0
			default:
				g, marks = glyph{s[i : i+size], size}, maxMarks
			}
			if !yield(g) {
				return
			}
			i += g.size
		}
	}
}

// blanks takes a run of spaces that starts at i, or one of a short run.
func blanks(s string, i int, how style) glyph {
	run := len(s[i:]) - len(strings.TrimLeft(s[i:], " "))
	switch {
	case run > maxBlanks:
		return glyph{fmt.Sprintf(`\{%d spaces}`, run), run}
	case how == styleData && (strings.TrimLeft(s[:i], " ") == "" || i+run == len(s)):
		return glyph{escapeRune(' '), 1}
	default:
		return glyph{" ", 1}
	}
}

func escapeRune(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	default:
		return fmt.Sprintf(`\u{%04X}`, r)
	}
}

// unseen tells which characters are not seen, or change how others are seen.
// The category C is Cc, Cf, Cs, Co and, since Go 1.25, Cn: what Go's version of
// Unicode does not know is escaped too.
func unseen(r rune) bool {
	switch r {
	case ' ':
		return false
	case '\u2800', '\U0001D159': // blank, though a symbol: braille, null note head
		return true
	default:
		return unicode.In(r, unicode.C, unicode.Z,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	}
}
