package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"go.uber.org/fx"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/audit"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/dispatch"
	"github.com/countersignhq/countersign/events"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/tool"
)

// watchEvery is how often a gateway without an engine looks for changes.
const watchEvery = time.Second

// runGateway runs the HTTP server. It binds before it says that it is ready.
func runGateway(
	lc fx.Lifecycle, f flags, cfg *config.Config, t temporal, d *dispatch.Dispatcher, bus *events.Bus, log *audit.Log,
	who identity, s *surfaces, e examples, store *attachments.Store, registry *tool.Registry, parts *embedded, logger *slog.Logger, failed fail,
) error {
	page, err := s.page(who, audited{d, log, chat.Web}, bus, e, store, registry.Tools(), parts.ui, t.namespace, logger)
	if err != nil {
		return err
	}
	handler := gateway.New(gateway.Params{
		Engine: audited{d, log, chat.API}, Events: bus, Identity: who, Attachments: files{store}, Delivered: s.delivered,
		Page: page, Webhooks: s.webhooks, Tools: registry.Tools(), RateLimit: cfg.WebhookRateLimit, MaxUpload: cfg.HTTP.MaxUpload,
		Logger: logger, NewUUID: newUUID, PublicURL: cfg.PublicURL, UIURL: parts.ui, Namespace: t.namespace,
		Version: version,
	})
	serving, cancel := context.WithCancel(context.Background())
	server := gateway.NewServer(serving, handler)
	lc.Append(fx.StartStopHook(
		func(ctx context.Context) error {
			listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.HTTP.Addr)
			if err != nil {
				return fmt.Errorf("listen on %s (set COUNTERSIGN_HTTP_ADDR to a free address): %w", cfg.HTTP.Addr, err)
			}
			go func() {
				if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
					failed(fmt.Errorf("the gateway has died: %w", err))
				}
			}()
			logger.Info("the gateway is listening", "address", listener.Addr().String())
			return nil
		},
		func(ctx context.Context) error {
			cancel() // event streams end
			return server.Shutdown(ctx)
		},
	))
	background(lc, failed, func(ctx context.Context) error {
		return s.start(ctx, logger)
	})
	if !f.has(roleEngine) {
		background(lc, failed, func(ctx context.Context) error {
			if err := awaitTemporal(ctx, t.Client, t.address, logger); err != nil {
				return err
			}
			d.UseAttributes(registerAttributes(ctx, t.Client, t.namespace, logger))
			return bus.Watch(ctx, d.Pending, watchEvery)
		})
	}
	return nil
}

// pageAddress is where people find the web page; empty where only the operator could know.
func pageAddress(cfg *config.Config) string {
	if cfg.PublicURL != "" {
		return cfg.PublicURL
	}
	host, port, err := net.SplitHostPort(cfg.HTTP.Addr)
	if err != nil || port == "0" || net.ParseIP(host) == nil || net.ParseIP(host).IsUnspecified() {
		return ""
	}
	return "http://" + cfg.HTTP.Addr
}

var _ gateway.Engine = audited{}
var _ chat.Desk = (*dispatch.Dispatcher)(nil)
