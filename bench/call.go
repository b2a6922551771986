package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersignhq/countersign/contract"
)

// timing is when what happened in one approved deletion.
type timing struct {
	// began: the person's message, or the start, is on its way; prompt: the platform has the question.
	began, prompt time.Time
	// answered: the answer is on its way; effect: the file is gone; acknowledged: whoever answered
	// was told that it counts (for the minimal workflow: its result).
	answered, effect, acknowledged time.Time

	workflow string
}

// call is one approved deletion: how it is asked for, and how it is answered.
type call struct {
	posts  <-chan post
	start  func(ctx context.Context, file string) error
	answer func(ctx context.Context, prompt post) error
	// talk is the conversation's workflow id, known once the prompt is there.
	talk func() string
	// replied: a turn was started, which writes an answer at the end.
	replied bool
}

// do makes a call from rest to rest.
func (r *rig) do(ctx context.Context, c call) (timing, error) {
	name, path, err := r.file()
	if err != nil {
		return timing{}, err
	}
	t := timing{began: time.Now()}
	if err := c.start(ctx, name); err != nil {
		return t, fmt.Errorf("ask for a deletion: %w", err)
	}
	prompt, err := take(ctx, c.posts, func(p post) bool { return isPrompt(p) && strings.Contains(p.text, name) })
	if err != nil {
		return t, err
	}
	t.prompt, t.workflow = prompt.at, contract.InvocationID(prompt.invocation)
	if err := r.quiet(ctx, t.workflow, c.talk(), contract.InboxID); err != nil {
		return t, err
	}
	effect := r.watch(ctx, path)
	t.answered = time.Now()
	if err := c.answer(ctx, prompt); err != nil {
		return t, fmt.Errorf("answer: %w", err)
	}
	t.acknowledged = time.Now()
	if t.effect, err = effect(); err != nil {
		return t, err
	}
	if c.replied {
		if _, err := take(ctx, c.posts, isReply); err != nil {
			return t, err
		}
	}
	return t, r.idle(ctx, t.workflow, c.talk(), contract.InboxID)
}

// watch looks for the end of a file from now on.
func (r *rig) watch(ctx context.Context, path string) (effect func() (time.Time, error)) {
	type seen struct {
		at  time.Time
		err error
	}
	done := make(chan seen, 1)
	go func() {
		at, err := gone(ctx, path)
		done <- seen{at, err}
	}()
	return func() (time.Time, error) { s := <-done; return s.at, s.err }
}

// messageCall: a person writes to the bot, and answers the question by text. This is the main job.
func (r *rig) messageCall(ctx context.Context, chat int64) (timing, error) {
	posts := r.bot.listen(chat)
	defer r.bot.deaf(chat)
	return r.do(ctx, call{
		posts: posts, replied: true, talk: func() string { return talk(chat) },
		start: func(ctx context.Context, file string) error {
			return r.gateway.webhook(ctx, r.bot.says(chat, "/file_manager delete disk=local path="+file))
		},
		answer: r.yes(chat),
	})
}

// yes answers by text.
func (r *rig) yes(chat int64) func(context.Context, post) error {
	return func(ctx context.Context, _ post) error { return r.gateway.webhook(ctx, r.bot.says(chat, "yes")) }
}

// ownCall is one that was started on its own, over HTTP, and asks in a Telegram chat.
func (r *rig) ownCall(ctx context.Context, chat int64, answer func(context.Context, post) error) (timing, error) {
	posts := r.bot.listen(chat)
	defer r.bot.deaf(chat)
	return r.do(ctx, call{
		posts: posts, talk: func() string { return talk(chat) }, answer: answer,
		start: func(ctx context.Context, file string) error {
			_, err := r.gateway.invoke(ctx, chat, file)
			return err
		},
	})
}

// httpCall is decided over HTTP.
func (r *rig) httpCall(ctx context.Context, chat int64) (timing, error) {
	return r.ownCall(ctx, chat, func(ctx context.Context, p post) error {
		_, err := r.gateway.allow(ctx, p.invocation)
		return err
	})
}

// textCall is answered by text.
func (r *rig) textCall(ctx context.Context, chat int64) (timing, error) {
	return r.ownCall(ctx, chat, r.yes(chat))
}

// buttonCall is answered by the button under the prompt.
func (r *rig) buttonCall(ctx context.Context, chat int64) (timing, error) {
	return r.ownCall(ctx, chat, func(ctx context.Context, p post) error {
		return r.gateway.webhook(ctx, r.bot.presses(chat, p))
	})
}

// minimalCall is one minimal workflow, from rest to rest.
func (r *rig) minimalCall(ctx context.Context) (timing, error) {
	const chat = -1
	posts := r.bot.listen(chat)
	defer r.bot.deaf(chat)
	t := timing{began: time.Now()}
	run, path, prompt, err := r.startErrand(ctx, chat, posts)
	if err != nil {
		return t, err
	}
	t.prompt, t.workflow = prompt.at, run.GetID()
	if err := r.quiet(ctx, t.workflow); err != nil {
		return t, err
	}
	effect := r.watch(ctx, path)
	t.answered = time.Now()
	err = r.answerErrand(ctx, run)
	t.acknowledged = time.Now()
	if err != nil {
		return t, err
	}
	t.effect, err = effect()
	return t, errors.Join(err, r.idle(ctx, t.workflow))
}
