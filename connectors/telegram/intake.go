package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// errLimited means that the chat sends more than it may.
var errLimited = errors.New("rate limit of the chat reached")

// arrived is an event and when it came.
type arrived struct {
	event
	at time.Time
}

// take hands an event to the Desk. nil means: taken, or nobody needs to hear of it.
func (c *Connector) take(ctx context.Context, e arrived) error {
	switch {
	case e.press != nil:
		return c.takePress(ctx, e)
	case e.message != nil:
		return c.takeMessage(ctx, e)
	case e.supergroup != 0:
		c.log.Warn("a telegram group has become a supergroup, where its conversation begins anew; "+
			"if the configuration names the group, put the new id there", "group", e.group, "supergroup", e.supergroup)
		return nil
	default:
		c.log.Debug("telegram update left aside", "update", e.update, "reason", e.ignored)
		return nil
	}
}

// takeMessage delivers one message, or one part of an album: Telegram sends the parts
// of an album one by one, to a webhook each when the one before was taken, and never
// says how many there are. The conversation joins them (chat.Message.Album).
func (c *Connector) takeMessage(ctx context.Context, e arrived) error {
	m := e.message
	from, welcome := c.person(m.from, m.place)
	if !welcome {
		c.log.Debug("telegram message of a stranger dropped", "update", e.update)
		return nil
	}
	if past, _ := c.past.find(e.update); past.taken {
		c.log.Debug("telegram update sent again, the desk has it", "update", e.update)
		return nil
	}
	out := chat.Message{
		UUID: c.names.uuid(e.event), EventID: c.names.event(e.update), Thread: m.thread(), From: from,
		Text: m.text, Ref: ref(m.chat, m.id), ReceivedAt: e.at, Album: m.album, Forwarded: m.forwarded,
	}
	c.addressed(ctx, m, &out)
	var err error
	if out.Files, err = c.attach(ctx, e.event); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.deliver)
	defer cancel()
	if err := c.desk.Deliver(ctx, out); err != nil {
		return fmt.Errorf("delivering telegram update %d: %w", e.update, err)
	}
	past, _ := c.past.find(e.update)
	past.taken = true
	c.past.set(e.update, past)
	return nil
}

// admits applies the rate limit of CONTRACT §8: once per message, not per retry or picture.
func (c *Connector) admits(e arrived) bool {
	if e.message == nil {
		return true
	}
	id := c.names.uuid(e.event)
	if _, before := c.admitted.find(id); before {
		return true
	}
	if !c.allow(strconv.FormatInt(e.message.chat, 10)) {
		return false
	}
	c.admitted.set(id, struct{}{})
	return true
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
	return (self.ID != 0 && u.ID == self.ID) || strconv.FormatInt(u.ID, 10) == c.names.bot
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
		c.answer(ctx, p.callback, words.Say(c.languages.Of(by, p.thread(), ""), chat.Text(chat.LinePressOld)))
		return nil
	}
	within, cancel := context.WithTimeout(ctx, c.timing.deliver)
	defer cancel()
	verdict, err := c.desk.Click(within, chat.Click{
		EventID: c.names.event(e.update), Invocation: p.invocation, Action: p.action,
		Thread: p.thread(), By: by, ReceivedAt: e.at,
	})
	if err != nil {
		return fmt.Errorf("handing over telegram update %d: %w", e.update, err)
	}
	c.answer(ctx, p.callback, toast(c.languages.Of(by, p.thread(), ""), verdict))
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
	p.ID, p.Display = id, u.display() // Bot stays: an agent's account never counts
	return p, p.Name != "" || !(where.private || where.channel)
}
