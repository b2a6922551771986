// Package agenttest is an agent for tests: it does what a script says for the
// text of a message, and remembers what it was asked.
package agenttest
