package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/countersignhq/countersign/chat"
)

const (
	// albumWait is the silence after which an album is complete: its parts come one by one.
	albumWait = time.Second
	// maxAlbums are remembered for stragglers.
	maxAlbums = 20
)

// enqueue lets a message wait for its turn; the parts of an album become one message.
func (c *conversation) enqueue(ctx workflow.Context, m chat.Message) {
	if m.Album == "" {
		c.Queue = append(c.Queue, m)
		return
	}
	if slices.Contains(c.Albums, m.UUID) {
		return // its files are stored; the album has had its turn
	}
	c.albumUntil = workflow.Now(ctx).Add(albumWait)
	at := slices.IndexFunc(c.Queue, func(q chat.Message) bool { return q.UUID == m.UUID })
	if at < 0 {
		c.Queue = append(c.Queue, m)
		return
	}
	whole := &c.Queue[at]
	whole.Files = append(whole.Files, m.Files...)
	if whole.Text == "" {
		whole.Text, whole.Raw = m.Text, m.Raw
	}
}

// collecting tells how long the next message is still to be waited for, because it is an album.
func (c *conversation) collecting(ctx workflow.Context) time.Duration {
	if len(c.Queue) == 0 || c.Queue[0].Album == "" {
		return 0
	}
	return max(0, c.albumUntil.Sub(workflow.Now(ctx)))
}

// remember notes that an album has its turn.
func (c *conversation) remember(m chat.Message) {
	if m.Album == "" {
		return
	}
	c.Albums = append(c.Albums, m.UUID)
	if extra := len(c.Albums) - maxAlbums; extra > 0 {
		c.Albums = slices.Delete(c.Albums, 0, extra)
	}
}
