package letter

import "strings"

// unflow undoes format=flowed (RFC 3676 §4): lines that end in a blank go on in the
// next one of the same quotation depth. delSp takes that blank away.
func unflow(text string, delSp bool) string {
	var out strings.Builder
	depth, open := 0, false
	for line := range strings.Lines(text) {
		broken := strings.HasSuffix(line, "\n")
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		quotes := len(line) - len(strings.TrimLeft(line, ">"))
		line = strings.TrimPrefix(line[quotes:], " ") // space-stuffing, §4.4
		signature := line == "-- "                    // §4.3: never part of a paragraph
		if open && (quotes != depth || signature) {
			out.WriteByte('\n')
			open = false
		}
		if !open && quotes > 0 {
			out.WriteString(strings.Repeat(">", quotes) + " ")
		}
		depth = quotes
		open = broken && !signature && strings.HasSuffix(line, " ")
		if open && delSp {
			line = strings.TrimSuffix(line, " ")
		}
		out.WriteString(line)
		if broken && !open {
			out.WriteByte('\n')
		}
	}
	return out.String()
}
