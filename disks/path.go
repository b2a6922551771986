package disks

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// root is the clean path of a disk's root.
	root = "."
	// maxPath is S3's limit for a key, in bytes; maxName that of file systems for one name.
	maxPath = 1024
	maxName = 255
	// hidden starts the names of files that are still being written.
	hidden = ".countersign-"
)

// Clean returns the one form of a path that disks work with: names joined by
// single slashes, "." for the root. A leading slash means the root, and ".."
// is resolved as long as it stays inside.
//
// Refused on every disk (CONTRACT §6): backslashes, control and format
// characters, names with a blank at either end or a dot at the end,
// percent-encoded dots, slashes and backslashes, and paths that lead out. The
// error is a *Refusal whose cause is ErrPath.
func Clean(name string) (string, error) {
	refused := func(reason string) (string, error) {
		return "", &Refusal{Path: name, Reason: reason, Cause: ErrPath}
	}
	if reason := badText(name); reason != "" {
		return refused(reason)
	}
	var kept []string
	for segment := range strings.SplitSeq(name, "/") {
		switch segment {
		case "", ".":
			continue
		case "..":
			if len(kept) == 0 {
				return refused("leads out of the disk")
			}
			kept = kept[:len(kept)-1]
			continue
		}
		if reason := badSegment(segment); reason != "" {
			return refused(reason)
		}
		kept = append(kept, segment)
	}
	if len(kept) == 0 {
		return root, nil
	}
	return strings.Join(kept, "/"), nil
}

func badText(name string) string {
	switch {
	case len(name) > maxPath:
		return "is longer than 1024 bytes"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsRune(name, '\\'):
		return "has a backslash; separate folders with /"
	case strings.ContainsFunc(name, Invisible):
		return "has a control or format character"
	}
	if _, hides := Unescape(name); hides {
		return "has a percent-encoded dot, slash or backslash; write it plainly"
	}
	return ""
}

func badSegment(segment string) string {
	first, _ := utf8.DecodeRuneInString(segment)
	last, _ := utf8.DecodeLastRuneInString(segment)
	switch {
	case len(segment) > maxName:
		return "has a name longer than 255 bytes"
	case unicode.IsSpace(first) || unicode.IsSpace(last):
		return "has a name with a blank at its start or end"
	case last == '.':
		return "has a name that ends in a dot"
	case strings.Trim(norm.NFKC.String(segment), ". ") == "":
		return "has a name of only dots"
	case strings.HasPrefix(foldName(segment), hidden):
		return "has a name that is reserved for files being written"
	}
	return ""
}

// Invisible tells whether a character may not be in a name: controls (Cc),
// format characters such as direction marks and zero-width ones (Cf), and the
// line and paragraph separators, which break a line like a control does.
func Invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Unescape decodes percent-encoding until nothing is left to decode, and tells
// whether that brought a dot, slash or backslash to light.
func Unescape(s string) (decoded string, hides bool) {
	const hideable = `./\`
	count := func(s string) (n int) {
		for _, c := range hideable {
			n += strings.Count(s, string(c))
		}
		return n
	}
	decoded = s
	for {
		next := unescapeOnce(decoded)
		if next == decoded {
			return decoded, count(decoded) > count(s)
		}
		decoded = next
	}
}

func unescapeOnce(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			high, low := hexDigit(s[i+1]), hexDigit(s[i+2])
			if high >= 0 && low >= 0 {
				b.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

// foldName is the form in which names are compared: whatever some disk might
// take for the same name has the same form. Never used for reading or writing.
func foldName(name string) string {
	decoded, _ := Unescape(name)
	decoded = strings.Map(func(r rune) rune {
		if Invisible(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, decoded)
	folded := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(decoded)))
	// Windows reads "inbound::$DATA" as the folder; NFKC may have made a separator of a wide one.
	if cut := strings.IndexAny(folded, `:/\`); cut >= 0 {
		folded = folded[:cut]
	}
	folded = strings.TrimLeftFunc(folded, unicode.IsSpace)
	return strings.TrimRightFunc(folded, func(r rune) bool { return r == '.' || unicode.IsSpace(r) })
}
