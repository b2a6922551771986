package letter

import (
	"strconv"
	"strings"
)

// parameters of Content-Type or Content-Disposition. mime.ParseMediaType loses
// the whole field over one odd parameter, and some names without an error.
type parameters struct {
	value string // the part before the first semicolon, lower case
	plain map[string]string
	// extended are RFC 2231 values by name: segments by number, or one without (-1).
	extended map[string]map[int]segment
}

type segment struct {
	text    string
	encoded bool
}

func parseParameters(field string) *parameters {
	p := &parameters{plain: map[string]string{}, extended: map[string]map[int]segment{}}
	for i, piece := range splitOutsideQuotes(field, ';') {
		if i == 0 {
			value := piece
			if cut := strings.IndexAny(value, " \t("); cut > 0 {
				value = value[:cut]
			}
			p.value = strings.ToLower(strings.Trim(value, " \t\""))
			if strings.Contains(p.value, "=") { // no value at all: `filename=x`
				p.value = ""
				p.add(piece)
			}
			continue
		}
		p.add(piece)
	}
	return p
}

// add keeps the first of several parameters with one name.
func (p *parameters) add(piece string) {
	name, value, found := strings.Cut(piece, "=")
	name = strings.ToLower(strings.Trim(name, " \t"))
	if !found || name == "" {
		return
	}
	value = unquote(strings.Trim(value, " \t"))
	base, number, starred := strings.Cut(name, "*")
	if !starred {
		if _, taken := p.plain[name]; !taken {
			p.plain[name] = value
		}
		return
	}
	encoded := number == "" || strings.HasSuffix(number, "*")
	n := -1
	if digits := strings.TrimSuffix(number, "*"); digits != "" {
		var err error
		if n, err = strconv.Atoi(digits); err != nil || n < 0 {
			return
		}
	}
	if p.extended[base] == nil {
		p.extended[base] = map[int]segment{}
	}
	if _, taken := p.extended[base][n]; !taken {
		p.extended[base][n] = segment{value, encoded}
	}
}

// raw is a parameter as it stands, for tokens: boundary, charset, format.
func (p *parameters) raw(name string) string {
	if v, ok := p.plain[name]; ok {
		return v
	}
	return p.text(name)
}

// text is a parameter for people: the RFC 2231 form wins over the plain one, and
// there encoded words are decoded although they do not belong (RFC 2047 §5).
func (p *parameters) text(name string) string {
	segments := p.extended[name]
	if whole, ok := segments[-1]; ok {
		charset, encoded := charsetOf(whole.text)
		if text, _ := decodeCharset(charset, unpercent(encoded)); text != "" {
			return text
		}
	}
	if _, ok := segments[0]; ok {
		charset := ""
		var joined []byte
		for n := 0; ; n++ {
			s, ok := segments[n]
			if !ok {
				break
			}
			if n == 0 && s.encoded {
				charset, s.text = charsetOf(s.text)
			}
			if s.encoded {
				joined = append(joined, unpercent(s.text)...)
			} else {
				joined = append(joined, s.text...)
			}
		}
		if text, _ := decodeCharset(charset, joined); text != "" {
			return DecodeWords(text)
		}
	}
	return DecodeWords(p.plain[name])
}

// charsetOf separates charset'language' from an RFC 2231 value.
func charsetOf(value string) (charset, rest string) {
	charset, rest, first := strings.Cut(value, "'")
	_, text, second := strings.Cut(rest, "'")
	if !first || !second {
		return "", value
	}
	return charset, text
}

func unpercent(s string) []byte {
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			out = append(out, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return out
}

// unquote takes off quotes. A backslash escapes only a quote or itself: programs
// write "C:\docs\a.txt".
func unquote(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return out.String()
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

func splitOutsideQuotes(s string, sep byte) []string {
	var pieces []string
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted && i+1 < len(s) && s[i+1] == '"' && strings.IndexByte(s[i+2:], '"') >= 0:
			i++
		case s[i] == sep && !quoted:
			pieces = append(pieces, s[start:i])
			start = i + 1
		}
	}
	return append(pieces, s[start:])
}
