// Package email is the connector for a mailbox: it reads by IMAP and sends by SMTP
// (CONTRACT §§3, 6, 8).
//
// New makes a Connector. It is a chat.Sender (Post, Edit, Reply); Poll is the
// listener, one for all workers.
//
// The way of a mail in, each step in a file of its own:
//
//	poll.go, imap.go   IDLE with a poll as a net; the offset moves when the Desk has the mail
//	bounce.go          a server's report that a question has not arrived
//	automatic.go       pure: what no person wrote
//	intake.go          who it is (auth), what was said and sent along (letter), then the Desk
//	token.go           pure: which question it answers
//	answer.go          pure: whether it may answer one at all
//	event.go           what is the same for every copy of it
//
// and of a mail out: compose.go (pure: texts and headers), send.go (questions and
// what became of them), reply.go (answers and files), smtp.go (one delivery; the
// only place where an error of SMTP is classified and scrubbed).
//
// letter reads mails, auth proves senders, emailtest has servers for tests.
package email
