package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
)

var errAddress = errors.New("not a slack thread or message; a thread key is a user's id, or channel:thread_ts")

// place is where something is sent.
type place struct {
	channel string
	root    string // ts of the thread's first message; empty for none
	user    string // whose direct messages these are; empty in channels
}

// Post sends a question with its buttons, in blocks of plain text: no value in it can
// become markup, a link or a mention. A question too long for one message is shortened
// and comes with the whole of it as a file, which is sent first: who can answer can
// read it.
//
// Slack knows no idempotency key: if its answer is lost, the retry asks a second time.
// Both copies decide the same invocation.
func (c *Connector) Post(ctx context.Context, card chat.Card) (chat.Receipt, error) {
	at, err := c.address(ctx, "chat.postMessage", card.Thread)
	if err != nil {
		return chat.Receipt{}, err
	}
	content, cut := blocks(card)
	// A question that is put off by Slack is tried again; its file is there already.
	if whole := card.Thread.Key + " " + card.Invocation; cut && !c.wholes.has(whole) {
		text := strings.NewReader(card.Text)
		if err := c.upload(ctx, at, promptFile, text.Size(), text); err != nil {
			return chat.Receipt{}, err
		}
		c.wholes.add(whole)
	}
	ref, err := c.send(ctx, at, slackgo.MsgOptionBlocks(content...),
		slackgo.MsgOptionText(fallback(card), true), slackgo.MsgOptionDisableMarkdown())
	receipt := chat.Receipt{Ref: ref}
	if channel, ts, found := strings.Cut(ref, "/"); found && at.user == "" && at.root == "" {
		receipt.Thread = chat.Thread{Connector: chat.Slack, Key: channel + ":" + ts}
	}
	return receipt, err
}

// Edit rewrites a question; once it is closed its buttons go.
func (c *Connector) Edit(ctx context.Context, receipt chat.Receipt, card chat.Card) error {
	const method = "chat.update"
	channel, ts, _, err := parseRef(method, receipt.Ref)
	if err != nil {
		return err
	}
	content, _ := blocks(card)
	err = c.api.call(ctx, method, func(ctx context.Context, client *slackgo.Client) error {
		_, edited, _, err := client.UpdateMessageContext(ctx, channel, ts,
			slackgo.MsgOptionBlocks(content...), slackgo.MsgOptionText(fallback(card), true), slackgo.MsgOptionParse(false))
		if err == nil && edited == "" {
			err = errNoMessage
		}
		return err
	})
	if unchangeable(err) {
		c.log.Info("slack question can not be edited any more", "error", err)
		return nil
	}
	return err
}

var errNoMessage = errors.New("the answer names no message")

// send returns the reference of the message sent.
func (c *Connector) send(ctx context.Context, at place, options ...slackgo.MsgOption) (string, error) {
	options = append(options, slackgo.MsgOptionParse(false),
		slackgo.MsgOptionDisableLinkUnfurl(), slackgo.MsgOptionDisableMediaUnfurl())
	if at.root != "" {
		options = append(options, slackgo.MsgOptionTS(at.root))
	}
	var sent string
	err := c.api.call(ctx, "chat.postMessage", func(ctx context.Context, client *slackgo.Client) error {
		channel, ts, err := client.PostMessageContext(ctx, at.channel, options...)
		switch {
		case err != nil:
			return err
		case ts == "":
			return errNoMessage
		case channel == "":
			channel = at.channel
		}
		if at.user != "" && isDM(channel) {
			c.dms.add(at.user, channel)
		}
		sent = channel + "/" + ts
		return nil
	})
	return sent, err
}

// address turns a thread key into a place. For direct messages the key is the user, and
// Slack is asked for the channel.
func (c *Connector) address(ctx context.Context, method string, thread chat.Thread) (place, error) {
	channel, root, threaded := strings.Cut(thread.Key, ":")
	if thread.Connector != chat.Slack || !isID(channel) || (threaded && !isTS(root)) {
		return place{}, badAddress(method, thread.String())
	}
	if isUser := channel[0] == 'U' || channel[0] == 'W'; !isUser {
		return place{channel: channel, root: root}, nil
	} else if threaded {
		return place{}, badAddress(method, thread.String())
	}
	user := channel
	if known := c.dms.channel(user); known != "" {
		return place{channel: known, user: user}, nil
	}
	err := c.api.call(ctx, "conversations.open", func(ctx context.Context, client *slackgo.Client) error {
		opened, _, _, err := client.OpenConversationContext(ctx, &slackgo.OpenConversationParameters{Users: []string{user}})
		if err == nil && opened != nil {
			channel = opened.ID
		}
		return err
	})
	switch {
	case err == nil && isDM(channel):
		c.dms.add(user, channel)
	case err == nil:
	case closedDoor(err):
		// Messages find their way by the user's id as well; files do not.
		c.log.Warn("slack does not open direct messages, sending to the user's id", "error", err)
		channel = user
	default:
		return place{}, err
	}
	return place{channel: channel, user: user}, nil
}

// closedDoor tells that the method is not to be had, as opposed to this user.
func closedDoor(err error) bool {
	f := asFailure(err)
	return f != nil && (f.code == "missing_scope" || f.code == "unknown_method" || f.status == http.StatusNotFound)
}

// directory remembers the channels of direct messages. It only spares calls.
type directory struct {
	mu       sync.Mutex
	channels map[string]string // by user
}

func (d *directory) channel(user string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.channels[user]
}

func (d *directory) add(user, channel string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.channels[user] = channel
}

// ref is Message.Ref and Message.ReplyTo: "channel/ts", and with "/root" behind it for
// a message in a thread of direct messages, whose key does not name the thread.
func ref(channel, ts, root string) string {
	if root == "" {
		return channel + "/" + ts
	}
	return channel + "/" + ts + "/" + root
}

func parseRef(method, ref string) (channel, ts, root string, err error) {
	channel, rest, _ := strings.Cut(ref, "/")
	ts, root, threaded := strings.Cut(rest, "/")
	if !isID(channel) || !isTS(ts) || (threaded && !isTS(root)) {
		return "", "", "", badAddress(method, ref)
	}
	return channel, ts, root, nil
}

func badAddress(method, address string) error {
	return &chat.Error{Op: "slack " + method, Err: fmt.Errorf("%w: %.100q", errAddress, address)}
}
