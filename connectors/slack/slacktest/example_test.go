package slacktest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

// A question in a channel, the press that answers it, and what people see afterwards.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	server := slacktest.New()
	defer server.Close()

	desk := &connectortest.Desk{}
	app, err := slack.New(slack.Params{
		BotToken: server.BotToken, SigningSecret: server.SigningSecret, APIURL: server.URL(),
		Identify:    func(id string) chat.Person { return chat.Person{ID: id, Name: "ada"} },
		KnownThread: func(context.Context, chat.Thread) (bool, error) { return true, nil },
		Desk:        desk, Files: noFiles{}, NewUUID: func() string { return "uuid" },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle(slack.EventsPath, app.EventsHandler())
	mux.Handle(slack.InteractivityPath, app.InteractivityHandler())
	gateway := httptest.NewServer(mux)
	defer gateway.Close()
	server.Gateway(gateway.URL)

	root := server.Say("C01", "U01", "<@U0BOT> delete old.csv")
	if err := server.AwaitTaken(ctx); err != nil {
		fmt.Println(err)
		return
	}
	message := desk.Messages()[0]
	fmt.Println(message.Text, message.Thread.Key == "C01:"+root)

	card := chat.Card{
		Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X", Thread: message.Thread,
		Text:    "⚠️ Delete the file at old.csv on disk local? Reply 'Yes' to confirm.",
		Buttons: []chat.Button{{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo}},
	}
	receipt, err := app.Post(ctx, card)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Press("U01", server.Sent("C01")[0], "Yes"); err != nil {
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
	if err := app.Edit(ctx, receipt, card); err != nil {
		fmt.Println(err)
		return
	}
	app.Wait()
	shown := server.Sent("C01")[0]
	fmt.Printf("%s (%d buttons)\n", shown.Shown(), len(shown.Buttons))
	// Output:
	// delete old.csv true
	// ada yes 01J9ZQ6V5R8K3M2N4P7S9T0W1X
	// ⚠️ Delete the file at old.csv on disk local? Reply 'Yes' to confirm.
	// ✅ Approved by ada. (0 buttons)
}

type noFiles struct{ slack.Files }
