package slack

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/countersignhq/countersign/chat"
)

// maxAtOnce is how many messages of different channels are worked on side by side.
const maxAtOnce = 32

// Poll holds a socket to Slack and hands what comes to the Desk until ctx ends (its error
// is returned) or Slack refuses for good (a final *chat.Error, e.g. a wrong app token).
// An envelope is acknowledged only after the Desk has taken it; Slack sends others
// again, over whatever socket there is then.
//
// There is nothing to resume: offset is not read, and heartbeat is called every few
// seconds with an empty one, from another goroutine but never twice at once. Several
// sockets may be open for one app (Slack spreads the envelopes over them); one is enough.
func (c *Connector) Poll(ctx context.Context, _ string, heartbeat func(offset string)) error {
	if c.api.appToken == "" {
		return &chat.Error{Op: "slack apps.connections.open", Err: errors.New("slack.app_token is missing")}
	}
	defer c.beat(ctx, heartbeat)()
	for {
		err := c.listen(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var classified *chat.Error
		if errors.As(err, &classified) && !classified.Temporary {
			return err
		}
		// The library tries again by itself, but after a while only every five minutes.
		c.log.Warn("slack socket could not be opened, trying again", "error", err)
		wait := c.timing.maxWait
		if classified != nil {
			wait = max(wait, classified.RetryAfter)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// listen runs the library's client, which reopens the socket as Slack wishes, until that
// does not succeed for too long.
func (c *Connector) listen(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := socketmode.New(c.api.client(&exchange{client: c.api.http}),
		socketmode.OptionReadLimit(maxBody), socketmode.OptionPingInterval(c.timing.noEvent))
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	lanes := &lanes{last: map[string]chan struct{}{}, slots: make(chan struct{}, maxAtOnce), wait: c.timing.deliver}
	defer lanes.all.Wait()
	defer cancel()
	for {
		select {
		case err := <-ended:
			if err == nil {
				return nil
			}
			return c.api.fail("apps.connections.open", &exchange{}, err)
		case e := <-client.Events:
			if err := c.heard(ctx, client, lanes, e); err != nil {
				cancel()
				<-ended //nolint:errcheck // it ended because it was told to
				return err
			}
		}
	}
}

// heard takes what the library tells; an error ends the client.
func (c *Connector) heard(ctx context.Context, client *socketmode.Client, lanes *lanes, e socketmode.Event) error {
	at := c.now()
	switch data := e.Data.(type) {
	case *socketmode.ErrorBadMessage:
		// Not bad for us: the library knows fewer events than Slack sends.
		var request socketmode.Request
		if json.Unmarshal(data.Message, &request) == nil {
			c.envelope(ctx, client, lanes, request, at)
		}
		return nil
	case *slackgo.ConnectionErrorEvent:
		err := c.api.fail("apps.connections.open", &exchange{}, data.ErrorObj)
		var classified *chat.Error
		if errors.As(err, &classified) && classified.Temporary && data.Backoff < c.timing.maxWait {
			c.log.Warn("slack socket could not be opened", "error", err, "wait", data.Backoff)
			return nil
		}
		return err
	}
	if e.Type == socketmode.EventTypeConnected {
		c.log.Info("slack socket is open")
	}
	if e.Request != nil {
		c.envelope(ctx, client, lanes, *e.Request, at)
	}
	return nil
}

// envelope starts the work on one envelope, behind that of the same conversation.
func (c *Connector) envelope(ctx context.Context, client *socketmode.Client, lanes *lanes, request socketmode.Request, at time.Time) {
	if request.EnvelopeID == "" {
		return
	}
	acknowledge := func() {
		if err := client.AckCtx(ctx, request.EnvelopeID, nil); err != nil {
			c.log.Warn("slack envelope not acknowledged; it will come again", "error", c.api.cause(0, err))
		}
	}
	switch request.Type {
	case socketmode.RequestTypeEventsAPI:
		e, err := decode(request.Payload)
		if err != nil || e.message == nil {
			c.log.Debug("slack event left aside", "reason", e.ignored, "error", err)
			acknowledge()
			return
		}
		lanes.run(ctx, e.message.thread().Key, func() {
			if err := c.take(ctx, ctx, e.message, at); err != nil {
				c.log.Warn("slack event not taken; Slack will send it again", "error", err)
				return
			}
			acknowledge()
		})
	case socketmode.RequestTypeInteractive:
		lanes.all.Go(func() { // presses wait for nobody
			if c.interact(ctx, request.Payload, at) == nil {
				acknowledge()
			}
		})
	default:
		acknowledge()
	}
}

// lanes run work of one key in order, and that of different keys side by side. Who is
// before is waited for a moment only: an answer is not to be late for somebody's large file.
type lanes struct {
	all   sync.WaitGroup
	slots chan struct{}
	wait  time.Duration
	last  map[string]chan struct{} // closed when the last of that key is done; for one goroutine
}

// run starts work; it is called by one goroutine.
func (l *lanes) run(ctx context.Context, key string, work func()) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	for other, ended := range l.last { // forget what is over
		select {
		case <-ended:
			delete(l.last, other)
		default:
		}
	}
	before, done := l.last[key], make(chan struct{})
	l.last[key] = done
	l.all.Go(func() {
		defer func() { <-l.slots; close(done) }()
		if before != nil {
			patience := time.NewTimer(l.wait)
			defer patience.Stop()
			select {
			case <-before:
			case <-patience.C:
			case <-ctx.Done():
			}
		}
		work()
	})
}

// beat calls heartbeat regularly until it is stopped.
func (c *Connector) beat(ctx context.Context, heartbeat func(string)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(c.timing.heartbeat)
		defer tick.Stop()
		for {
			if heartbeat != nil {
				heartbeat("")
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-ended }
}
