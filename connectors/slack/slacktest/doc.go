// Package slacktest is a Slack for tests: a real HTTP server that keeps channels and
// messages, checks requests and blocks as Slack does, hands out files and takes uploads,
// sends signed events and presses to a gateway (again where they are not acknowledged)
// or over a socket, records every call, and misbehaves when told to (Server.Faults).
//
//	server := slacktest.New()
//	defer server.Close()
//	// run the app with server.URL() as api_url and server.BotToken, server.SigningSecret
//	server.Gateway(gateway.URL)
//	server.Say("D01", "U01", "delete reports/old.csv")
//	question, err := server.Await(ctx, "D01", func(m slacktest.Message) bool { … })
//	server.Press("U01", question, "Yes")
//
// It was written against Slack's documentation; github.com/slack-go/slack/slacktest knows
// no updates, uploads, files or presses.
package slacktest
