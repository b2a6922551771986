package letter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

var (
	errTooLarge = errors.New("too large")
	errDamaged  = errors.New("damaged")
)

// bounded reads up to a limit and remembers how it failed: a library of the disk
// may hide that.
type bounded struct {
	r         io.Reader
	limit     int64 // of this file; 0 is none
	all       int64 // what is left for the whole mail
	unlimited bool
	n         int64
	err       error
	problem   string
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.limit > 0 && b.n > b.limit:
		b.err, b.problem = errTooLarge, "larger than "+megabytes(b.limit)
	case !b.unlimited && b.n > b.all:
		b.err, b.problem = errTooLarge, "the files of this mail are too large together"
	case err != nil && !errors.Is(err, io.EOF):
		b.err = err
	}
	if b.err != nil {
		return 0, b.err
	}
	return n, err
}

func megabytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// checked fails at the end of content that was damaged, so that no such file is kept.
type checked struct {
	r       io.Reader
	content *bounded
	decoded decoder
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if errors.Is(err, io.EOF) && c.content.err != nil {
		return n, c.content.err
	}
	if errors.Is(err, io.EOF) && c.decoded.damaged() {
		return n, errDamaged
	}
	return n, err
}

func drain(r io.Reader) int64 {
	n, _ := io.Copy(io.Discard, r)
	return n
}

func newPartReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }
