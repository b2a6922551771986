package slack

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxBody bounds the body of a call, in bytes; real ones have some ten thousand.
const maxBody = 1 << 20

// EventsHandler takes the Events API (POST, at EventsPath; CONTRACT §8).
//
//	200  the Desk has it, or nobody needs to hear of it; also the address check
//	403  not signed by Slack, or more than 300 s old
//	413  larger than 1 MB
//	429  the person sends more than they may; Slack tries again
//	503  not taken: Temporal or a file could not be reached; Slack tries again
//
// Slack waits 3 s, and tries three times again: at once, after a minute, after five. A
// message whose files take longer is worked on all the same, and the repetitions wait
// for that. A body that is no event is also answered 200, and logged: it is signed, so
// the same bytes would only come again.
func (c *Connector) EventsHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := c.now()
		body, fine := c.receive(w, r)
		if !fine {
			return
		}
		e, err := decode(body)
		switch {
		case err != nil:
			c.log.Warn("slack event not understood and left out", "bytes", len(body), "error", c.api.scrub.Replace(err.Error()))
		case e.challenge != "":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			_, _ = io.WriteString(w, e.challenge)
		case e.message == nil:
			c.log.Debug("slack event left aside", "reason", e.ignored)
		default:
			// Slack may hang up; the message is not to be lost half way.
			c.answer(w, c.take(context.WithoutCancel(r.Context()), r.Context(), e.message, at))
		}
	})
}

// InteractivityHandler takes button presses (POST, at InteractivityPath); the statuses are
// those of EventsHandler. Slack does not try again: a press that could not be recorded
// is also told to who pressed, in a message that only they see.
func (c *Connector) InteractivityHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := c.now()
		body, fine := c.receive(w, r)
		if !fine {
			return
		}
		form, err := url.ParseQuery(string(body))
		if err != nil {
			c.log.Warn("slack interaction is no form and left out", "bytes", len(body))
			return
		}
		c.answer(w, c.interact(context.WithoutCancel(r.Context()), []byte(form.Get("payload")), at))
	})
}

// interact takes the payload of an interaction.
func (c *Connector) interact(ctx context.Context, payload []byte, at time.Time) error {
	p, ignored, err := decodePress(payload)
	switch {
	case err != nil:
		c.log.Warn("slack interaction not understood and left out", "bytes", len(payload), "error", c.api.scrub.Replace(err.Error()))
		return nil
	case p == nil:
		c.log.Debug("slack interaction left aside", "reason", ignored)
		return nil
	default:
		return c.takePress(ctx, p, at)
	}
}

// receive reads a call and checks that Slack made it; otherwise it has answered.
func (c *Connector) receive(w http.ResponseWriter, r *http.Request) (body []byte, fine bool) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil, false
	}
	// The signature is over the bytes as they came: nothing may read them before.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case !c.signed(r.Header, body):
		w.WriteHeader(http.StatusForbidden)
	default:
		return body, true
	}
	return nil, false
}

func (c *Connector) answer(w http.ResponseWriter, err error) {
	switch {
	case err == nil:
		w.WriteHeader(http.StatusOK)
	case errors.Is(err, errLimited):
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		c.log.Warn("slack call not taken; Slack will send an event again", "error", err)
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}
