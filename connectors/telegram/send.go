package telegram

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// noPreview keeps Telegram's servers from fetching links that stand in a message.
const noPreview = `{"is_disabled":true}`

var errAddress = errors.New("not a telegram chat or message; a thread key is chat or chat:topic")

// Post sends a question with its buttons. It is sent without parse_mode, so that
// no value in it can become markup (and none can make Telegram refuse it).
// A question too long for one message is shortened and comes with the whole of
// it as a document, which is sent first: who can answer can read it.
//
// Telegram knows no idempotency key: if its answer is lost, the retry asks a
// second time. Both copies decide the same invocation.
func (c *Connector) Post(ctx context.Context, card chat.Card) (chat.Receipt, error) {
	to, err := address("sendMessage", card.Thread)
	if err != nil {
		return chat.Receipt{}, err
	}
	text, cut := prompt(card)
	if cut {
		whole := strings.NewReader(card.Text)
		if err := c.api.upload(ctx, "sendDocument", maps.Clone(to), "document", "prompt.txt", whole, nil); err != nil {
			return chat.Receipt{}, err
		}
	}
	to["text"] = text
	to["link_preview_options"] = noPreview
	to["reply_markup"] = keyboard(card)
	ref, err := c.sendMessage(ctx, to)
	return chat.Receipt{Ref: ref}, err
}

// Edit rewrites a question; once it is closed its buttons go.
func (c *Connector) Edit(ctx context.Context, receipt chat.Receipt, card chat.Card) error {
	chatID, messageID, err := parseRef("editMessageText", receipt.Ref)
	if err != nil {
		return err
	}
	text, _ := prompt(card)
	err = c.migrating(params{
		"chat_id": chatID, "message_id": messageID, "text": text,
		"link_preview_options": noPreview, "reply_markup": keyboard(card),
	}, func(p params) error { return c.api.call(ctx, "editMessageText", p, nil) })
	if unchanged(err) {
		return nil
	}
	return err
}

// sendMessage returns the reference of the message sent.
func (c *Connector) sendMessage(ctx context.Context, p params) (string, error) {
	var sent struct { // no more of the message than is needed
		ID   int64    `json:"message_id"`
		Chat chatInfo `json:"chat"`
	}
	err := c.migrating(p, func(p params) error {
		return c.api.call(ctx, "sendMessage", p, &sent)
	})
	if err != nil {
		return "", err
	}
	if sent.ID == 0 {
		return "", &chat.Error{Op: "telegram sendMessage", Temporary: true, Err: errors.New("the answer names no message")}
	}
	// The chat that Telegram names, not the one asked for: a group may have migrated.
	if sent.Chat.ID != 0 {
		return ref(sent.Chat.ID, sent.ID), nil
	}
	return p["chat_id"] + "/" + strconv.FormatInt(sent.ID, 10), nil
}

// migrating does a call, and once more in the supergroup that the chat has become.
func (c *Connector) migrating(p params, do func(params) error) error {
	err := do(p)
	if f := asFailure(err); f != nil && f.migrate != 0 {
		c.log.Info("the group has become a supergroup", "from", p["chat_id"], "to", f.migrate)
		p["chat_id"] = strconv.FormatInt(f.migrate, 10)
		return do(p)
	}
	return err
}

// address turns a thread key into the parameters that name it.
func address(method string, thread chat.Thread) (params, error) {
	chatID, topic, inTopic := strings.Cut(thread.Key, ":")
	if thread.Connector != chat.Telegram || !isNumber(chatID) || (inTopic && !isNumber(topic)) {
		return nil, badAddress(method, thread.String())
	}
	p := params{"chat_id": chatID}
	if inTopic && topic != "1" { // General takes no id
		p["message_thread_id"] = topic
	}
	return p, nil
}

// ref is Receipt.Ref, Message.Ref and Message.ReplyTo: "chat/message".
func ref(chatID, messageID int64) string {
	return fmt.Sprintf("%d/%d", chatID, messageID)
}

func parseRef(method, ref string) (chatID, messageID string, err error) {
	chatID, messageID, found := strings.Cut(ref, "/")
	if !found || !isNumber(chatID) || !isNumber(messageID) {
		return "", "", badAddress(method, ref)
	}
	return chatID, messageID, nil
}

func badAddress(method, address string) error {
	return &chat.Error{Op: "telegram " + method, Err: fmt.Errorf("%w: %.100q", errAddress, address)}
}

func isNumber(s string) bool {
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}
