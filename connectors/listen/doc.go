// Package listen has what connectors share that fetch messages themselves: the waits
// between tries, the heartbeat of a listener, and handing over what was received until it
// has been taken.
package listen
