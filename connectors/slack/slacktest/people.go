package slacktest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Option changes an event before it is sent: the inner event in Slack's form.
type Option func(event map[string]any)

// With sets a field of the event; nil takes it away.
func With(field string, value any) Option {
	return func(event map[string]any) {
		if event[field] = value; value == nil {
			delete(event, field)
		}
	}
}

// In puts the message into a thread that somebody began.
func In(root, author string) Option {
	return func(event map[string]any) { event["thread_ts"], event["parent_user_id"] = root, author }
}

// Under puts the message into the thread under one of the app's.
func (s *Server) Under(m Message) Option { return In(m.TS, s.User) }

// Compose makes the envelope of a person's message without sending it. Channels that
// begin with D are direct messages.
func (s *Server) Compose(channel, user, text string, options ...Option) map[string]any {
	s.mu.Lock()
	ts := s.nextTS()
	if strings.HasPrefix(channel, "D") {
		s.channels[user] = channel
	}
	s.mu.Unlock()
	return s.Envelope(channel, user, text, ts, options...)
}

// Envelope is Compose with a ts.
func (s *Server) Envelope(channel, user, text, ts string, options ...Option) map[string]any {
	event := map[string]any{
		"type": "message", "channel": channel, "user": user, "text": text, "ts": ts, "event_ts": ts, "team": s.Team,
	}
	switch channel[0] {
	case 'D':
		event["channel_type"] = "im"
	case 'G':
		event["channel_type"] = "group"
	default:
		event["channel_type"] = "channel"
	}
	for _, option := range options {
		option(event)
	}
	return map[string]any{
		"token": "x", "team_id": s.Team, "api_app_id": "A01", "type": "event_callback", "event": event,
		"event_id": "Ev" + strings.ReplaceAll(ts, ".", ""), "event_time": time.Now().Unix(),
		"authorizations": []any{map[string]any{
			"enterprise_id": nil, "team_id": s.Team, "user_id": s.User, "is_bot": true, "is_enterprise_install": false,
		}},
	}
}

// Say lets a person write, sends the event to the gateway or over the socket, and returns
// the message's ts.
func (s *Server) Say(channel, user, text string, options ...Option) string {
	envelope := s.Compose(channel, user, text, options...)
	s.Send(Events, envelope)
	event, _ := envelope["event"].(map[string]any)
	ts, _ := event["ts"].(string)
	return ts
}

// Press lets a person of the workspace press a button of a message, by its label.
func (s *Server) Press(user string, m Message, label string, options ...Option) error {
	payload, err := s.ComposePress(user, m, label, options...)
	if err == nil {
		s.Send(Interactive, payload)
	}
	return err
}

// ComposePress makes the payload of a press without sending it.
func (s *Server) ComposePress(user string, m Message, label string, options ...Option) (map[string]any, error) {
	i := slices.IndexFunc(m.Buttons, func(b Button) bool { return b.Label == label })
	if i < 0 {
		return nil, fmt.Errorf("no button %q under %q", label, m.Shown())
	}
	b := m.Buttons[i]
	s.mu.Lock()
	at := s.nextTS()
	s.mu.Unlock()
	container := map[string]any{"type": "message", "message_ts": m.TS, "channel_id": m.Channel, "is_ephemeral": false}
	message := map[string]any{"type": "message", "ts": m.TS, "text": m.Text, "bot_id": "B0BOT"}
	if m.Thread != "" {
		container["thread_ts"], message["thread_ts"] = m.Thread, m.Thread
	}
	payload := map[string]any{
		"type": "block_actions", "api_app_id": "A01", "token": "x", "trigger_id": "1.2." + at,
		"user":         map[string]any{"id": user, "username": strings.ToLower(user), "name": strings.ToLower(user), "team_id": s.Team},
		"team":         map[string]any{"id": s.Team, "domain": "slacktest"},
		"channel":      map[string]any{"id": m.Channel, "name": "x"},
		"container":    container,
		"message":      message,
		"response_url": s.http.URL + "/response/" + m.TS,
		"actions": []any{map[string]any{
			"type": "button", "action_id": b.ActionID, "block_id": b.BlockID, "value": b.Value, "action_ts": at,
			"text": map[string]any{"type": "plain_text", "text": b.Label},
		}},
	}
	for _, option := range options {
		option(payload)
	}
	return payload, nil
}

// AwaitTaken waits until everything sent has been acknowledged, or was sent often enough.
func (s *Server) AwaitTaken(ctx context.Context) error {
	return s.await(ctx, func() bool { return s.waiting == 0 && len(s.envelopes) == 0 })
}

// encode is JSON, which cannot fail here.
func encode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic("slacktest: " + err.Error())
	}
	return content
}
