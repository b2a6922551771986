package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/listen"
)

// maxAttempts is how often an update is handed to a Desk that refuses it (as
// opposed to one that cannot be reached, which is asked for ever).
const maxAttempts = 5

// Poll fetches updates and hands each to the Desk, in order, until ctx ends (its
// error is returned) or Telegram refuses for good (a final *chat.Error, e.g. a
// wrong token). offset is the first update wanted; 0 for whatever Telegram has.
//
// heartbeat is called every few seconds and whenever offset has moved, perhaps
// from another goroutine but never twice at once. The offset moves past an update
// only after the Desk has taken it, so whoever continues with the last one loses
// nothing (DESIGN mechanism 10). Exactly one Poll may run for a bot: Telegram
// answers a second one with 409.
func (c *Connector) Poll(ctx context.Context, offset int64, heartbeat func(offset int64)) error {
	p := &poller{c: c, offset: offset, seen: map[int64]time.Time{}, heartbeat: heartbeat}
	// Telegram may hold a call for a minute, and the heartbeat has to go on.
	defer listen.Beat(ctx, c.timing.heartbeat, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.tell()
	})()
	for {
		var batch []entry
		var asked time.Time
		err := p.persist(ctx, func() (err error) {
			p.clearWebhook(ctx)
			asked = time.Now()
			batch, err = p.fetch(ctx, c.timing.poll)
			return err
		})
		if err != nil {
			return err
		}
		// Some servers do not hold the call; they are not to be asked without a break.
		if early := c.timing.idle - time.Since(asked); len(batch) == 0 && early > 0 {
			if err := listen.Sleep(ctx, early); err != nil {
				return err
			}
		}
		if err := p.work(ctx, batch); err != nil {
			return err
		}
	}
}

type poller struct {
	c       *Connector
	cleared bool                // a webhook is no longer set
	seen    map[int64]time.Time // when an update was first received, until it is taken

	mu        sync.Mutex
	offset    int64
	heartbeat func(int64)
}

// entry is one update of a batch.
type entry struct {
	arrived
	err error // it could not be read
}

// clearWebhook takes away, once, a webhook that is left over from another set-up:
// it would make every getUpdates fail.
func (p *poller) clearWebhook(ctx context.Context) {
	if p.cleared {
		return
	}
	if err := p.c.api.call(ctx, "deleteWebhook", nil, nil); err != nil {
		p.c.log.Warn("telegram webhook not cleared", "error", err)
		return
	}
	p.cleared = true
}

// persist repeats do until it succeeds, fails for good, or ctx ends.
func (p *poller) persist(ctx context.Context, do func() error) error {
	for backoff := p.c.backoff(); ; {
		err := do()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var classified *chat.Error
		if errors.As(err, &classified) && !classified.Temporary {
			return err
		}
		pause := backoff.Wait()
		if classified != nil {
			pause = max(pause, classified.RetryAfter)
		}
		if f := asFailure(err); f != nil && f.code == http.StatusConflict {
			p.c.log.Warn("another program polls this bot, or a webhook is set for it: only one may; end the other",
				"error", err, "wait", pause)
		} else {
			p.c.log.Warn("telegram polling failed, trying again", "error", err, "wait", pause)
		}
		if err := listen.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// fetch asks for updates from the offset on; Telegram forgets those before it.
func (p *poller) fetch(ctx context.Context, hold time.Duration) ([]entry, error) {
	var raw []json.RawMessage
	err := p.c.api.callFor(ctx, hold+15*time.Second, "getUpdates", params{
		"offset":          strconv.FormatInt(p.offset, 10),
		"timeout":         strconv.Itoa(int(hold / time.Second)),
		"allowed_updates": allowedUpdates,
	}, &raw)
	if err != nil {
		return nil, err
	}
	now := p.c.now()
	var batch []entry
	for _, r := range raw {
		var e entry
		if e.event, e.err = decode(r); e.err != nil {
			var id struct {
				ID *int64 `json:"update_id"`
			}
			if json.Unmarshal(r, &id) != nil || id.ID == nil {
				p.c.log.Warn("telegram sent something that is no update", "bytes", len(r))
				continue
			}
			e.update = *id.ID
		}
		if _, known := p.seen[e.update]; !known {
			p.seen[e.update] = now
		}
		e.at = p.seen[e.update]
		batch = append(batch, e)
	}
	if len(batch) == 0 && len(raw) > 0 {
		return nil, fmt.Errorf("getUpdates: none of %d updates has an id", len(raw))
	}
	return batch, nil
}

// work takes a batch in order and moves the offset along.
func (p *poller) work(ctx context.Context, batch []entry) error {
	for i, e := range batch {
		switch {
		case e.err != nil:
			p.c.log.Warn("telegram update not understood and left out", "update", e.update, "error", e.err)
		case !p.c.admits(e.arrived):
			p.c.log.Warn("telegram message dropped: rate limit of the chat", "update", e.update, "chat", e.message.chat)
		default:
			p.ahead(ctx, batch[i:])
			if err := p.deliver(ctx, e.arrived); err != nil {
				return err
			}
		}
		delete(p.seen, e.update)
		p.move(e.update + 1)
	}
	return nil
}

// ahead fetches the files of the whole album that the batch begins with. Its parts are
// then delivered without a pause in which the conversation would take it for complete.
// What fails here is tried again when its turn has come.
func (p *poller) ahead(ctx context.Context, batch []entry) {
	first := batch[0].message
	if first == nil || first.album == "" {
		return
	}
	for _, e := range batch {
		m := e.message
		if e.err != nil || m == nil || m.album != first.album || m.chat != first.chat {
			continue
		}
		if _, welcome := p.c.person(m.from, m.place); !welcome {
			return
		}
		if _, err := p.c.attach(ctx, e.event); err != nil {
			p.c.log.Info("telegram file not had yet", "update", e.update, "error", err)
			return
		}
	}
}

// deliver does not return before the update is taken, or has been refused too often.
func (p *poller) deliver(ctx context.Context, e arrived) error {
	err := listen.Handover{
		Backoff: p.c.backoff(), Refusals: maxAttempts, Lasting: lasting,
		Again: func(err error, wait time.Duration) {
			p.c.log.Warn("telegram update not taken, trying again", "update", e.update, "error", err, "wait", wait)
		},
	}.Give(ctx, func() error { return p.c.take(ctx, e) })
	if errors.Is(err, listen.ErrRefused) {
		p.c.log.Error("telegram update left out", "update", e.update, "error", err)
		return nil
	}
	return err
}

// backoff are the waits after failures.
func (c *Connector) backoff() listen.Backoff {
	return listen.Backoff{First: c.timing.backoff, Most: c.timing.maxWait}
}

// lasting errors are the Desk's own; an unreachable Temporal or a file that
// cannot be had now (patience bounds that) is waited for.
func lasting(err error) bool {
	var fetching *fetchError
	return listen.Refusal(err) && !errors.As(err, &fetching)
}

func (p *poller) move(offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offset = offset
	p.tell()
}

func (p *poller) tell() {
	if p.heartbeat != nil {
		p.heartbeat(p.offset)
	}
}
