package slack

import (
	"context"
	"errors"
	"fmt"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
)

// errLimited means that the person sends more than they may.
var errLimited = errors.New("rate limit of the person in this channel reached")

// take hands a message to the Desk. nil means: taken, or nobody needs to hear of it.
// ctx is for the work, asking for whoever waits for the outcome.
func (c *Connector) take(ctx, asking context.Context, m *incoming, at time.Time) error {
	out, reason, err := c.admit(ctx, m)
	switch {
	case err != nil:
		return err
	case reason != "":
		c.log.Debug("slack message left aside", "ts", m.ts, "reason", reason)
		return nil
	case c.taken.has(out.EventID):
		return nil
	}
	out.ReceivedAt = at
	// A message comes again if its files take longer than Slack waits, and a second
	// time as a mention: the first is worked on, the others wait for it.
	flight := c.flights.DoChan(out.EventID, func() (any, error) {
		c.aside.begin()
		defer c.aside.end()
		return nil, c.deliver(ctx, m, out)
	})
	select {
	case landed := <-flight:
		return landed.Err
	case <-asking.Done():
		return asking.Err()
	}
}

// admit decides whether a message is for us; reason says why not.
func (c *Connector) admit(ctx context.Context, m *incoming) (out chat.Message, reason string, err error) {
	from, welcome := c.person(m.home, m.team, m.user, m.private)
	if !welcome {
		return out, "not from a person who may write here", nil
	}
	selves, err := c.selves(ctx, m)
	if err != nil {
		return out, "", err
	}
	for _, self := range selves {
		if m.user == self {
			return out, "our own", nil
		}
	}
	out = chat.Message{
		EventID: m.eventID(), Thread: m.thread(), From: from, Text: m.text,
		Ref: ref(m.channel, m.ts, ""), ReplyTo: m.answered(selves),
	}
	switch {
	case m.private:
		out.Ref = ref(m.channel, m.ts, m.root)
		c.dms.add(m.user, m.channel)
	case m.mention || mentions(m.text, selves):
		out.Text = unmention(m.text, selves)
	case m.root == "":
		return out, "in a channel, and does not mention the app", nil
	default:
		in, err := c.inThread(ctx, m, out.Thread, selves)
		if err != nil {
			return out, "", fmt.Errorf("looking for the thread of slack message %s: %w", m.ts, err)
		}
		if !in {
			return out, "in a thread that the app is not in", nil
		}
	}
	if out.Text = typed(out.Text); out.Text != m.text {
		out.Raw = m.text
	}
	return out, "", nil
}

// person applies the account check of CONTRACT §8: in direct messages only configured
// people, in channels anyone of the app's own workspace. People of other workspaces, in
// a channel that is shared with them, may neither write nor press.
func (c *Connector) person(home, team, user string, private bool) (chat.Person, bool) {
	id := chat.Slack + ":" + team + "/" + user
	p := c.identify(id)
	p.ID = id
	return p, team == home && (p.Name != "" || !private)
}

// selves are the ids of the app's own user: as configured, as the event says, else as
// Slack says when asked.
func (c *Connector) selves(ctx context.Context, m *incoming) ([]string, error) {
	var selves []string
	for _, self := range []string{c.botUser, m.self} {
		if self != "" {
			selves = append(selves, self)
		}
	}
	if len(selves) > 0 || m.private {
		return selves, nil // in private nothing depends on it: what we write has a bot_id
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.deliver)
	defer cancel()
	self, err := c.ownUser(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking Slack who the app is: %w", err)
	}
	return []string{self}, nil
}

// inThread tells whether the bot is in a thread: it began it, or has a conversation there.
func (c *Connector) inThread(ctx context.Context, m *incoming, thread chat.Thread, selves []string) (bool, error) {
	for _, self := range selves {
		if m.parent == self {
			return true, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.deliver)
	defer cancel()
	return c.known(ctx, thread)
}

// answered is the message of ours that this one replies to. Slack knows no replies
// besides threads, so it is the first message of the thread if that is ours. In direct
// messages, where Slack may not say whose it is, it is taken for ours: better that an
// answer is not counted than that it counts for another question.
func (m *incoming) answered(selves []string) string {
	if m.root == "" {
		return ""
	}
	for _, self := range selves {
		if m.parent == self {
			return ref(m.channel, m.root, "")
		}
	}
	if m.private && m.parent != m.user {
		return ref(m.channel, m.root, "")
	}
	return ""
}

// deliver fetches the files of a message and hands it over.
func (c *Connector) deliver(ctx context.Context, m *incoming, out chat.Message) error {
	if c.taken.has(out.EventID) {
		return nil
	}
	if !c.allow(m.channel + ":" + m.user) {
		return errLimited
	}
	out.UUID = c.newUUID()
	var err error
	if out.Files, err = c.fetch(ctx, out.UUID, m); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, c.timing.deliver)
	defer cancel()
	if err := c.desk.Deliver(within, out); err != nil {
		return fmt.Errorf("delivering slack message %s: %w", m.ts, err)
	}
	c.taken.add(out.EventID)
	c.later(func(ctx context.Context) { c.acknowledge(ctx, m) })
	return nil
}

// acknowledge shows that the message is being looked at.
func (c *Connector) acknowledge(ctx context.Context, m *incoming) {
	err := c.api.call(ctx, "reactions.add", func(ctx context.Context, client *slackgo.Client) error {
		return client.AddReactionContext(ctx, "eyes", slackgo.NewRefToMessage(m.channel, m.ts))
	})
	if f := asFailure(err); err != nil && (f == nil || f.code != "already_reacted") {
		c.log.Info("slack message has no reaction", "error", err)
	}
}
