package telegram

import "time"

// Hasten shortens the waits after failures while polling.
func (c *Connector) Hasten() {
	c.timing.backoff, c.timing.maxWait, c.timing.heartbeat = time.Millisecond, 10*time.Millisecond, 5*time.Millisecond
}
