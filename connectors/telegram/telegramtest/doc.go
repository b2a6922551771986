// Package telegramtest is a Telegram Bot API server for tests: a real HTTP server
// that keeps chats, checks requests as Telegram does, hands out files, delivers
// updates by getUpdates or to a webhook, records every call, and misbehaves when
// told to (Server.Faults).
//
//	server := telegramtest.New()
//	defer server.Close()
//	// run the bot with server.URL() as api_url and server.Token as token
//	server.Say(telegramtest.Private(ada), ada, "delete reports/old.csv")
//	question, err := server.Await(ctx, ada.ID, func(m telegramtest.Message) bool { … })
//	server.Press(ada, question, "Yes")
//
// It was written against the Bot API's documentation and, for the order and the
// repetition of webhook calls, against tdlib/telegram-bot-api.
package telegramtest
