package letter

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
	"strings"
)

// decoder undoes a Content-Transfer-Encoding. After its end damaged tells whether
// it was not what it claimed to be.
type decoder interface {
	io.Reader
	damaged() bool
}

// decodeTransfer chooses by the field's value. What is not known stays as it is.
func decodeTransfer(field string, r io.Reader) decoder {
	encoding, _, _ := strings.Cut(field, "(")
	encoding, _, _ = strings.Cut(encoding, ";")
	switch strings.ToLower(strings.Trim(encoding, " \t\"")) {
	case "base64":
		return newBase64(r)
	case "quoted-printable":
		return &quotedPrintable{br: bufio.NewReader(r)}
	default:
		return verbatim{r}
	}
}

type verbatim struct{ io.Reader }

func (verbatim) damaged() bool { return false }

// quotedPrintable decodes RFC 2045 §6.7. What is no escape stays as it stands;
// mime/quotedprintable ends with an error there and loses the rest.
type quotedPrintable struct {
	br  *bufio.Reader
	out []byte // decoded, not read yet
	gap []byte // blanks that do not count if the line ends behind them
	err error
}

func (*quotedPrintable) damaged() bool { return false }

func (q *quotedPrintable) Read(p []byte) (int, error) {
	for len(q.out) == 0 && q.err == nil {
		q.fill()
	}
	if len(q.out) == 0 {
		return 0, q.err
	}
	n := copy(p, q.out)
	q.out = q.out[n:]
	return n, nil
}

func (q *quotedPrintable) fill() {
	q.out = q.out[:0]
	for len(q.out) < 4096 {
		b, err := q.br.ReadByte()
		if err != nil {
			q.out = append(q.out, q.gap...)
			q.gap, q.err = nil, err
			return
		}
		switch b {
		case ' ', '\t':
			q.gap = append(q.gap, b)
			if len(q.gap) > 4096 { // no line break is that far
				q.out, q.gap = append(q.out, q.gap...), nil
			}
			continue
		case '\r', '\n':
			q.gap = q.gap[:0]
		}
		q.out = append(q.out, q.gap...)
		q.gap = q.gap[:0]
		if b != '=' {
			q.out = append(q.out, b)
			continue
		}
		q.escape()
	}
}

// escape handles what follows a "=": two digits, a soft line break, or neither.
func (q *quotedPrintable) escape() {
	next, _ := q.br.Peek(2)
	if len(next) == 2 && isHex(next[0]) && isHex(next[1]) {
		q.out = append(q.out, unhex(next[0])<<4|unhex(next[1]))
		_, _ = q.br.Discard(2)
		return
	}
	for n := 1; n <= 128; n++ {
		next, err := q.br.Peek(n)
		if len(next) < n {
			if errors.Is(err, io.EOF) { // a soft break at the very end
				_, _ = q.br.Discard(len(next))
				return
			}
			break
		}
		switch next[n-1] {
		case ' ', '\t', '\r':
			continue
		case '\n':
			_, _ = q.br.Discard(n)
			return
		}
		break
	}
	q.out = append(q.out, '=')
}

// lenientBase64 skips white space and mends a missing padding. Any other
// character that does not belong there is damage: text was put before or into
// the part, and what would be decoded from it is not what was sent.
type lenientBase64 struct {
	io.Reader
	source *base64Source
	broken bool
}

func newBase64(r io.Reader) *lenientBase64 {
	source := &base64Source{br: bufio.NewReader(r)}
	return &lenientBase64{Reader: base64.NewDecoder(base64.StdEncoding, source), source: source}
}

func (l *lenientBase64) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	var corrupt base64.CorruptInputError
	if errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF) && l.source.ended {
		l.broken = true
		_, _ = io.Copy(io.Discard, l.source)
		return n, io.EOF
	}
	return n, err
}

func (l *lenientBase64) damaged() bool { return l.broken || l.source.strange }

type base64Source struct {
	br      *bufio.Reader
	n       int64
	padded  bool
	strange bool
	ended   bool
}

func (s *base64Source) Read(p []byte) (int, error) {
	for {
		if _, err := s.br.Peek(1); errors.Is(err, io.EOF) {
			return s.finish(p)
		} else if err != nil {
			return 0, err
		}
		chunk, _ := s.br.Peek(min(s.br.Buffered(), len(p)))
		n := s.take(p, chunk)
		_, _ = s.br.Discard(len(chunk))
		if n > 0 {
			return n, nil
		}
	}
}

// take copies what belongs into base64.
func (s *base64Source) take(p, chunk []byte) int {
	n := 0
	for _, b := range chunk {
		switch {
		case b == '\r' || b == '\n' || b == ' ' || b == '\t':
			continue
		case b == '=':
			s.padded = true
		case s.padded || !isBase64[b]:
			s.strange = true
			continue
		}
		p[n] = b
		n++
	}
	s.n += int64(n)
	return n
}

// finish adds the padding that is missing.
func (s *base64Source) finish(p []byte) (int, error) {
	s.ended = true
	n := 0
	for ; n < len(p) && !s.strange && s.n%4 > 1; n++ {
		p[n] = '='
		s.n++
	}
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, io.EOF
}

var isBase64 = func() (set [256]bool) {
	for _, b := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		set[b] = true
	}
	return set
}()
