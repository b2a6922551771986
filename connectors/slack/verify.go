package slack

import (
	"net/http"
	"strconv"
	"time"

	slackgo "github.com/slack-go/slack"
)

// skewLimit is how far Slack's clock and ours may be apart before it is worth a warning;
// at 300 s every call is refused.
const skewLimit = time.Minute

// signed tells whether Slack signed exactly these bytes, within 300 s of now by the
// real clock ("Verifying requests from Slack"). The comparison takes constant time.
// Without a configured secret nothing is signed.
func (c *Connector) signed(header http.Header, body []byte) bool {
	verifier, err := slackgo.NewSecretsVerifier(header, c.secret)
	if err == nil {
		_, _ = verifier.Write(body) // into a hash: it cannot fail
		err = verifier.Ensure()
	}
	if err != nil {
		c.log.Warn("slack call refused: not signed by Slack, or the clock is wrong", "reason", c.api.scrub.Replace(err.Error()))
		return false
	}
	c.watchClock(header.Get("X-Slack-Request-Timestamp"))
	return true
}

// watchClock warns, once a minute at most, before the clock is so wrong that calls are refused.
func (c *Connector) watchClock(timestamp string) {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return
	}
	now := time.Now()
	skew := now.Sub(time.Unix(sent, 0))
	last := c.skewAlarm.Load()
	if skew.Abs() <= skewLimit || now.Unix()-last < 60 || !c.skewAlarm.CompareAndSwap(last, now.Unix()) {
		return
	}
	c.log.Warn("the clock is wrong, or Slack's calls arrive late; at 300 s they are refused: check NTP", "off_by", skew)
}
