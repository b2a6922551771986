package telegram

import (
	"context"
	"slices"
	"sync"
	"time"
)

// albums joins the updates of an album, which come one by one and say only that
// they belong together, not how many there are (media_group_id). Nothing is
// remembered beyond the webhook calls: each of them is held until the whole has
// been delivered, so that none is acknowledged too early. A part that comes too
// late becomes a message of its own.
//
// Telegram's own server sends the updates of one chat to a webhook strictly one
// after the other, each when the one before was answered (WebhookActor.cpp of
// tdlib/telegram-bot-api: one queue per chat). There an album stays several
// messages; with long polling, and with servers that send side by side, it is one.
type albums struct {
	wait time.Duration

	mu   sync.Mutex
	open map[int64]*album // by chat, until it is delivered
	// taken are updates that were delivered as part of an album: sent again alone
	// they must not become a second message. Best effort over restarts.
	taken map[int64]bool
}

// album is one that is being collected (guarded by albums.mu).
type album struct {
	id     string
	parts  []arrived
	sealed bool          // takes no more parts
	grew   chan struct{} // holds one
	hurry  chan struct{} // closed when something else waits behind it
	rushed bool
	done   chan struct{}
	err    error // valid after done
}

func newAlbums(wait time.Duration) *albums {
	return &albums{wait: wait, open: map[int64]*album{}, taken: map[int64]bool{}}
}

// role of a caller of join.
type role int

const (
	repeated role = iota // the update was delivered before
	leading              // opened the album, delivers it
	joined               // is in the album that another caller delivers
	behind               // has to wait for another album of this chat
)

// join adds e to its album and returns what became of the whole. The first caller
// waits for the others and delivers.
func (a *albums) join(ctx context.Context, e arrived, deliver func([]arrived) error) error {
	for {
		got, role := a.enter(e)
		switch role {
		case repeated:
			return nil
		case leading:
			a.collect(got)
			a.finish(e.message.chat, got, deliver(a.seal(got)))
			return got.err
		case joined:
			select {
			case <-got.done:
				return got.err
			case <-ctx.Done():
				return ctx.Err()
			}
		case behind:
			if err := a.pass(ctx, e.message.chat); err != nil {
				return err
			}
		}
	}
}

// pass lets the chat's open album, if any, be delivered first: what was written
// later shall not overtake it.
func (a *albums) pass(ctx context.Context, chat int64) error {
	a.mu.Lock()
	got := a.open[chat]
	if got != nil && !got.rushed {
		got.rushed = true
		close(got.hurry)
	}
	a.mu.Unlock()
	if got == nil {
		return nil
	}
	select {
	case <-got.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *albums) enter(e arrived) (*album, role) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken[e.update] {
		return nil, repeated
	}
	got := a.open[e.message.chat]
	if got == nil {
		got = &album{
			id: e.message.album, parts: []arrived{e},
			grew: make(chan struct{}, 1), hurry: make(chan struct{}), done: make(chan struct{}),
		}
		a.open[e.message.chat] = got
		return got, leading
	}
	switch inside := slices.ContainsFunc(got.parts, func(p arrived) bool { return p.update == e.update }); {
	case inside:
		return got, joined
	case got.id != e.message.album || got.sealed:
		return got, behind
	}
	got.parts = append(got.parts, e)
	select {
	case got.grew <- struct{}{}:
	default:
	}
	return got, joined
}

// collect returns when no part has come for a while, or something else waits.
func (a *albums) collect(got *album) {
	quiet := time.NewTimer(a.wait)
	defer quiet.Stop()
	limit := time.NewTimer(4 * a.wait)
	defer limit.Stop()
	for {
		select {
		case <-got.grew:
			quiet.Reset(a.wait)
			continue
		case <-quiet.C:
		case <-limit.C:
		case <-got.hurry:
		}
		return
	}
}

func (a *albums) seal(got *album) []arrived {
	a.mu.Lock()
	defer a.mu.Unlock()
	got.sealed = true
	return got.parts
}

func (a *albums) finish(chat int64, got *album, err error) {
	if err == nil {
		a.took(got.parts)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	got.err = err
	delete(a.open, chat)
	close(got.done)
}

// took remembers that these were delivered together.
func (a *albums) took(parts []arrived) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.taken) >= 10_000 {
		clear(a.taken)
	}
	for _, p := range parts {
		a.taken[p.update] = true
	}
}

func (a *albums) wasTaken(update int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.taken[update]
}
