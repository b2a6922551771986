package slack

import "time"

// Hasten shortens the waits of a socket, and how long files are tried for.
func (c *Connector) Hasten() {
	c.timing.maxWait, c.timing.heartbeat = 20*time.Millisecond, 5*time.Millisecond
}
