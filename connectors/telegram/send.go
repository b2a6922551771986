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
// A group that has become a supergroup gets no question any more: there it could not
// be answered, for what is written and pressed there belongs to another conversation.
// It is undeliverable, and the reply, which follows, says so.
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
			return chat.Receipt{}, elsewhere(err)
		}
	}
	to["text"] = text
	to["link_preview_options"] = noPreview
	to["reply_markup"] = keyboard(card)
	ref, err := c.sendMessage(ctx, to)
	return chat.Receipt{Ref: ref}, elsewhere(err)
}

// elsewhere says in words that a group is a supergroup now.
func elsewhere(err error) error {
	f := asFailure(err)
	if f == nil || f.supergroup == 0 {
		return err
	}
	return &chat.Error{Op: "telegram question", Err: fmt.Errorf(
		"the group has become the supergroup %d, which is another conversation; ask there: %w", f.supergroup, f)}
}

// Edit rewrites a question; once it is closed its buttons go. A question in a group
// that has become a supergroup since cannot be edited any more (and a message of the
// same number in the supergroup is another one): what happened is said there anew.
func (c *Connector) Edit(ctx context.Context, receipt chat.Receipt, card chat.Card) error {
	chatID, messageID, err := parseRef("editMessageText", receipt.Ref)
	if err != nil {
		return err
	}
	text, _ := prompt(card)
	err = c.api.call(ctx, "editMessageText", params{
		"chat_id": chatID, "message_id": messageID, "text": text,
		"link_preview_options": noPreview, "reply_markup": keyboard(card),
	}, nil)
	switch f := asFailure(err); {
	case unchanged(err):
		return nil
	case f != nil && f.supergroup != 0 && card.Closed != "":
		_, err = c.sendMessage(ctx, params{
			"chat_id": strconv.FormatInt(f.supergroup, 10), "text": text, "link_preview_options": noPreview,
		})
	case f != nil && f.supergroup != 0:
		return nil // it is still open, and cannot say more than it does
	}
	return err
}

// sendMessage returns the reference of the message sent.
func (c *Connector) sendMessage(ctx context.Context, p params) (string, error) {
	var sent struct { // no more of the message than is needed
		ID   int64    `json:"message_id"`
		Chat chatInfo `json:"chat"`
	}
	err := c.api.call(ctx, "sendMessage", p, &sent)
	if err != nil {
		return "", err
	}
	if sent.ID == 0 {
		return "", &chat.Error{Op: "telegram sendMessage", Temporary: true, Err: errors.New("the answer names no message")}
	}
	if sent.Chat.ID != 0 { // the chat that Telegram names, if it does
		return ref(sent.Chat.ID, sent.ID), nil
	}
	return p["chat_id"] + "/" + strconv.FormatInt(sent.ID, 10), nil
}

// following does a call, and once more in the supergroup that the group has become.
func (c *Connector) following(p params, do func(params) error) error {
	err := do(p)
	if f := asFailure(err); f != nil && f.supergroup != 0 {
		c.log.Info("the group has become a supergroup; the reply follows", "group", p["chat_id"], "supergroup", f.supergroup)
		p["chat_id"] = strconv.FormatInt(f.supergroup, 10)
		delete(p, "reply_parameters") // the number of a message in the old group
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
