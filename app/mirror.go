package app

import (
	"context"
	"log/slog"

	"go.uber.org/fx"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/dispatch"
	"github.com/countersignhq/countersign/rediscompat"
)

// mirror is the Redis mirror, or nothing where no Redis is configured.
type mirror struct{ *rediscompat.Mirror }

func provideMirror(lc fx.Lifecycle, cfg *config.Config, d *dispatch.Dispatcher, parts *embedded, logger *slog.Logger) (*mirror, error) {
	url := cfg.Redis.URL.Reveal()
	if url == "" {
		url = parts.redis
	}
	if url == "" {
		logger.Info("no Redis is configured (REDIS_URL): pending questions are not mirrored")
		return &mirror{}, nil
	}
	m, err := rediscompat.New(rediscompat.Params{
		URL: url, Prefix: cfg.Redis.Prefix, Logger: logger.With("component", "redis"),
		Pending: pending(d), Answer: answer(d), Ours: d.Known,
	})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(m.Shutdown))
	return &mirror{m}, nil
}

func pending(d *dispatch.Dispatcher) func(context.Context) ([]rediscompat.Pending, error) {
	return func(ctx context.Context) ([]rediscompat.Pending, error) {
		open, err := d.Inbox(ctx)
		if err != nil {
			return nil, err
		}
		list := make([]rediscompat.Pending, 0, len(open))
		for _, p := range open {
			list = append(list, rediscompat.Pending{
				Thread: p.Thread, Invocation: p.Invocation, Expires: p.Expires, Timeout: p.Expires.Sub(p.AskedAt),
			})
		}
		return list, nil
	}
}

// answer hands a pushed reply to its invocation; one that has ended needs none.
func answer(d *dispatch.Dispatcher) func(context.Context, rediscompat.Answer) error {
	return func(ctx context.Context, a rediscompat.Answer) error {
		err := d.Reply(ctx, a.Invocation, contract.Reply{
			ID: a.ID, By: chat.Person{}, Via: "redis", Text: a.Text, ReceivedAt: a.ReadAt.UTC(),
		})
		if gone(err) {
			return nil
		}
		return err
	}
}
