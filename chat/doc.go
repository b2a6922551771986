// Package chat holds the channel-neutral words that connectors and the rest
// share: Message, Thread, Person, Card, Click, File, Reply, and the two ports
// between them: Sender (out) and Desk (in).
//
// The package is pure: a connector turns these words into its platform's own.
package chat
