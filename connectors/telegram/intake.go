package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
)

// errLimited means that the chat sends more than it may.
var errLimited = errors.New("rate limit of the chat reached")

// arrived is an event and when it came.
type arrived struct {
	event
	at time.Time
}

// take hands an event to the Desk. nil means: taken, or nobody needs to hear of it.
// parts are one event, or all of an album.
func (c *Connector) take(ctx context.Context, parts []arrived) error {
	switch e := parts[0]; {
	case e.press != nil:
		return c.takePress(ctx, e)
	case e.message != nil:
		return c.takeMessages(ctx, parts)
	default:
		c.log.Debug("telegram update left aside", "update", e.update, "reason", e.ignored)
		return nil
	}
}

// takeMessages delivers the messages of one album, or a single one, as one message.
func (c *Connector) takeMessages(ctx context.Context, parts []arrived) error {
	lead := leader(parts)
	m := lead.message
	from, welcome := c.person(m.from, m.place)
	if !welcome {
		c.log.Debug("telegram message of a stranger dropped", "update", lead.update)
		return nil
	}
	out := chat.Message{
		UUID: c.newUUID(), EventID: c.eventID(lead.update), Thread: m.thread(), From: from,
		Text: m.text, Ref: ref(m.chat, m.id), ReceivedAt: lead.at, Forwarded: m.forwarded,
	}
	c.addressed(ctx, m, &out)
	var files []remote
	for _, part := range parts {
		files = append(files, part.message.files...)
	}
	var err error
	if out.Files, err = c.fetch(ctx, out.UUID, files, c.patience.over(lead.update, c.now())); err != nil {
		c.patience.failed(lead.update, c.now())
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.deliver)
	defer cancel()
	if err := c.desk.Deliver(ctx, out); err != nil {
		return fmt.Errorf("delivering telegram update %d: %w", lead.update, err)
	}
	c.patience.done(lead.update)
	return nil
}

// admits applies the rate limit of CONTRACT §8: once per message, not per retry or picture.
func (c *Connector) admits(e arrived) bool {
	return e.message == nil || c.allow(strconv.FormatInt(e.message.chat, 10))
}

// leader is the part of an album whose words and id the whole takes: the one with
// the caption, else the first. If Telegram sends that part again, alone, the
// message has the same EventID.
func leader(parts []arrived) arrived {
	lead := parts[0]
	for _, p := range parts[1:] {
		worded, leads := p.message.text != "", lead.message.text != ""
		if (worded && !leads) || (worded == leads && p.update < lead.update) {
			lead = p
		}
	}
	return lead
}

// addressed finds what in a message is meant for the bot itself: a mention in front
// (dropped in groups), a reply to one of its messages. For both it must know who it is;
// if Telegram does not say so now, the message goes on as it is.
func (c *Connector) addressed(ctx context.Context, m *incoming, out *chat.Message) {
	mention := !m.private && strings.Contains(m.text, "@")
	reply := m.replyTo != nil
	if !mention && !reply {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.answer)
	defer cancel()
	self, err := c.whoAmI(ctx)
	if err != nil {
		c.log.Warn("telegram does not say who the bot is", "error", err)
	}
	if mention && self.Username != "" {
		if text := approval.StripMention(m.text, "@"+self.Username); text != m.text {
			out.Text, out.Raw = text, m.text
		}
	}
	if reply && c.isSelf(m.replyTo.from, self) {
		out.ReplyTo = ref(m.chat, m.replyTo.id)
	}
}

func (c *Connector) isSelf(u, self user) bool {
	return (self.ID != 0 && u.ID == self.ID) || strconv.FormatInt(u.ID, 10) == tokenID(c.api.token)
}

// takePress hands over a button press, then tells the person what became of it.
func (c *Connector) takePress(ctx context.Context, e arrived) error {
	p := e.press
	by, welcome := c.person(p.from, p.place)
	if !welcome {
		c.log.Debug("telegram press of a stranger dropped", "update", e.update)
		return nil
	}
	if p.refused != "" {
		c.log.Info("telegram press refused", "update", e.update, "reason", p.refused)
		c.answer(ctx, p.callback, "This button does not work any more")
		return nil
	}
	within, cancel := context.WithTimeout(ctx, c.timing.deliver)
	defer cancel()
	verdict, err := c.desk.Click(within, chat.Click{
		EventID: c.eventID(e.update), Invocation: p.invocation, Action: p.action,
		Thread: p.thread(), By: by, ReceivedAt: e.at,
	})
	if err != nil {
		return fmt.Errorf("handing over telegram update %d: %w", e.update, err)
	}
	c.answer(ctx, p.callback, toast(verdict))
	return nil
}

// answer ends the button's spinner. Best effort: the press is recorded, and
// Telegram refuses answers to old presses.
func (c *Connector) answer(ctx context.Context, callback, text string) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.answer)
	defer cancel()
	if err := c.api.call(ctx, "answerCallbackQuery", params{"callback_query_id": callback, "text": text}, nil); err != nil {
		c.log.Info("telegram press not answered", "error", err)
	}
}

// person applies the account check of CONTRACT §8: in a private chat (and under a
// channel's post, which anyone can read) only configured people, in groups anyone.
func (c *Connector) person(u user, where place) (chat.Person, bool) {
	id := chat.Telegram + ":" + strconv.FormatInt(u.ID, 10)
	p := c.identify(id)
	p.ID, p.Display, p.Bot = id, u.display(), false
	return p, p.Name != "" || !(where.private || where.channel)
}

// eventID names an update. Update ids are counted per bot, so the bot's id is part
// of it: taken from the token, which does not change over restarts.
func (c *Connector) eventID(update int64) string {
	id := strconv.FormatInt(update, 10)
	if bot := tokenID(c.api.token); bot != "" {
		id = bot + ":" + id
	}
	return chat.Telegram + ":update:" + id
}

// patience remembers since when the files of an update cannot be had: after a while
// its message goes on without them, for an update must not come again for ever.
// It may be forgotten; then it takes longer.
type patience struct {
	limit time.Duration
	mu    sync.Mutex
	since map[int64]time.Time
}

func newPatience(limit time.Duration) *patience {
	return &patience{limit: limit, since: map[int64]time.Time{}}
}

// over tells whether the files of this update have failed for too long.
func (p *patience) over(update int64, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, failed := p.since[update]
	return failed && now.Sub(first) >= p.limit
}

func (p *patience) failed(update int64, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.since) >= 1000 {
		clear(p.since)
	}
	if _, known := p.since[update]; !known {
		p.since[update] = now
	}
}

func (p *patience) done(update int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, update)
}
