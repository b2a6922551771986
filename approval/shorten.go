package approval

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// segment is a part of a value that is shown in one way.
type segment struct {
	text  string
	style style
}

// shorten shows segments in at most limit characters, and behind them the number
// of characters that were left out, if any: that of the value, not of escapes.
func shorten(segments []segment, limit int) string {
	var b strings.Builder
	room := limit
	for i, part := range segments {
		shown, rest := head(part, room)
		b.WriteString(shown)
		room -= utf8.RuneCountInString(shown)
		if rest == "" {
			continue
		}
		left := utf8.RuneCountInString(rest)
		for _, later := range segments[i+1:] {
			left += utf8.RuneCountInString(later.text)
		}
		b.WriteString("…(+" + strconv.Itoa(left) + " characters)")
		break
	}
	return b.String()
}

// head shows as much of a segment as fits into room characters, and returns what
// did not fit. It does not cut inside of what people see as one character
// (UAX #29), unless that alone is longer than the room.
func head(part segment, room int) (shown, rest string) {
	how := part.style
	if how == styleData && looksPlain(part.text) {
		how = styleJSON // nothing to tell apart: a lone backslash stays one
	}
	type cut struct{ from, shown int }
	var (
		b    strings.Builder
		cuts []cut
		at   int
		used int
	)
	for g := range glyphs(part.text, how) {
		used += utf8.RuneCountInString(g.shown)
		if used > room {
			break
		}
		b.WriteString(g.shown)
		at += g.size
		cuts = append(cuts, cut{at, b.Len()})
	}
	if at == len(part.text) {
		return b.String(), ""
	}
	whole := clusterEnds(part.text, at)
	for _, c := range slices.Backward(cuts) {
		if _, ok := slices.BinarySearch(whole, c.from); ok {
			return b.String()[:c.shown], part.text[c.from:]
		}
	}
	return b.String(), part.text[at:]
}

// clusterEnds returns where the first grapheme clusters of s end, up to limit.
func clusterEnds(s string, limit int) []int {
	// A cluster that the window cuts ends beyond limit all the same.
	window := s[:min(len(s), limit+4*utf8.UTFMax)]
	var ends []int
	for at, state := 0, -1; len(window) > 0; {
		var cluster string
		cluster, window, _, state = uniseg.FirstGraphemeClusterInString(window, state)
		if at += len(cluster); at > limit {
			break
		}
		ends = append(ends, at)
	}
	return ends
}
