package app

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/fx"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/connectors/api"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/auth"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/connectors/terminal"
	"github.com/countersignhq/countersign/connectors/web"
	"github.com/countersignhq/countersign/connectors/web/openid"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/dispatch"
	"github.com/countersignhq/countersign/events"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/gateway/delivered"
	"github.com/countersignhq/countersign/gateway/ratelimit"
	"github.com/countersignhq/countersign/tool"
)

// retryPlatform is how long a platform that does not answer at the start is left alone.
const retryPlatform = 15 * time.Second

// surfaces are the connectors that are on, as each side needs them.
type surfaces struct {
	senders  map[string]chat.Sender
	pollers  map[string]activities.Poller
	webhooks map[string]http.Handler
	// starters register with their platform once the gateway is listening.
	starters map[string]func(context.Context) error

	cfg       *config.Config
	feeds     web.Store
	delivered *delivered.Store
}

func provideSurfaces(
	lc fx.Lifecycle, cfg *config.Config, d *dispatch.Dispatcher, store *attachments.Store, bus *events.Bus, logger *slog.Logger,
) (*surfaces, error) {
	folder, err := dataPath(cfg, "page")
	if err != nil {
		return nil, fmt.Errorf("make the folder of the page: %w", err)
	}
	bucket, err := delivered.Dir(folder)
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(bucket.Close))
	s := &surfaces{
		senders: map[string]chat.Sender{}, pollers: map[string]activities.Poller{},
		webhooks: map[string]http.Handler{}, starters: map[string]func(context.Context) error{},
		cfg: cfg, feeds: web.NewStore(bucket), delivered: delivered.New(bucket),
	}
	outbound := byPath{files{store}}
	s.senders[chat.API] = api.Sender{}
	s.senders[chat.Terminal] = terminal.New(terminal.Params{Outbound: outbound, Store: s.delivered})
	s.senders[chat.Web] = web.NewSender(web.SenderParams{Store: s.feeds, Outbound: outbound, Kept: s.delivered, Publish: bus.Publish})
	if cfg.Telegram.Enabled && cfg.Telegram.Token != "" {
		if err := s.telegram(d, outbound, logger); err != nil {
			return nil, err
		}
	}
	if cfg.Slack.Enabled && cfg.Slack.BotToken != "" {
		if err := s.slack(lc, d, outbound, logger); err != nil {
			return nil, err
		}
	}
	if cfg.Email.Enabled {
		if err := s.email(d, outbound, logger); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *surfaces) email(d *dispatch.Dispatcher, store byPath, logger *slog.Logger) error {
	cfg := s.cfg.Email
	secret := cfg.TokenSecret.Reveal()
	if secret == "" {
		// The page's key is random, kept in the data folder, and shared by all who share that.
		key, err := web.EnsureSecret(s.cfg.DataDir)
		if err != nil {
			return err
		}
		secret = hex.EncodeToString(key)
	}
	p := emailParams(s.cfg, secret)
	p.Desk, p.Files, p.Logger = d, store, logger.With("connector", chat.Email)
	p.Bounced = func(ctx context.Context, b email.Bounce) error {
		return d.Bounced(ctx, b.Thread, contract.Bounced{EventID: b.EventID, Ref: b.Ref, Reason: b.Reason})
	}
	c, err := email.New(p)
	if err != nil {
		return err
	}
	s.senders[chat.Email], s.pollers[chat.Email] = c, c
	return nil
}

// emailParams has the secret apart: without one in the configuration it is made.
func emailParams(all *config.Config, secret string) email.Params {
	cfg := all.Email
	return email.Params{
		IMAP: email.Server{
			Host: cfg.IMAP.Host, Port: cfg.IMAP.Port, Encryption: cfg.IMAP.Encryption,
			Username: cfg.IMAP.Username, Password: cfg.IMAP.Password.Reveal(),
		},
		Mailbox: cfg.IMAP.Mailbox,
		SMTP: email.Server{
			Host: cfg.SMTP.Host, Port: cfg.SMTP.Port, Encryption: cfg.SMTP.Encryption,
			Username: cfg.SMTP.Username, Password: cfg.SMTP.Password.Reveal(),
		},
		Address: cfg.SMTP.FromAddress, Name: cfg.SMTP.FromName,
		OAuth: email.OAuth{
			AccessToken: cfg.OAuth.AccessToken.Reveal(), TokenURL: cfg.OAuth.TokenURL,
			ClientID: cfg.OAuth.ClientID, ClientSecret: cfg.OAuth.ClientSecret.Reveal(),
			RefreshToken: cfg.OAuth.RefreshToken.Reveal(), Scopes: cfg.OAuth.Scopes,
		},
		Resolver:    auth.DNS(cfg.DNS),
		TokenSecret: secret, NoPlusAddress: !cfg.PlusAddress, TrustFrom: !cfg.VerifySender, Border: cfg.TrustedBorder,
		Identify: all.Person,
	}
}

func (s *surfaces) slack(lc fx.Lifecycle, d *dispatch.Dispatcher, store byPath, logger *slog.Logger) error {
	limit := ratelimit.New(s.cfg.WebhookRateLimit, nil)
	p := slackParams(s.cfg)
	p.Languages = s.cfg.Choice()
	p.KnownThread, p.Desk, p.Files, p.RateLimit = d.Talking, d, store, limit.Allow
	p.Logger = logger.With("connector", chat.Slack)
	c, err := slack.New(p)
	if err != nil {
		return err
	}
	lc.Append(fx.StopHook(c.Wait)) // whispers and reactions that are still on their way
	s.senders[chat.Slack] = c
	if s.cfg.Slack.Mode == config.ModeSocket {
		s.pollers[chat.Slack] = c
		return nil
	}
	s.webhooks[slack.EventsPath] = c.EventsHandler()
	s.webhooks[slack.InteractivityPath] = c.InteractivityHandler()
	s.starters[chat.Slack] = c.Start
	return nil
}

func (s *surfaces) telegram(d *dispatch.Dispatcher, store byPath, logger *slog.Logger) error {
	limit := ratelimit.New(s.cfg.WebhookRateLimit, nil)
	p := telegramParams(s.cfg)
	p.Languages = s.cfg.Choice()
	p.Desk, p.Files, p.RateLimit, p.Logger = d, store, limit.Allow, logger.With("connector", chat.Telegram)
	c, err := telegram.New(p)
	if err != nil {
		return err
	}
	s.senders[chat.Telegram] = c
	if s.cfg.Telegram.Mode == config.ModePolling {
		s.pollers[chat.Telegram] = telegramPoller{c}
		return nil
	}
	s.webhooks[telegram.WebhookPath] = c.Handler()
	s.starters[chat.Telegram] = c.Start
	return nil
}

// telegramPoller hands offsets over as text, as histories record them.
type telegramPoller struct{ *telegram.Connector }

// Poll implements activities.Poller.
func (p telegramPoller) Poll(ctx context.Context, offset string, heartbeat func(string)) error {
	from, err := strconv.ParseInt(offset, 10, 64)
	if err != nil {
		from = 0 // a first start
	}
	return p.Connector.Poll(ctx, from, func(next int64) { heartbeat(strconv.FormatInt(next, 10)) })
}

// start registers the webhooks; a platform that does not answer is tried again, and does not
// keep the gateway from serving the others.
func (s *surfaces) start(ctx context.Context, logger *slog.Logger) error {
	for name, begin := range s.starters {
		for {
			err := begin(ctx)
			if err == nil || ctx.Err() != nil {
				break
			}
			logger.Error("a connector could not register with its platform; trying again", "connector", name, "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryPlatform):
			}
		}
	}
	<-ctx.Done()
	return nil
}

// page is the web page.
func (s *surfaces) page(
	who identity, engine audited, bus *events.Bus, e examples, store *attachments.Store, tools []tool.Tool, ui, namespace string, logger *slog.Logger,
) (http.Handler, error) {
	secret, err := web.EnsureSecret(s.cfg.DataDir)
	if err != nil {
		return nil, err
	}
	p := web.Params{
		Engine: engine, Identity: who, Events: bus, Attachments: files{store}, Store: s.feeds, Kept: s.delivered,
		Secret: secret, PublicURL: s.cfg.PublicURL, UIURL: ui, Namespace: namespace, Languages: s.cfg.Choice(),
		MaxUpload: s.cfg.HTTP.MaxUpload, Logger: logger, NewUUID: newUUID, Guides: guides(tools),
	}
	if o := s.cfg.OIDC; o.Issuer != "" {
		p.Accounts, p.Provider = who, openid.New(openid.Params{
			Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret.Reveal(),
			RedirectURL: s.cfg.PublicURL + web.CallbackPath, Scopes: o.Scopes, Claim: o.Claim,
		})
	}
	e.show(&p)
	return web.New(p)
}

// guides are the pages on which handoffs are done, as their declarations name them.
func guides(tools []tool.Tool) map[string]string {
	pages := map[string]string{}
	for _, t := range tools {
		for _, op := range t.Operations {
			if op.Handoff != nil && op.Handoff.Page != "" {
				pages[t.Name+"."+op.Name] = op.Handoff.Page
			}
		}
	}
	return pages
}

var _ gateway.Attachments = files{}
