package letter

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// decodeCharset turns bytes into UTF-8. ok is false where that is a guess: the
// character set is not known, and the bytes are not plain ASCII.
func decodeCharset(label string, b []byte) (text string, ok bool) {
	label = strings.ToLower(strings.Trim(label, " \t\"'"))
	if cut := strings.IndexAny(label, " \t(;"); cut >= 0 {
		label = label[:cut]
	}
	switch label {
	case "", "us-ascii", "ascii", "unknown-8bit", "8bit":
		return undeclared(b), true
	case "utf-8", "utf8":
		return strings.ToValidUTF8(string(b), "\uFFFD"), true
	case "utf-16":
		return decodeWith(utf16Guess(b), b), len(b)%2 == 0
	}
	if known := encodingOf(label); known != nil {
		return decodeWith(known, b), true
	}
	return undeclared(b), isASCII(b)
}

func encodingOf(label string) encoding.Encoding {
	switch label {
	case "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "utf-32", "utf-32be":
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case "hz-gb-2312", "hz":
		return simplifiedchinese.HZGB2312 // WHATWG replaces it whole, for the web's reasons
	}
	if known, err := htmlindex.Get(label); err == nil && known != encoding.Replacement {
		return known
	}
	if known, err := ianaindex.MIME.Encoding(label); err == nil && known != nil {
		return known
	}
	if known, err := ianaindex.IANA.Encoding(label); err == nil && known != nil {
		return known
	}
	return nil
}

// utf16Guess: the byte order mark decides, without one the side on which most zeros are.
func utf16Guess(b []byte) encoding.Encoding {
	zeros := [2]int{}
	for i, c := range b {
		if c == 0 {
			zeros[i%2]++
		}
	}
	if zeros[1] > zeros[0] {
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
}

// undeclared reads bytes whose character set nobody names: UTF-8 if they can be
// that, else what most such mail is in.
func undeclared(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return decodeWith(charmap.Windows1252, b)
}

func decodeWith(known encoding.Encoding, b []byte) string {
	text, err := known.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// toUTF8 is for text that has no character set of its own, such as a raw header field.
func toUTF8(s string) string { return undeclared([]byte(s)) }

func isASCII(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= utf8.RuneSelf || r == utf8.RuneError }) < 0
}
