package rediscompat

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/redis/go-redis/v9"

	"github.com/countersignhq/countersign/chat"
)

// takenFor is how long a redelivery of an event that was given away is
// recognised: platforms try again for up to a day.
const takenFor = 25 * time.Hour

// Intercept gives an incoming message to another program that waits for an
// answer in thread: one that has set awaiting_confirm to a value that is neither
// pendingInvocation (the question of ours that the conversation has open; empty
// for none) nor another invocation of ours. text is what came in, as received,
// with or without a file. taken means that the message is to be processed no
// further, now and when the platform sends the event again; the text was pushed
// to confirm exactly once per eventID. A file without text is taken and not
// pushed; a message with neither is not taken.
//
// With an error nothing was taken: the caller goes on as if nobody else waited,
// and warns.
func (m *Mirror) Intercept(
	ctx context.Context, thread chat.Thread, pendingInvocation, eventID, text string, hasFile bool,
) (taken bool, err error) {
	keys, err := m.keys(thread)
	if err != nil {
		return false, err
	}
	if eventID == "" {
		return false, errors.New("giving a message to another program: the event has no id, so it could be pushed twice")
	}
	silent := blank(text)
	if silent && !hasFile {
		return false, nil
	}
	marker, together := m.marker(keys.confirm, eventID)
	var now look
	var before int64
	err = m.call(ctx, "looking for another program that waits", func(ctx context.Context) error {
		pipe := m.commands.Pipeline()
		exists := pipe.Exists(ctx, marker)
		value, ttl := pipe.Get(ctx, keys.awaiting), pipe.PTTL(ctx, keys.awaiting)
		_, _ = pipe.Exec(ctx) // each reply has its own error
		if before, err = exists.Result(); err != nil {
			return err
		}
		now, err = looked(value, ttl)
		return err
	})
	switch {
	case err != nil:
		return false, err
	case before > 0:
		return true, nil
	case !now.exists || now.value == pendingInvocation && pendingInvocation != "":
		return false, nil
	case now.strange:
		m.log.Warn("redis: a key of another type is in the way, it is ignored", "key", keys.awaiting)
		return false, nil
	}
	ours, err := m.ours(ctx, now.value)
	if err != nil {
		return false, err
	}
	if ours {
		return false, nil
	}
	if silent {
		return m.consume(ctx, marker)
	}
	return m.push(ctx, keys, marker, together, text, now.ttl)
}

// consume remembers a file without text, so that a redelivery is not taken for
// a message once the other program has stopped waiting.
func (m *Mirror) consume(ctx context.Context, marker string) (bool, error) {
	err := m.call(ctx, "consuming a file for another program", func(ctx context.Context) error {
		return m.commands.Set(ctx, marker, "1", takenFor).Err()
	})
	return err == nil, err
}

// push appends text once. The list lives as long as the key of whoever waits, so
// that it does not stay when that program is dead; a program that gave its key no
// time to live gets a list without one.
func (m *Mirror) push(
	ctx context.Context, keys pair, marker string, together bool, text string, left time.Duration,
) (taken bool, err error) {
	ttl := int64(0)
	if left > 0 {
		ttl = max(left, time.Second).Milliseconds()
	}
	err = m.call(ctx, "pushing a message to another program", func(ctx context.Context) error {
		var pushed int64
		var err error
		if _, cluster := m.commands.(*redis.ClusterClient); cluster && !together {
			pushed, err = m.pushInSteps(ctx, keys.confirm, marker, text, ttl)
		} else {
			pushed, err = pushOnce.Run(ctx, m.commands, []string{keys.confirm, marker},
				text, ttl, takenFor.Milliseconds()).Int64()
			if redis.HasErrorPrefix(err, "CROSSSLOT") { // a proxy in front of a cluster
				pushed, err = m.pushInSteps(ctx, keys.confirm, marker, text, ttl)
			}
		}
		taken = pushed == 1
		return err
	})
	if err == nil && !taken {
		m.log.Warn("redis: a key of another type is in the way, the message is processed here", "key", keys.confirm)
	}
	return taken, err
}

// pushInSteps is for the rare thread key whose marker cannot lie in the list's
// slot. The marker comes second: a crash between the two pushes twice rather
// than losing an answer.
func (m *Mirror) pushInSteps(ctx context.Context, confirm, marker, text string, ttl int64) (int64, error) {
	switch err := m.commands.RPush(ctx, confirm, text).Err(); {
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return 0, nil
	case err != nil:
		return 0, err
	}
	if ttl > 0 {
		if err := m.commands.PExpire(ctx, confirm, time.Duration(ttl)*time.Millisecond).Err(); err != nil {
			m.log.Warn("redis: a list without time to live stays", "key", confirm, "error", err)
		}
	}
	if err := m.commands.Set(ctx, marker, "1", takenFor).Err(); err != nil {
		m.log.Warn("redis: a redelivery of this message would be pushed again", "key", confirm, "error", err)
	}
	return 1, nil
}

// blank tells whether a text is none, by the rule of CONTRACT §3.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.Is(unicode.White_Space, r) || r == '\uFEFF' || r == '\u2060' || r == '\u061C' ||
			r >= '\u200B' && r <= '\u200F' || r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069'
	}) == ""
}
