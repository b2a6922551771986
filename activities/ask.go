package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/words"
)

// editPatience bounds the one try that a closing makes to edit the card; a slower platform is
// asked again by an activity of its own.
const editPatience = 5 * time.Second

// Open registers a question with its conversation, where it queues behind the pending one.
func (a *Activities) Open(ctx context.Context, in contract.AskInput) (struct{}, error) {
	return struct{}{}, a.Signals.Note(ctx, in.Card.Thread, in.Attributes, contract.Note{Open: &in.Open})
}

// Ask makes a question known and sends its prompt. The order matters (DESIGN, mechanism 1): the
// conversation knows of it before the keys are set, and these before the prompt is sent.
func (a *Activities) Ask(ctx context.Context, in contract.AskInput) (contract.Asked, error) {
	if _, err := a.sender(in.Card.Thread); err != nil {
		return contract.Asked{}, err
	}
	if _, err := a.Open(ctx, in); err != nil {
		return contract.Asked{}, err
	}
	expected := a.Now().Add(in.Timeout)
	if err := a.Signals.Asked(ctx, contract.Pending{
		Invocation: in.Open.Invocation, Thread: in.Card.Thread, AskedAt: a.Now().UTC(), Expires: expected.UTC(),
	}); err != nil {
		return contract.Asked{}, err
	}
	a.mirrored("set the pending key", in.Card, func(m Mirror) error {
		return m.Open(ctx, in.Card.Thread, in.Open.Invocation, in.Timeout)
	})
	card := in.Card
	card.Expires = expected
	began := a.Now()
	receipt, err := a.post(ctx, card)
	if err != nil {
		return contract.Asked{}, err
	}
	delivered := a.Now()
	a.mirrored("renew the pending key", in.Card, func(m Mirror) error {
		return m.Renew(ctx, in.Card.Thread, in.Open.Invocation, in.Timeout)
	})
	a.Publish("asked", in.Open.Invocation, in.Card.Thread, in.Card.Text)
	return contract.Asked{Began: began.UTC(), Delivered: delivered.UTC(), Receipt: receipt}, nil
}

// Copy puts a question to one more conversation. It is known to its own by then, and no program
// outside waits for it there, so that nothing has to be in order.
func (a *Activities) Copy(ctx context.Context, in contract.CopyInput) (chat.Receipt, error) {
	return a.post(ctx, in.Card)
}

func (a *Activities) post(ctx context.Context, card chat.Card) (chat.Receipt, error) {
	sender, err := a.sender(card.Thread)
	if err != nil {
		return chat.Receipt{}, err
	}
	receipt, err := sender.Post(ctx, labelled(card))
	return receipt, classified(err)
}

func (a *Activities) sender(thread chat.Thread) (chat.Sender, error) {
	sender, ok := a.Senders[thread.Connector]
	if !ok {
		return nil, finalError(fmt.Sprintf("the connector %q is not configured here", thread.Connector))
	}
	return sender, nil
}

// labelled writes on the buttons what they say in the card's language. Those that an earlier
// version has labelled stay as they are.
func labelled(card chat.Card) chat.Card {
	buttons := make([]chat.Button, 0, len(card.Buttons))
	for _, b := range card.Buttons {
		if b.Label == "" {
			b.Label = words.Say(card.Language, chat.Text(labels[b.Action]))
		}
		buttons = append(buttons, b)
	}
	card.Buttons = buttons
	return card
}

var labels = map[chat.Action]string{
	chat.ActionYes: chat.LineButtonYes, chat.ActionNo: chat.LineButtonNo, chat.ActionAlways: chat.LineButtonAlways,
	chat.ActionDone: chat.LineButtonDone, chat.ActionCancel: chat.LineButtonCancel,
}

// ended writes on the card what happened, in its language; an earlier version has written it itself.
func ended(in contract.CloseInput) chat.Card {
	card := in.Card
	if !in.Outcome.Empty() {
		card.Closed = words.Say(card.Language, in.Outcome)
	}
	return card
}

// Close does the bookkeeping of a question that has ended, in the reverse order of asking.
func (a *Activities) Close(ctx context.Context, in contract.CloseInput) (contract.Closed, error) {
	closed := contract.Closed{Edited: true}
	if in.Receipt.Ref != "" {
		patient, cancel := context.WithTimeout(ctx, editPatience)
		err := a.edit(patient, in)
		cancel()
		if err != nil {
			a.Logger.Warn("a card could not be edited yet", "invocation", in.Close.Invocation, "error", err)
			closed = contract.Closed{RetryAfter: retryAfter(err)}
		}
	}
	a.mirrored("delete the keys", in.Card, func(m Mirror) error {
		return m.Close(ctx, in.Card.Thread, in.Close.Invocation)
	})
	if err := a.Signals.Ended(ctx, in.Close.Invocation); err != nil {
		return closed, err
	}
	err := a.Signals.Note(ctx, in.Card.Thread, in.Attributes, contract.Note{Close: &in.Close})
	a.Publish("closed", in.Close.Invocation, in.Card.Thread, ended(in).Closed)
	return closed, err
}

// CloseAlone is Close where no run does it: its worker's death shows within seconds, since the
// conversation waits for it.
func (a *Activities) CloseAlone(ctx context.Context, in contract.CloseInput) (contract.Closed, error) {
	defer beating(ctx, func() any { return nil })()
	return a.Close(ctx, in)
}

// Edit makes the card say what happened, however long the platform puts it off.
func (a *Activities) Edit(ctx context.Context, in contract.CloseInput) (struct{}, error) {
	return struct{}{}, classified(a.edit(ctx, in))
}

func (a *Activities) edit(ctx context.Context, in contract.CloseInput) error {
	sender, ok := a.Senders[in.Card.Thread.Connector]
	if !ok {
		return nil // it could not have been posted either
	}
	card := ended(in)
	if err := sender.Edit(ctx, in.Receipt, card); err != nil {
		return err
	}
	a.Publish("edited", in.Close.Invocation, card.Thread, card.Closed)
	return nil
}

// Tell writes one line to the person.
func (a *Activities) Tell(ctx context.Context, in contract.TellInput) (struct{}, error) {
	sender, ok := a.Senders[in.Thread.Connector]
	if !ok {
		return struct{}{}, nil
	}
	text := in.Text
	if !in.Line.Empty() {
		text = words.Say(in.Language, in.Line)
	}
	reply := chat.Reply{Thread: in.Thread, UUID: in.Key, Text: text, Language: in.Language}
	return struct{}{}, classified(sender.Reply(ctx, reply, remembered(ctx)))
}

// mirrored does something to the Redis keys. They are a mirror: a failure is a warning, and the
// keys are put right when Redis is back.
func (a *Activities) mirrored(what string, card chat.Card, do func(Mirror) error) {
	if a.Mirror == nil {
		return
	}
	if err := do(a.Mirror); err != nil {
		a.Logger.Warn("redis: could not "+what, "thread", card.Thread.String(), "invocation", card.Invocation, "error", err)
	}
}
