package disks

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxExt is how long an extension may be, in bytes with its dot, to be kept as one.
const maxExt = 32

// FoldName returns the form under which two names of one folder are the same
// on a disk that ignores case or Unicode forms.
func FoldName(name string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

// Numbered returns the n-th other name for a taken one, "name-n.ext", cut so
// that it is at most limit bytes long.
func Numbered(name string, n, limit int) string {
	dir, base := path.Split(name)
	stem, ext := SplitExt(base)
	tail := "-" + strconv.Itoa(n) + ext
	return dir + CutBytes(stem, max(limit-len(tail), 1)) + tail
}

// numberedFolder is Numbered for folders, whose names have no extension.
func numberedFolder(name string, n, limit int) string {
	dir, base := path.Split(name)
	tail := "-" + strconv.Itoa(n)
	return dir + CutBytes(base, limit-len(tail)) + tail
}

// SplitExt splits a name before its last dot. A leading dot starts a hidden
// file, not an extension, and something longer than 32 bytes is none.
func SplitExt(name string) (stem, ext string) {
	ext = path.Ext(name)
	if len(ext) < 2 || len(ext) > maxExt || len(ext) == len(name) {
		return name, ""
	}
	return strings.TrimSuffix(name, ext), ext
}

// CutBytes returns the start of s, at most limit bytes and never half a character.
func CutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
