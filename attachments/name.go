package attachments

import (
	"io"
	"mime"
	"strings"
	"unicode"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"

	"github.com/countersignhq/countersign/disks"
)

const (
	// maxName is the longest stored name in bytes (CONTRACT §6).
	maxName = 200
	// maxGiven is how much of a sender's name is looked at, from its end, in bytes.
	maxGiven = 4096
	// nameless is the name of a file that has none.
	nameless = "attachment"
)

// SafeName makes a sender's file name one that can be stored (CONTRACT §6): the
// last path element after decoding, for both slashes, without controls and
// direction marks, in Unicode form NFC, at most 200 bytes with the extension
// kept; "attachment" if nothing is left. The result is a clean path on any disk.
func SafeName(name string) string {
	if len(name) > maxGiven {
		name = name[len(name)-maxGiven:]
	}
	name = decodeWords(strings.ToValidUTF8(name, "_"))
	name = norm.NFC.String(reveal(name))
	if slash := strings.LastIndexAny(name, `/\`); slash >= 0 {
		name = name[slash+1:]
	}
	name = fit(trim(name))
	if clean, err := disks.Clean(name); err != nil || clean != name {
		return nameless
	}
	return name
}

// Numbered returns the n-th other name for a stored one that is taken: "photo-1.jpg".
func Numbered(name string, n int) string { return disks.Numbered(name, n, maxName) }

// decodeWords decodes RFC 2047 encoded words, which many mail programs write
// into file names although they do not belong there.
func decodeWords(name string) string {
	if !strings.Contains(name, "=?") {
		return name
	}
	decoder := mime.WordDecoder{CharsetReader: func(charset string, input io.Reader) (io.Reader, error) {
		encoding, err := htmlindex.Get(charset)
		if err != nil {
			return nil, err
		}
		return encoding.NewDecoder().Reader(input), nil
	}}
	decoded, err := decoder.DecodeHeader(name)
	if err != nil {
		return name
	}
	return strings.ToValidUTF8(decoded, "_")
}

// reveal removes what cannot be seen and decodes percent-encoding that hides
// dots or slashes, until neither brings anything new to light.
func reveal(name string) string {
	for {
		next := strings.Map(func(r rune) rune {
			if disks.Invisible(r) {
				return -1
			}
			return r
		}, name)
		if decoded, hides := disks.Unescape(next); hides {
			next = strings.ToValidUTF8(decoded, "_")
		}
		if next == name {
			return name
		}
		name = next
	}
}

// trim removes blanks at both ends and dots at the end.
func trim(name string) string {
	name = strings.TrimLeftFunc(name, unicode.IsSpace)
	return strings.TrimRightFunc(name, func(r rune) bool { return r == '.' || unicode.IsSpace(r) })
}

// fit cuts a name to maxName bytes, before its extension.
func fit(name string) string {
	if len(name) <= maxName {
		return name
	}
	stem, ext := disks.SplitExt(name)
	return trim(disks.CutBytes(stem, maxName-len(ext)) + ext)
}
