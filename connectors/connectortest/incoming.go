package connectortest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersignhq/countersign/chat"
)

func incoming() []question {
	list := []question{
		{Hearing, "a message is delivered", hears},
		{Hearing, "a redelivery has the same event id", hearsAgain},
		{Hearing, "two messages are two events", hearsTwo},
		{Hearing, "what the desk could not take is not acknowledged", hearsUnreachable},
		{Pressing, "a press names question, chat and person", presses},
		{Pressing, "what the desk could not take is not acknowledged", pressesUnreachable},
	}
	unheard := func(part Part, name string, kind EventKind, acknowledged bool) {
		list = append(list, question{part, name, func(ctx context.Context, c *sitting) error {
			return ignores(ctx, c, kind, acknowledged)
		}})
	}
	unheard(Edits, "an edit is never a message", Edited, true)
	unheard(Bots, "a bot is never heard", SaidByBot, true)
	unheard(Strangers, "a stranger is dropped silently", SaidByStranger, true)
	unheard(Proof, "a wrong secret is refused", Forged, false)
	unheard(Proof, "a missing secret is refused", Unproven, false)
	return list
}

func hears(ctx context.Context, c *sitting) error {
	before := time.Now()
	if !c.Send(ctx, Event{Kind: Said, Number: 1, Text: "yes"}) {
		return errors.New("a good message is not acknowledged")
	}
	got := c.desk.Messages()
	if len(got) != 1 {
		return fmt.Errorf("%d messages delivered, want 1", len(got))
	}
	m := got[0]
	switch {
	case m.Text != "yes":
		return fmt.Errorf("text is %q", m.Text)
	case m.Thread != c.Thread:
		return fmt.Errorf("thread is %v, want %v", m.Thread, c.Thread)
	case m.UUID == "" || m.EventID == "":
		return fmt.Errorf("uuid %q or event id %q is empty", m.UUID, m.EventID)
	case !strings.HasPrefix(m.From.ID, c.subject.Name+":") || m.From.Name == "" || m.From.Bot:
		return fmt.Errorf("from is %+v", m.From)
	case m.ReceivedAt.Before(before.Add(-time.Second)) || m.ReceivedAt.After(time.Now().Add(time.Second)):
		return fmt.Errorf("received at %v, but it came now", m.ReceivedAt)
	}
	return nil
}

func hearsAgain(ctx context.Context, c *sitting) error {
	for range 2 {
		if !c.Send(ctx, Event{Kind: Said, Number: 7, Text: "yes"}) {
			return errors.New("not acknowledged")
		}
	}
	got := c.desk.Messages()
	if len(got) == 0 || got[0].EventID != got[len(got)-1].EventID {
		return fmt.Errorf("the event ids differ: %+v", got)
	}
	return nil
}

func hearsTwo(ctx context.Context, c *sitting) error {
	for n := range 2 {
		c.Send(ctx, Event{Kind: Said, Number: n + 1, Text: "yes"})
	}
	got := c.desk.Messages()
	if len(got) != 2 || got[0].EventID == got[1].EventID || got[0].UUID == got[1].UUID {
		return fmt.Errorf("two messages came as %+v", got)
	}
	return nil
}

func hearsUnreachable(ctx context.Context, c *sitting) error {
	c.desk.Fail(chat.ErrUnreachable)
	if c.Send(ctx, Event{Kind: Said, Number: 3, Text: "yes"}) {
		return errors.New("acknowledged although the desk did not take it")
	}
	if !c.Send(ctx, Event{Kind: Said, Number: 3, Text: "yes"}) {
		return errors.New("the second time it is not acknowledged")
	}
	if got := c.desk.Messages(); len(got) != 1 || got[0].Text != "yes" {
		return fmt.Errorf("delivered: %+v", got)
	}
	return nil
}

func ignores(ctx context.Context, c *sitting, kind EventKind, acknowledged bool) error {
	if got := c.Send(ctx, Event{Kind: kind, Number: 5, Text: "yes"}); got != acknowledged {
		return fmt.Errorf("acknowledged is %v, want %v", got, acknowledged)
	}
	if m, p := c.desk.Messages(), c.desk.Clicks(); len(m)+len(p) != 0 {
		return fmt.Errorf("delivered all the same: %+v %+v", m, p)
	}
	return nil
}

func presses(ctx context.Context, c *sitting) error {
	card, receipt, err := c.posted(ctx)
	if err != nil {
		return err
	}
	for range 2 {
		if !c.Send(ctx, Event{Kind: Pressed, Number: 9, Receipt: receipt, Button: "Yes"}) {
			return errors.New("a good press is not acknowledged")
		}
	}
	got := c.desk.Clicks()
	if len(got) == 0 {
		return errors.New("no click arrived")
	}
	p := got[0]
	switch {
	case p.Invocation != card.Invocation || p.Action != chat.ActionYes || p.Thread != card.Thread:
		return fmt.Errorf("the click is %+v", p)
	case p.EventID == "" || p.EventID != got[len(got)-1].EventID:
		return errors.New("the press sent again has another event id")
	case p.By.Name == "" || p.By.Bot || p.ReceivedAt.IsZero():
		return fmt.Errorf("pressed by %+v at %v", p.By, p.ReceivedAt)
	}
	return nil
}

func pressesUnreachable(ctx context.Context, c *sitting) error {
	_, receipt, err := c.posted(ctx)
	if err != nil {
		return err
	}
	c.desk.Fail(chat.ErrUnreachable)
	press := Event{Kind: Pressed, Number: 9, Receipt: receipt, Button: "No"}
	if c.Send(ctx, press) {
		return errors.New("acknowledged although the desk did not take it")
	}
	if !c.Send(ctx, press) || len(c.desk.Clicks()) != 1 {
		return errors.New("the second time it is not taken")
	}
	return nil
}

func (c *sitting) posted(ctx context.Context) (chat.Card, chat.Receipt, error) {
	card := c.card()
	receipt, err := c.Sender.Post(ctx, card)
	return card, receipt, err
}
