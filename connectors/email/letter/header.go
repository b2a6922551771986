package letter

import (
	"bufio"
	"errors"
	"io"
	"net/mail"
	"strings"
)

// maxHeader bounds a mail's header, and maxFields its fields; what is beyond is left out.
const (
	maxHeader = 1 << 20
	maxFields = 5000
)

// Field is one header field: unfolded, not decoded.
type Field struct{ Name, Value string }

// Header is the fields of a mail or a part, from the top.
type Header []Field

// First returns the value of the topmost field of that name, or nothing.
func (h Header) First(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Has tells whether there is such a field, be it empty.
func (h Header) Has(name string) bool {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}

// All returns the values of the fields of that name, from the top.
func (h Header) All(name string) []string {
	var values []string
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// Open reads a mail's header and returns the body behind it. Lines that are no
// field are left out; they never become part of the body: a signature (RFC 6376)
// does not cover what somebody has put between the fields.
func Open(r io.Reader) (Header, *bufio.Reader, error) {
	br := bufio.NewReaderSize(r, partBuffer)
	h, _, err := readHeader(br, true)
	return h, br, err
}

// readHeader reads fields up to the empty line. A line that is no field is left
// out of a mail's header. In a part's, the body begins with it: it is returned.
func readHeader(br *bufio.Reader, top bool) (Header, string, error) {
	var h Header
	var folded strings.Builder // of the last field
	kept := false              // the last line was one, or went on with it
	defer func() { unfold(h, &folded) }()
	room := maxHeader
	for {
		line, err := readLine(br, room)
		if room -= len(line); room < 0 {
			room = 0
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return h, "", err
		}
		text := strings.TrimRight(line, "\r\n")
		switch name, value, field := strings.Cut(text, ":"); {
		case text == "":
			return h, "", nil // the empty line, or the end
		case (text[0] == ' ' || text[0] == '\t') && (top || len(h) > 0):
			if kept { // else it goes on with what was left out
				folded.WriteString(" " + strings.Trim(text, " \t"))
			}
		case field && isFieldName(strings.TrimRight(name, " \t")):
			unfold(h, &folded)
			if kept = len(h) < maxFields; kept {
				h = append(h, Field{strings.TrimRight(name, " \t"), strings.Trim(value, " \t")})
			}
		case !top:
			return h, line, nil
		default:
			kept = false
		}
		if err != nil {
			return h, "", nil
		}
	}
}

// unfold puts the further lines of the last field behind its first.
func unfold(h Header, folded *strings.Builder) {
	if len(h) > 0 && folded.Len() > 0 {
		h[len(h)-1].Value += folded.String()
	}
	folded.Reset()
}

func isFieldName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// readLine reads a line with its break; beyond limit bytes it is read and left out.
func readLine(br *bufio.Reader, limit int) (string, error) {
	var line strings.Builder
	for {
		piece, err := br.ReadSlice('\n')
		if keep := min(len(piece), max(limit-line.Len(), 0)); keep > 0 {
			line.Write(piece[:keep])
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return line.String(), err
	}
}

// Mailboxes returns the addresses (addr-spec only, lower case) in all fields of
// that name. A display name is never an address. ok is false where they cannot be
// read for certain.
func (h Header) Mailboxes(name string) (addresses []string, ok bool) {
	parser := mail.AddressParser{WordDecoder: wordDecoder()}
	for _, value := range h.All(name) {
		list, err := parser.ParseList(toUTF8(value))
		if err != nil {
			only, found := onlyAngle(value)
			if !found {
				return nil, false
			}
			addresses = append(addresses, Lower(only))
			continue
		}
		for _, a := range list {
			addresses = append(addresses, Lower(a.Address))
		}
	}
	return addresses, true
}

// Lower makes ASCII letters lower case and leaves the others alone: strings.ToLower makes a k
// of the Kelvin sign, and with it one mailbox of two.
func Lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// onlyAngle reads `Ada [work] <ada@example.test>`, which net/mail refuses: one
// pair of angle brackets at the end, one @, nothing quoted.
func onlyAngle(value string) (string, bool) {
	value = strings.TrimSpace(value)
	start := strings.IndexByte(value, '<')
	if start < 0 || !strings.HasSuffix(value, ">") || strings.ContainsAny(value, "\"(),;:\\") ||
		strings.Count(value, "<") != 1 || strings.Count(value, ">") != 1 || strings.Count(value, "@") != 1 {
		return "", false
	}
	parsed, err := mail.ParseAddress(value[start:])
	if err != nil {
		return "", false
	}
	return parsed.Address, true
}

// Text is a field's value as it is read: encoded words decoded, valid UTF-8.
func (h Header) Text(name string) string { return DecodeWords(h.First(name)) }
