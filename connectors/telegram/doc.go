// Package telegram is the connector for Telegram bots: it asks and answers in
// chats, groups and forum topics, by webhook or by long polling (CONTRACT §§3, 6, 8).
//
// New makes a Connector. It is a chat.Sender (Post, Edit, Reply); Handler takes
// Telegram's webhook and Poll fetches updates where no webhook can reach us.
// Start registers the webhook.
//
// The way of an update, each step in a file of its own:
//
//	webhook.go, poll.go   receive, acknowledge only what the Desk has taken
//	decode.go             bytes to an event; pure, knows what can never be an answer
//	identity.go           what a message is called, the same whenever it comes again
//	intake.go             who it is, then the Desk
//	fetch.go              the files, each stored once
//	memory.go             what is remembered of the last updates; may be lost
//
// and of what is sent: render.go (pure: texts, buttons, callback data), send.go
// (questions), reply.go (answers and files), api.go (one call of the Bot API; the
// only place where an error is classified and the token is scrubbed from it).
//
// telegramtest is a Telegram server for tests.
package telegram
