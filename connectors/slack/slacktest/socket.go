package slacktest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// pingEvery is how often Slack pings a socket; without that a client gives it up.
const pingEvery = 5 * time.Second

// socket is one connection in socket mode.
type socket struct {
	mu   sync.Mutex // one writer at a time
	conn *websocket.Conn
}

func (k *socket) write(value any) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.conn.WriteJSON(value)
}

func (k *socket) close() { _ = k.conn.Close() }

// envelope waits for its acknowledgement.
type envelope struct {
	id   string
	kind Kind
	body map[string]any
}

// queue sends a payload over a socket, now or when there is one; s.mu is held.
func (s *Server) queue(kind Kind, payload map[string]any) {
	e := envelope{id: s.id("env-"), kind: kind, body: payload}
	s.envelopes = append(s.envelopes, e)
	s.tasks.Go(func() { s.offer(e.id) })
}

// offer sends an envelope until it is acknowledged; a press is sent once per socket.
func (s *Server) offer(id string) {
	for tries := 0; ; tries++ {
		var to *socket
		var e envelope
		err := s.await(s.ctx, func() bool {
			i := slices.IndexFunc(s.envelopes, func(e envelope) bool { return e.id == id })
			if i < 0 {
				return true
			}
			if len(s.sockets) > 0 {
				to, e = s.sockets[0], s.envelopes[i]
			}
			return to != nil
		})
		if err != nil || to == nil {
			return
		}
		kind := "events_api"
		if e.kind == Interactive {
			kind = "interactive"
		}
		_ = to.write(object{
			"envelope_id": e.id, "type": kind, "payload": e.body, "accepts_response_payload": false,
			"retry_attempt": tries, "retry_reason": "",
		})
		again, cancel := context.WithTimeout(s.ctx, s.Resend)
		err = s.await(again, func() bool {
			return !slices.ContainsFunc(s.envelopes, func(e envelope) bool { return e.id == id })
		})
		cancel()
		if err == nil || s.ctx.Err() != nil {
			return
		}
	}
}

func (s *Server) openSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := (&websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}).Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	k := &socket{conn: conn}
	defer k.close()
	_ = k.write(object{"type": "hello", "num_connections": 1, "connection_info": object{"app_id": "A01"}})
	s.mu.Lock()
	s.sockets = append(s.sockets, k)
	s.wake()
	s.mu.Unlock()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	gone := make(chan struct{})
	defer close(gone)
	s.tasks.Go(func() {
		for {
			_ = conn.WriteControl(websocket.PingMessage, []byte("ping"), time.Now().Add(time.Second))
			select {
			case <-ping.C:
			case <-gone:
				return
			}
		}
	})
	for {
		var answer struct {
			ID string `json:"envelope_id"`
		}
		_, content, err := conn.ReadMessage()
		if err == nil {
			err = json.Unmarshal(content, &answer)
		}
		s.mu.Lock()
		if err != nil {
			s.sockets = slices.DeleteFunc(s.sockets, func(other *socket) bool { return other == k })
		} else {
			s.envelopes = slices.DeleteFunc(s.envelopes, func(e envelope) bool { return e.id == answer.ID })
		}
		s.wake()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Raw writes anything to the open sockets.
func (s *Server) Raw(value any) {
	s.mu.Lock()
	sockets := slices.Clone(s.sockets)
	s.mu.Unlock()
	for _, k := range sockets {
		_ = k.write(value)
	}
}

// Hangup closes the sockets, as a broken network does.
func (s *Server) Hangup() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.sockets {
		k.close()
	}
}

// AwaitSocket waits until a socket is open.
func (s *Server) AwaitSocket(ctx context.Context) error {
	return s.await(ctx, func() bool { return len(s.sockets) > 0 })
}
