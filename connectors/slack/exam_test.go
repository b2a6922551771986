package slack_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func TestExam(t *testing.T) {
	t.Parallel()
	t.Run("direct message", func(t *testing.T) {
		t.Parallel()
		exam(t, ada, dm)
	})
	t.Run("thread of a channel", func(t *testing.T) {
		t.Parallel()
		exam(t, channel+":1700000000.000100", channel)
	})
}

func exam(t *testing.T, key, where string) {
	t.Helper()
	connectortest.Run(t, connectortest.Subject{
		Name: chat.Slack,
		Setup: func(t testing.TB, desk *connectortest.Desk) *connectortest.Candidate {
			b := benchFor(t, desk)
			b.know(key)
			s := b.server
			return &connectortest.Candidate{
				Sender: b.Connector, Thread: thread(key), Log: b.log.String,
				Secrets: []string{s.BotToken, s.AppToken, s.SigningSecret, s.BotToken[strings.LastIndex(s.BotToken, "-")+1:]},
				Break: func(fault connectortest.Fault) {
					s.Break(fault, "chat.postMessage", "chat.update", "files.getUploadURLExternal", "upload", "files.completeUploadExternal")
				},
				Close: func() { s.Refuse(where, "channel_not_found"); s.Refuse(ada, "user_disabled") },
				Shown: func() []connectortest.Shown { return shown(s.Sent(where)) },
				Vanish: func(r chat.Receipt) {
					_, ts, _ := strings.Cut(r.Ref, "/")
					s.Delete(where, ts)
				},
				File: b.files.put,
				Send: func(ctx context.Context, e connectortest.Event) bool { return b.event(ctx, t, key, where, e) },
			}
		},
	})
}

func shown(messages []slacktest.Message) []connectortest.Shown {
	var shown []connectortest.Shown
	for _, m := range messages {
		s := connectortest.Shown{Text: m.Shown(), File: m.File, Content: m.Content}
		for _, button := range m.Buttons {
			s.Buttons = append(s.Buttons, button.Label)
		}
		shown = append(shown, s)
	}
	return shown
}

func (b *bench) event(ctx context.Context, t testing.TB, key, where string, e connectortest.Event) bool {
	kind, user := slacktest.Events, ada
	var options []slacktest.Option
	var headers []func(http.Header)
	if _, root, threaded := strings.Cut(key, ":"); threaded {
		options = append(options, slacktest.In(root, bob))
	}
	place, text := where, e.Text
	switch e.Kind {
	case connectortest.Said, connectortest.Pressed:
	case connectortest.Edited:
		options = append(options, slacktest.With("subtype", "message_changed"), slacktest.With("hidden", true),
			slacktest.With("message", map[string]any{"user": ada, "text": e.Text, "ts": "1700000000.000200"}))
	case connectortest.SaidByBot:
		options = append(options, slacktest.With("bot_id", "B02"))
	case connectortest.SaidByStranger:
		user, place, options = eve, "D06", nil
	case connectortest.Forged:
		headers = append(headers, func(h http.Header) { h.Set("X-Slack-Signature", "v0="+strings.Repeat("0", 64)) })
	case connectortest.Unproven:
		headers = append(headers, func(h http.Header) { h.Del("X-Slack-Signature"); h.Del("X-Slack-Request-Timestamp") })
	default:
		t.Errorf("event %q is not known here", e.Kind)
	}
	ts := fmt.Sprintf("1900000000.%06d", e.Number)
	payload := b.server.Envelope(place, user, text, ts, options...)
	if e.Kind == connectortest.Pressed {
		kind = slacktest.Interactive
		for _, m := range b.server.Sent(where) {
			if strings.HasSuffix(e.Receipt.Ref, "/"+m.TS) {
				var err error
				payload, err = b.server.ComposePress(ada, m, e.Button, func(p map[string]any) {
					p["actions"].([]any)[0].(map[string]any)["action_ts"] = ts
				})
				require.NoError(t, err)
			}
		}
	}
	body, _ := slacktest.Body(kind, payload)
	return b.call(ctx, kind, body, headers...).Code == http.StatusOK
}
