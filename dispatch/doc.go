// Package dispatch brings people's actions to the workflows: it starts, signals
// and updates them, and owns their ids. It implements what connectors (chat.Desk),
// the gateway (Engine) and the activities (Signals) ask of Temporal.
package dispatch
