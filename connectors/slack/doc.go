// Package slack is the connector for Slack apps: it asks and answers in direct
// messages and in threads of channels, by the Events API or in socket mode
// (CONTRACT §§3, 6, 8).
//
// New makes a Connector. It is a chat.Sender (Post, Edit, Reply); EventsHandler and
// InteractivityHandler take Slack's calls, and Poll holds a socket where no call can
// reach us. Check tells whether the tokens work and which scopes are missing.
//
// The way of an event, each step in a file of its own:
//
//	webhook.go, socket.go  receive, acknowledge only what the Desk has taken
//	verify.go              Slack's signature on the raw bytes
//	decode.go              bytes to an event; pure, knows what can never be an answer
//	text.go                Slack's markup to what the person typed; pure
//	intake.go, press.go    who it is, whether it is meant for us, then the Desk
//	fetch.go               files in
//
// and of what is sent: render.go (pure: blocks, texts), send.go (questions), reply.go
// (answers), upload.go (files), api.go and errors.go (one call of the Web API; the only
// place where an error is classified and tokens are scrubbed from it).
//
// slacktest is a Slack for tests.
package slack
