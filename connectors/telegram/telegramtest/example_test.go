package telegramtest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

// A question, the press that answers it, and what the person sees afterwards.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	server := telegramtest.New()
	defer server.Close()
	ada := telegramtest.Person{ID: 1001, FirstName: "Ada"}

	desk := &connectortest.Desk{}
	bot, err := telegram.New(telegram.Params{
		Token: server.Token, APIURL: server.URL(), WebhookSecret: "s3cret",
		Identify: func(id string) chat.Person { return chat.Person{ID: id, Name: "ada"} },
		Desk:     desk, Files: noFiles{}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	gateway := httptest.NewServer(bot.Handler())
	defer gateway.Close()
	server.Webhook(gateway.URL, "s3cret")

	card := chat.Card{
		Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X", Thread: chat.Thread{Connector: chat.Telegram, Key: "1001"},
		Text:    "⚠️ Delete the file at old.csv on disk local? Reply 'Yes' to confirm.",
		Buttons: []chat.Button{{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo}},
	}
	receipt, err := bot.Post(ctx, card)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, _, err := server.Press(ada, server.Sent(ada.ID)[0], "Yes"); err != nil {
		fmt.Println(err)
		return
	}
	if err := server.AwaitTaken(ctx); err != nil {
		fmt.Println(err)
		return
	}
	click := desk.Clicks()[0]
	fmt.Println(click.By.Name, click.Action, click.Invocation)

	card.Closed = "✅ Approved by ada."
	if err := bot.Edit(ctx, receipt, card); err != nil {
		fmt.Println(err)
		return
	}
	shown := server.Sent(ada.ID)[0]
	fmt.Printf("%s (%d buttons)\n", shown.Text, len(shown.Buttons))
	// Output:
	// ada yes 01J9ZQ6V5R8K3M2N4P7S9T0W1X
	// ⚠️ Delete the file at old.csv on disk local? Reply 'Yes' to confirm.
	//
	// ✅ Approved by ada. (0 buttons)
}

type noFiles struct{ telegram.Files }
