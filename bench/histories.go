package main

import (
	"context"
	"fmt"
	"time"

	"github.com/countersignhq/countersign/contract"
)

// recorded is what Temporal keeps of one approved call of a kind: medians over some of them.
type recorded struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	// Counted is over invocation and conversation, and the turn where there is one: what the
	// aim is about. Most is the largest that was seen.
	Counted shape `json:"counted"`
	Most    shape `json:"most"`

	Invocation   shape `json:"invocation"`
	Conversation shape `json:"conversation"`
	Turn         shape `json:"turn"`
	// Inbox is what the one list of pending questions adds; not in Counted.
	Inbox shape `json:"inbox"`
	// The aim; 0 where there is none.
	AimEvents int `json:"aim_events,omitempty"`
	AimTasks  int `json:"aim_workflow_tasks,omitempty"`
}

// piece is one call's part of each history.
type piece struct{ invocation, conversation, turn, inbox shape }

func (p piece) counted() shape { return p.invocation.plus(p.conversation).plus(p.turn) }

// kind of call whose histories are counted.
type kind struct {
	name string
	// fresh: in a conversation that does not exist yet.
	fresh bool
	turn  bool
	aimed bool
	call  func(ctx context.Context, chat int64) (timing, error)
}

// measureHistories makes a few calls of each kind, one at a time.
func measureHistories(ctx context.Context, r *rig, s settings) ([]recorded, error) {
	all := make([]recorded, 0, 8)
	kinds := []kind{
		{name: "HTTP decision, first call of a conversation", fresh: true, aimed: true, call: r.httpCall},
		{name: "HTTP decision, later call", aimed: true, call: r.httpCall},
		{name: "text answer, first call of a conversation", fresh: true, aimed: true, call: r.textCall},
		{name: "text answer, later call", aimed: true, call: r.textCall},
		{name: "Telegram button, later call", call: r.buttonCall},
		{name: "message and text answer, with the turn, later call", turn: true, call: r.messageCall},
	}
	minimal, err := r.minimalShapes(ctx, s.repeats)
	if err != nil {
		return nil, err
	}
	all = append(all, minimal)
	chat := int64(-5000)
	end := time.Now().Add(s.budget)
	for _, k := range kinds {
		var pieces []piece
		chat--
		if !k.fresh {
			if _, err := k.call(ctx, chat); err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
		}
		for n := 0; n < s.repeats && (n == 0 || time.Now().Before(end)); n++ {
			if k.fresh {
				chat--
			}
			p, err := r.record(ctx, k, chat)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			pieces = append(pieces, p)
		}
		all = append(all, condense(k, pieces))
	}
	return all, nil
}

func (r *rig) minimalShapes(ctx context.Context, repeats int) (recorded, error) {
	var pieces []piece
	for range repeats {
		t, err := r.minimalCall(ctx)
		if err != nil {
			return recorded{}, err
		}
		s, err := r.shapeOf(ctx, t.workflow)
		if err != nil {
			return recorded{}, err
		}
		pieces = append(pieces, piece{invocation: s})
	}
	return condense(kind{name: "minimal workflow"}, pieces), nil
}

// record makes one call and counts what it has added to each history.
func (r *rig) record(ctx context.Context, k kind, chat int64) (p piece, err error) {
	var before piece
	if !k.fresh {
		if before.conversation, err = r.shapeOf(ctx, talk(chat)); err != nil {
			return p, err
		}
	}
	if before.inbox, err = r.shapeOf(ctx, contract.InboxID); err != nil {
		return p, err
	}
	t, err := k.call(ctx, chat)
	if err != nil {
		return p, err
	}
	if p.invocation, err = r.shapeOf(ctx, t.workflow); err != nil {
		return p, err
	}
	conversation, err := r.shapeOf(ctx, talk(chat))
	if err != nil {
		return p, err
	}
	inbox, err := r.shapeOf(ctx, contract.InboxID)
	if err != nil {
		return p, err
	}
	p.conversation, p.inbox = conversation.minus(before.conversation), inbox.minus(before.inbox)
	if !k.turn {
		return p, nil
	}
	turn, err := r.turnOf(ctx, t.workflow)
	if err != nil {
		return p, err
	}
	p.turn, err = r.shapeOf(ctx, turn)
	return p, err
}

// The aim of the project for a call that was started on its own.
const (
	aimEvents = 40
	aimTasks  = 7
)

func condense(k kind, pieces []piece) recorded {
	middle := func(of func(piece) shape) shape {
		var events, tasks []int
		for _, p := range pieces {
			events, tasks = append(events, of(p).Events), append(tasks, of(p).Tasks)
		}
		return shape{median(events), median(tasks)}
	}
	rec := recorded{
		Name: k.name, N: len(pieces), Counted: middle(piece.counted),
		Invocation:   middle(func(p piece) shape { return p.invocation }),
		Conversation: middle(func(p piece) shape { return p.conversation }),
		Turn:         middle(func(p piece) shape { return p.turn }),
		Inbox:        middle(func(p piece) shape { return p.inbox }),
	}
	for _, p := range pieces {
		rec.Most = shape{max(rec.Most.Events, p.counted().Events), max(rec.Most.Tasks, p.counted().Tasks)}
	}
	if k.aimed {
		rec.AimEvents, rec.AimTasks = aimEvents, aimTasks
	}
	return rec
}
