package email

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersignhq/countersign/connectors/email/letter"
)

// spool is a mail on this machine's disk while it is read: a server is not kept
// waiting for DNS and for the attachments disk, and no mail is held in memory. The
// file has no name, so that nothing is left of it even after a kill.
type spool struct {
	file  *os.File
	w     *bufio.Writer
	limit int64
	n     int64
	cut   bool
	err   error // of the disk
}

func newSpool(dir string, limit int64) (*spool, error) {
	file, err := os.CreateTemp(dir, "countersign-mail-*")
	if err != nil {
		return nil, fmt.Errorf("spooling a mail: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("spooling a mail: %w", err)
	}
	return &spool{file: file, w: bufio.NewWriterSize(file, 64<<10), limit: limit}, nil
}

// Write never fails for what is over the limit: the rest is read, for its
// signature, and left out.
func (s *spool) Write(p []byte) (int, error) {
	keep := p
	if room := s.limit - s.n; int64(len(p)) > room {
		keep, s.cut = p[:max(room, 0)], true
	}
	n, err := s.w.Write(keep)
	s.n += int64(n)
	if err != nil {
		s.err = fmt.Errorf("spooling a mail: %w", err)
		return n, s.err
	}
	return len(p), nil
}

// open reads it from the start; letter.ErrCut is at the end of one that was too large.
func (s *spool) open() (io.Reader, error) {
	if err := s.w.Flush(); err != nil {
		return nil, fmt.Errorf("spooling a mail: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading a spooled mail: %w", err)
	}
	return spooled{s}, nil
}

func (s *spool) close() { _ = s.file.Close() }

type spooled struct{ s *spool }

func (r spooled) Read(p []byte) (int, error) {
	n, err := r.s.file.Read(p)
	if errors.Is(err, io.EOF) && r.s.cut {
		return n, letter.ErrCut
	}
	return n, err
}
