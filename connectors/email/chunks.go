package email

import (
	"context"
	"io"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// whole reads a mail in chunks.
func (s *session) whole(ctx context.Context, uid imap.UID) io.Reader {
	return &chunks{ctx: ctx, s: s, uid: uid}
}

type chunks struct {
	ctx    context.Context
	s      *session
	uid    imap.UID
	offset int64
	rest   []byte
	last   bool
	err    error
}

func (c *chunks) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		switch {
		case c.err != nil:
			return 0, c.err
		case c.last:
			return 0, io.EOF
		}
		section := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Offset: c.offset, Size: chunk}}
		var message *imapclient.FetchMessageBuffer
		message, c.err = c.s.fetch(c.ctx, c.uid, &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{section}})
		if c.err != nil {
			continue
		}
		c.rest = bodyOf(message)
		c.offset += int64(len(c.rest))
		c.last = len(c.rest) < chunk
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
