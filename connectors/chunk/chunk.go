package chunk

import (
	"strings"
	"unicode/utf8"
)

// Measure is what a character counts on a platform, at least 1.
type Measure func(r rune) int

// UTF16 counts code units, as Telegram does: a character beyond the basic plane is two.
func UTF16(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// Length is what a text counts.
func (m Measure) Length(text string) (n int) {
	for _, r := range text {
		n += m(r)
	}
	return n
}

// Head is the longest beginning of text that counts at most limit.
func (m Measure) Head(text string, limit int) string {
	n := 0
	for i, r := range text {
		if n += m(r); n > limit {
			return text[:i]
		}
	}
	return text
}

// Tail is Head from the other end.
func (m Measure) Tail(text string, limit int) string {
	n, start := 0, len(text)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if n += m(r); n > limit {
			break
		}
		start -= size
	}
	return text[start:]
}

// ending is how much of a shortened text's end stays.
const ending = 200

// Shorten takes the middle out of a text that counts more than limit, since the end of
// a question says how to answer. mark stands in its place, on a line of its own, and is
// told how many characters are left out. The limit has to leave room for the mark and an
// ending of 200.
func (m Measure) Shorten(text string, limit int, mark func(left int) string) (short string, cut bool) {
	text = valid(text)
	if m.Length(text) <= limit {
		return text, false
	}
	all := utf8.RuneCountInString(text)
	room := m.Length("\n" + mark(all) + "\n") // no mark is longer: fewer are left out
	end := m.Tail(text, ending)
	begin := m.Head(text, limit-ending-room)
	left := all - utf8.RuneCountInString(begin) - utf8.RuneCountInString(end)
	return begin + "\n" + mark(left) + "\n" + end, true
}

// Split cuts a text into messages that count at most limit: at line ends where there are
// any, else at blanks, else between characters. No message is empty or blanks only, which
// platforms refuse, so a blank text has none. A limit below what one character counts is
// exceeded by that character.
func (m Measure) Split(text string, limit int) []string {
	var parts []string
	add := func(part string) {
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	text = valid(text)
	for {
		part := m.Head(text, limit)
		if len(part) == len(text) {
			break
		}
		switch {
		case part == "":
			_, size := utf8.DecodeRuneInString(text)
			part = text[:size]
		case strings.HasPrefix(text[len(part):], "\n"):
		case strings.LastIndexByte(part, '\n') > 0:
			part = part[:strings.LastIndexByte(part, '\n')]
		case strings.LastIndexByte(part, ' ') > 0:
			part = part[:strings.LastIndexByte(part, ' ')+1]
		}
		add(part)
		text = strings.TrimPrefix(text[len(part):], "\n")
	}
	add(text)
	return parts
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
