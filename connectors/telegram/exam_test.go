package telegram_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

func TestExam(t *testing.T) {
	t.Parallel()
	connectortest.Run(t, connectortest.Subject{
		Name: chat.Telegram,
		Setup: func(t testing.TB, desk *connectortest.Desk) *connectortest.Candidate {
			b := benchFor(t, desk)
			_, key, _ := strings.Cut(b.server.Token, ":")
			return &connectortest.Candidate{
				Sender: b.Connector, Thread: thread("1001"), Secrets: []string{b.server.Token, key, secret}, Log: b.log.String,
				Break: func(fault connectortest.Fault) {
					b.server.Break(fault, "sendMessage", "editMessageText", "sendDocument")
				},
				Close:  func() { b.server.Block(ada.ID) },
				Shown:  b.shown,
				Vanish: func(r chat.Receipt) { b.server.Delete(ada.ID, messageOf(t, r)) },
				File:   b.files.put,
				Send:   func(ctx context.Context, e connectortest.Event) bool { return b.send(ctx, t, e) },
			}
		},
	})
}

func (b *bench) shown() []connectortest.Shown {
	var shown []connectortest.Shown
	for _, m := range b.server.Sent(ada.ID) {
		s := connectortest.Shown{Text: m.Text, File: m.File, Content: m.Content}
		for _, button := range m.Buttons {
			s.Buttons = append(s.Buttons, button.Text)
		}
		shown = append(shown, s)
	}
	return shown
}

func (b *bench) send(ctx context.Context, t testing.TB, e connectortest.Event) bool {
	kind, with := "message", secret
	var value any = b.server.Compose(telegramtest.Private(ada), ada, e.Text)
	switch e.Kind {
	case connectortest.Said:
	case connectortest.Edited:
		kind = "edited_message"
	case connectortest.SaidByBot:
		value = b.server.Compose(group, bot, e.Text)
	case connectortest.SaidByStranger:
		value = b.server.Compose(telegramtest.Private(eve), eve, e.Text)
	case connectortest.Forged:
		with = "wrong"
	case connectortest.Unproven:
		with = ""
	case connectortest.Pressed:
		kind = "callback_query"
		for _, m := range b.server.Sent(ada.ID) {
			for _, button := range m.Buttons {
				if m.ID == messageOf(t, e.Receipt) && button.Text == e.Button {
					value = map[string]any{
						"id": "q" + strconv.Itoa(e.Number), "from": ada, "data": button.Data,
						"message": map[string]any{"message_id": m.ID, "chat": telegramtest.Private(ada), "date": 0},
					}
				}
			}
		}
	default:
		t.Errorf("event %q is not known here", e.Kind)
	}
	body, err := json.Marshal(map[string]any{"update_id": e.Number, kind: value})
	require.NoError(t, err)
	return b.post(ctx, with, body) == 200
}

// messageOf is the message id in a receipt of a private chat with ada.
func messageOf(t testing.TB, r chat.Receipt) int64 {
	t.Helper()
	id, err := strconv.ParseInt(strings.TrimPrefix(r.Ref, "1001/"), 10, 64)
	require.NoError(t, err)
	return id
}
