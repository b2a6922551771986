package letter

import (
	"encoding/base64"
	"io"
	"mime"
	"regexp"
	"strings"
)

var (
	encodedWord = regexp.MustCompile(`=\?([^?\s]+)\?([bBqQ])\?([^?]*)\?=`)
	qByte       = regexp.MustCompile(`=[0-9A-Fa-f]{2}`)
)

// DecodeWords decodes encoded words (RFC 2047) wherever they stand, also inside of
// quotes where they do not belong (§5). The bytes of neighbours in one character
// set are joined first: programs split them in the middle of a character.
func DecodeWords(s string) string {
	var out strings.Builder
	var pending []byte
	charset := ""
	flush := func() {
		text, _ := decodeCharset(charset, pending)
		out.WriteString(text)
		pending, charset = nil, ""
	}
	at := 0
	for _, m := range encodedWord.FindAllStringSubmatchIndex(s, -1) {
		between := s[at:m[0]]
		neighbours := at > 0 && strings.Trim(between, " \t\r\n") == ""
		set, _, _ := strings.Cut(strings.ToLower(s[m[2]:m[3]]), "*") // RFC 2231 §5: a language behind it
		if !neighbours || set != charset {
			flush()
		}
		if !neighbours {
			out.WriteString(toUTF8(between))
		}
		charset = set
		pending = append(pending, decodeWord(s[m[4]:m[5]], s[m[6]:m[7]])...)
		at = m[1]
	}
	flush()
	out.WriteString(toUTF8(s[at:]))
	return out.String()
}

func decodeWord(encoding, text string) []byte {
	if strings.EqualFold(encoding, "b") {
		b, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
		return b // what could be decoded, where the end is damaged
	}
	text = strings.ReplaceAll(text, "_", " ")
	return qByte.ReplaceAllFunc([]byte(text), func(m []byte) []byte {
		return []byte{unhex(m[1])<<4 | unhex(m[2])}
	})
}

// wordDecoder is for net/mail; it knows every character set and never fails.
func wordDecoder() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
		b, err := io.ReadAll(r)
		text, _ := decodeCharset(charset, b)
		return strings.NewReader(text), err
	}}
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

func unhex(b byte) byte {
	switch {
	case b >= 'a':
		return b - 'a' + 10
	case b >= 'A':
		return b - 'A' + 10
	default:
		return b - '0'
	}
}
