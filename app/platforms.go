package app

import (
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/telegram"
)

// What the configuration says about each platform, as its connector takes it; who takes
// the messages and keeps the files is the caller's to add. E-mail's is in surfaces.go.

func telegramParams(cfg *config.Config) telegram.Params {
	return telegram.Params{
		Token: cfg.Telegram.Token.Reveal(), APIURL: cfg.Telegram.APIURL, Mode: cfg.Telegram.Mode,
		WebhookSecret: cfg.Telegram.WebhookSecret.Reveal(), PublicURL: cfg.PublicURL, Identify: cfg.Person,
	}
}

func slackParams(cfg *config.Config) slack.Params {
	return slack.Params{
		BotToken: cfg.Slack.BotToken.Reveal(), AppToken: cfg.Slack.AppToken.Reveal(),
		SigningSecret: cfg.Slack.SigningSecret.Reveal(), Mode: cfg.Slack.Mode,
		APIURL: cfg.Slack.APIURL, BotUserID: cfg.Slack.BotUserID, Identify: cfg.Person, NewUUID: newUUID,
	}
}
