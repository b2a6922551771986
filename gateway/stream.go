package gateway

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tmaxmax/go-sse"
)

// stream is GET /api/events.
func (g *gateway) stream(w http.ResponseWriter, r *http.Request) {
	Stream(w, r, g.Events, g.Heartbeat, func(Event) bool { return true })
}

// Stream sends those events that wanted lets through as server-sent events (WHATWG HTML
// §9.2) until the client or the server goes: the event's type is its kind, its data the
// Event as JSON. A comment goes out at once, and on every heartbeat.
func Stream(w http.ResponseWriter, r *http.Request, events Events, heartbeat time.Duration, wanted func(Event) bool) {
	session, err := sse.Upgrade(w, r)
	if err != nil {
		fail(w, http.StatusInternalServerError, "this connection cannot stream; use HTTP/1.1 or HTTP/2 without a buffering proxy")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would otherwise hold events back
	feed := events.Subscribe(r.Context())
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for message := comment("listening"); ; {
		if session.Send(message) != nil || session.Flush() != nil {
			return
		}
		message = nil
		for message == nil {
			select {
			case <-r.Context().Done():
				return
			case <-beat.C:
				message = comment("still here")
			case event, open := <-feed:
				if !open {
					return
				}
				if wanted(event) {
					message = eventMessage(event)
				}
			}
		}
	}
}

func comment(text string) *sse.Message {
	message := &sse.Message{}
	message.AppendComment(text)
	return message
}

func eventMessage(event Event) *sse.Message {
	data, err := json.Marshal(event)
	if err != nil {
		return comment("an event could not be written") // a time beyond year 9999: nothing else can fail
	}
	message := &sse.Message{}
	if kind, err := sse.NewType(event.Kind); err == nil {
		message.Type = kind
	}
	message.AppendData(string(data))
	return message
}
