package slacktest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of chat.postMessage and of Block Kit, in characters.
const (
	maxText    = 4000 // recommended; Slack cuts at 40 000
	maxSection = 3000
	maxID      = 255
	maxValue   = 2000
	maxLabel   = 75
)

// object is an answer in JSON.
type object map[string]any

// api answers one call of a method.
func (s *Server) api(w http.ResponseWriter, r *http.Request, method string) {
	params, code := s.params(r)
	var answer object
	if code == "" && params["token"] != s.tokenFor(method) {
		code = "invalid_auth"
	}
	if code == "" {
		answer, code = s.call(method, params)
	}
	delete(params, "token")
	s.mu.Lock()
	s.calls = append(s.calls, Call{Method: method, Params: params, Error: code})
	s.wake()
	s.mu.Unlock()
	w.Header().Set("X-OAuth-Scopes", s.Scopes)
	if code != "" {
		answer = object{"ok": false, "error": code}
		if code == "missing_scope" {
			answer["needed"], answer["provided"] = "im:write", s.Scopes
		}
	} else {
		answer["ok"] = true
	}
	writeJSON(w, answer)
}

func (s *Server) tokenFor(method string) string {
	if method == "apps.connections.open" {
		return s.AppToken
	}
	return s.BotToken
}

// params reads a form or a JSON object; the token is that of the form or the header.
func (s *Server) params(r *http.Request) (map[string]string, string) {
	params := map[string]string{}
	if bearer, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		params["token"] = bearer
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil && r.ContentLength > 0 {
			return params, "invalid_json"
		}
		for key, raw := range body {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			params[key] = text
		}
		return params, ""
	}
	if err := r.ParseForm(); err != nil {
		return params, "invalid_form_data"
	}
	for key := range r.Form {
		params[key] = r.Form.Get(key)
	}
	return params, ""
}

func (s *Server) call(method string, p map[string]string) (object, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case "auth.test":
		return object{"url": s.http.URL, "team": "Slacktest", "team_id": s.Team, "user": "countersign", "user_id": s.User, "bot_id": "B0BOT"}, ""
	case "conversations.open":
		user := p["users"]
		if user == "" || (user[0] != 'U' && user[0] != 'W') {
			return nil, "user_not_found"
		}
		if code := s.refusals[user]; code != "" {
			return nil, code
		}
		return object{"channel": object{"id": s.dm(user)}}, ""
	case "chat.postMessage":
		return s.post(p)
	case "chat.update":
		return s.update(p)
	case "chat.postEphemeral":
		return s.whisper(p)
	case "reactions.add":
		return s.react(p)
	case "files.info":
		f := s.files[p["file"]]
		if f == nil {
			return nil, "file_not_found"
		}
		return object{"file": f.info(s.http.URL)}, ""
	case "files.getUploadURLExternal":
		return s.uploadURL(p)
	case "files.completeUploadExternal":
		return s.completeUpload(p)
	case "apps.connections.open":
		return object{"url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/socket?ticket=" + s.id("k")}, ""
	default:
		return nil, "unknown_method"
	}
}

// reachable resolves a channel or a user's id to a channel, or says why it can not be written to.
func (s *Server) reachable(channel string) (string, string) {
	if channel == "" {
		return "", "channel_not_found"
	}
	if channel[0] == 'U' || channel[0] == 'W' {
		if code := s.refusals[channel]; code != "" {
			return "", code
		}
		channel = s.dm(channel)
	}
	return channel, s.refusals[channel]
}

func (s *Server) post(p map[string]string) (object, string) {
	channel, code := s.reachable(p["channel"])
	if code != "" {
		return nil, code
	}
	m := &Message{Channel: channel, TS: s.nextTS(), Thread: p["thread_ts"], Markup: p["mrkdwn"] != "false"}
	if m.Thread != "" && !strings.Contains(m.Thread, ".") {
		return nil, "invalid_thread_ts"
	}
	if code := fill(m, p); code != "" {
		return nil, code
	}
	s.messages = append(s.messages, m)
	s.wake()
	return object{"channel": channel, "ts": m.TS, "message": object{"type": "message", "text": m.Text, "bot_id": "B0BOT"}}, ""
}

func (s *Server) update(p map[string]string) (object, string) {
	channel, code := s.reachable(p["channel"])
	if code != "" {
		return nil, code
	}
	for _, m := range s.messages {
		if m.Channel == channel && m.TS == p["ts"] {
			if code := fill(m, p); code != "" {
				return nil, code
			}
			m.Edits++
			s.wake()
			return object{"channel": channel, "ts": m.TS, "text": m.Text}, ""
		}
	}
	return nil, "message_not_found"
}

func (s *Server) whisper(p map[string]string) (object, string) {
	channel, code := s.reachable(p["channel"])
	switch {
	case code != "":
		return nil, code
	case p["user"] == "":
		return nil, "user_not_in_channel"
	case p["text"] == "":
		return nil, "no_text"
	}
	s.whispers = append(s.whispers, Whisper{Channel: channel, User: p["user"], Thread: p["thread_ts"], Text: p["text"]})
	s.wake()
	return object{"message_ts": s.nextTS()}, ""
}

func (s *Server) react(p map[string]string) (object, string) {
	reaction := p["channel"] + "/" + p["timestamp"] + " " + p["name"]
	for _, r := range s.reactions {
		if r == reaction {
			return nil, "already_reacted"
		}
	}
	s.reactions = append(s.reactions, reaction)
	s.wake()
	return object{}, ""
}

// fill reads text and blocks as Slack does, or says what Slack would not take.
func fill(m *Message, p map[string]string) string {
	m.Text, m.Blocks, m.Plain, m.Buttons = p["text"], nil, nil, nil
	if strings.TrimSpace(m.Text) == "" && p["blocks"] == "" {
		return "no_text"
	}
	if utf8.RuneCountInString(m.Text) > maxText {
		return "msg_too_long"
	}
	if p["blocks"] == "" {
		return ""
	}
	type text struct {
		Type, Text string
	}
	var blocks []struct {
		Type     string
		BlockID  string `json:"block_id"`
		Text     *text
		Elements []struct {
			Type, Value string
			ActionID    string `json:"action_id"`
			Text        text
		}
	}
	if json.Unmarshal([]byte(p["blocks"]), &blocks) != nil || len(blocks) > 50 {
		return "invalid_blocks_format"
	}
	m.Blocks = json.RawMessage(p["blocks"])
	for _, b := range blocks {
		if len(b.BlockID) > maxID {
			return "invalid_blocks"
		}
		switch b.Type {
		case "section":
			if b.Text == nil || b.Text.Type != "plain_text" || b.Text.Text == "" || escapedLength(b.Text.Text) > maxSection {
				return "invalid_blocks"
			}
			m.Plain = append(m.Plain, b.Text.Text)
		case "actions":
			for _, e := range b.Elements {
				if e.Type != "button" || e.ActionID == "" || len(e.ActionID) > maxID || len(e.Value) > maxValue ||
					e.Text.Text == "" || utf8.RuneCountInString(e.Text.Text) > maxLabel {
					return "invalid_blocks"
				}
				m.Buttons = append(m.Buttons, Button{Label: e.Text.Text, ActionID: e.ActionID, BlockID: b.BlockID, Value: e.Value})
			}
		default:
			return "invalid_blocks"
		}
	}
	return ""
}

func escapedLength(text string) int {
	return utf8.RuneCountInString(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text))
}

func writeJSON(w http.ResponseWriter, body object) {
	content, err := json.Marshal(body)
	if err != nil {
		panic("slacktest: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content)
}
