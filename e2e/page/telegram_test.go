package page_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// Telegram asks, the page decides, and the card in Telegram says so.
func TestTelegramAsksAndThePageDecides(t *testing.T) {
	t.Parallel()
	s := telegramtest.New()
	t.Cleanup(s.Close)
	port := harness.Port(t)
	w := harness.New(t, harness.Setup{Port: port, Env: map[string]string{
		"LARACLAW_TELEGRAM_TOKEN": s.Token, "COUNTERSIGN_TELEGRAM_MODE": "webhook", "COUNTERSIGN_TELEGRAM_API_URL": s.URL(),
		"COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET": "of-the-page-test", "COUNTERSIGN_PUBLIC_URL": harness.URL(port),
	}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	_, err := s.AwaitCalls(ctx, "setWebhook", 1)
	require.NoError(t, err)
	b := signedIn(t, w, harness.Ada)
	w.Write(t, "old.csv", "1")
	bob := telegramtest.Person{ID: 1002, FirstName: "Bob"}
	s.Say(telegramtest.Private(bob), bob, "/file_manager delete disk=local path=old.csv")
	prompt, err := s.Await(ctx, bob.ID, func(m telegramtest.Message) bool { return len(m.Buttons) > 0 })
	require.NoError(t, err)

	b.shows(".others "+openQuestion, "old.csv")
	b.shows(".others "+openQuestion, "telegram:1002")
	b.click(".others " + openQuestion + " .buttons .yes")
	card, err := s.Await(ctx, bob.ID, func(m telegramtest.Message) bool {
		return m.ID == prompt.ID && strings.Contains(m.Text, "✅ Approved by ada at ")
	})
	require.NoError(t, err)
	require.Empty(t, card.Buttons)
	// The card is edited beside the run.
	harness.Eventually(t, "the file is gone", func() bool { return !w.Exists("old.csv") })
	b.await("it is no longer open", `document.querySelectorAll(".question.open").length === 0`)
	b.clean()
}
