package letter

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// partBuffer is how much of a line is looked at for a boundary, in bytes; a
// boundary has at most 70 (RFC 2046 §5.1.1).
const partBuffer = 16 << 10

// parts iterates over a multipart body. The multipart readers of the standard
// library and of go-message end at the first part whose header is not in order,
// and with it all later parts are lost.
type parts struct {
	br        *bufio.Reader
	delimiter []byte
	state     partState
	mid       bool   // inside of a line that is longer than the buffer
	held      []byte // a line break: it belongs to the delimiter if one follows
	buffer    []byte
	chunk     []byte // of buffer: read, not handed out yet
	err       error
}

type partState int

const (
	inBody    partState = iota // of a part, or the preamble
	atPart                     // behind a delimiter
	exhausted                  // behind the last delimiter, or at the end
)

func newParts(body io.Reader, boundary string) *parts {
	return &parts{br: bufio.NewReaderSize(body, partBuffer), delimiter: []byte("--" + boundary)}
}

// next leaves the current part (at first the preamble) and returns the next one, or io.EOF.
func (p *parts) next() (io.Reader, error) {
	if _, err := io.Copy(io.Discard, p); err != nil {
		return nil, err
	}
	if p.state != atPart {
		return nil, io.EOF
	}
	p.state = inBody
	return p, nil
}

// rest reads what stands behind the last delimiter, so that the surrounding
// multipart goes on behind it.
func (p *parts) rest() error {
	_, err := io.Copy(io.Discard, p.br)
	return err
}

func (p *parts) Read(b []byte) (int, error) {
	for len(p.chunk) == 0 {
		if p.state != inBody {
			return 0, io.EOF
		}
		if p.err != nil {
			return 0, p.err
		}
		p.fill()
	}
	n := copy(b, p.chunk)
	p.chunk = p.chunk[n:]
	return n, nil
}

func (p *parts) fill() {
	line, err := p.br.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
		p.err = err
	}
	if !p.mid {
		if last, ok := p.delimits(line); ok {
			p.held, p.state = nil, atPart
			if last {
				p.state = exhausted
			}
			return
		}
	}
	text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if !bytes.HasSuffix(line, []byte("\n")) {
		text = line
	}
	p.buffer = append(append(p.buffer[:0], p.held...), text...)
	p.chunk = p.buffer
	p.held = append(p.held[:0], line[len(text):]...)
	p.mid = errors.Is(err, bufio.ErrBufferFull)
	if errors.Is(err, io.EOF) { // no last delimiter: what is there counts
		p.chunk = append(p.chunk, p.held...)
		p.held, p.state = nil, exhausted
		if len(p.chunk) > 0 {
			p.state, p.err = inBody, io.EOF
		}
	}
}

func (p *parts) delimits(line []byte) (last, ok bool) {
	rest, found := bytes.CutPrefix(line, p.delimiter)
	if !found {
		return false, false
	}
	rest, last = bytes.CutPrefix(rest, []byte("--"))
	return last, len(bytes.Trim(rest, " \t\r\n")) == 0
}
