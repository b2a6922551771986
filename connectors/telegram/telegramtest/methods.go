package telegramtest

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of the Bot API.
const (
	maxText     = 4096
	maxData     = 64
	maxDownload = 20 << 20
	maxUpload   = 50 << 20
)

// request is one call, decoded.
type request struct {
	*http.Request
	params  map[string]string
	file    string
	field   string
	content []byte
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	method, token := methodOf(r.URL.Path)
	if token != s.Token {
		refuse(w, apiError{code: http.StatusUnauthorized, text: "Unauthorized"})
		return
	}
	if method == "file" {
		s.serveFile(w, r)
		return
	}
	in, problem := decode(r)
	var result any
	if problem == nil {
		result, problem = s.call(method, in)
	}
	call := Call{Method: method, Params: in.params, Status: http.StatusOK}
	if problem != nil {
		call.Status, call.Description = problem.code, problem.text
	}
	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.wake()
	s.mu.Unlock()
	if problem != nil {
		refuse(w, *problem)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

func bad(text string) *apiError {
	return &apiError{code: http.StatusBadRequest, text: "Bad Request: " + text}
}

// decode reads parameters from a form, from multipart or from JSON.
func decode(r *http.Request) (request, *apiError) {
	in := request{Request: r, params: map[string]string{}}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return in, bad("can't parse JSON")
		}
		for key, raw := range body {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			in.params[key] = text
		}
		return in, nil
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		if err := r.ParseForm(); err != nil {
			return in, bad("can't parse form")
		}
		for key := range r.Form {
			in.params[key] = r.Form.Get(key)
		}
		return in, nil
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return in, bad("can't parse multipart")
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return in, nil
		}
		if err != nil {
			return in, bad("can't parse multipart")
		}
		content, err := io.ReadAll(io.LimitReader(part, maxUpload+1))
		if err != nil {
			return in, bad("can't read multipart")
		}
		switch {
		case len(content) > maxUpload:
			return in, &apiError{code: http.StatusRequestEntityTooLarge, text: "Request Entity Too Large"}
		case part.FileName() != "":
			in.field, in.file, in.content = part.FormName(), part.FileName(), content
		default:
			in.params[part.FormName()] = string(content)
		}
	}
}

func (s *Server) call(method string, in request) (any, *apiError) {
	switch method {
	case "getMe":
		return s.Bot, nil
	case "getUpdates":
		return s.poll(in)
	case "setWebhook", "deleteWebhook":
		return s.setWebhook(in)
	case "getWebhookInfo":
		s.mu.Lock()
		defer s.mu.Unlock()
		return map[string]any{"url": s.webhook.url, "pending_update_count": len(s.updates)}, nil
	case "sendMessage":
		return s.send(method, in)
	case "sendPhoto", "sendDocument", "sendVoice", "sendAudio", "sendVideo":
		if want := strings.ToLower(strings.TrimPrefix(method, "send")); in.field != want || len(in.content) == 0 {
			return nil, bad("there is no " + want + " in the request")
		}
		return s.send(method, in)
	case "editMessageText":
		return s.edit(in)
	case "answerCallbackQuery":
		return s.answerCallback(in)
	case "getFile":
		return s.file(in)
	default:
		return nil, &apiError{code: http.StatusNotFound, text: "Not Found: method not found"}
	}
}

func (s *Server) send(method string, in request) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chatID, problem := s.reachable(in.params["chat_id"])
	if problem != nil {
		return nil, problem
	}
	m := &Message{ChatID: chatID, Method: method, Text: in.params["text"], File: in.file, Content: in.content}
	if method != "sendMessage" {
		m.Text = in.params["caption"]
	} else if problem := checkText(m.Text); problem != nil {
		return nil, problem
	}
	if topic := in.params["message_thread_id"]; topic != "" {
		if m.Topic, _ = strconv.ParseInt(topic, 10, 64); m.Topic <= 1 {
			return nil, bad("message thread not found")
		}
	}
	if m.Buttons, problem = readKeyboard(in.params["reply_markup"]); problem != nil {
		return nil, problem
	}
	if reply := in.params["reply_parameters"]; reply != "" {
		var to struct {
			ID int64 `json:"message_id"`
		}
		if json.Unmarshal([]byte(reply), &to) != nil {
			return nil, bad("can't parse reply parameters JSON object")
		}
		m.ReplyTo = to.ID
	}
	m.ID = s.nextMessage(chatID)
	s.messages = append(s.messages, m)
	return s.asJSON(m), nil
}

// reachable is the chat to write to; s.mu is held.
func (s *Server) reachable(text string) (int64, *apiError) {
	chatID, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || chatID == 0:
		return 0, bad("chat not found")
	case s.blocked[chatID]:
		return 0, &apiError{code: http.StatusForbidden, text: "Forbidden: bot was blocked by the user"}
	case s.migrated[chatID] != 0:
		return 0, &apiError{
			code: http.StatusBadRequest, text: "Bad Request: group chat was upgraded to a supergroup chat",
			parameters: map[string]int64{"migrate_to_chat_id": s.migrated[chatID]},
		}
	}
	return chatID, nil
}

func checkText(text string) *apiError {
	switch {
	case !utf8.ValidString(text):
		return bad("strings must be encoded in UTF-8")
	case strings.TrimSpace(text) == "":
		return bad("message text is empty")
	case len(utf16.Encode([]rune(text))) > maxText:
		return bad("message is too long")
	}
	return nil
}

func readKeyboard(markup string) ([]Button, *apiError) {
	if markup == "" {
		return nil, nil
	}
	var keyboard struct {
		Rows [][]Button `json:"inline_keyboard"`
	}
	if json.Unmarshal([]byte(markup), &keyboard) != nil {
		return nil, bad("can't parse reply keyboard markup JSON object")
	}
	var buttons []Button
	for _, row := range keyboard.Rows {
		for _, b := range row {
			if b.Text == "" || b.Data == "" || len(b.Data) > maxData {
				return nil, bad("BUTTON_DATA_INVALID")
			}
			buttons = append(buttons, b)
		}
	}
	return buttons, nil
}

func (s *Server) edit(in request) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chatID, problem := s.reachable(in.params["chat_id"])
	if problem != nil {
		return nil, problem
	}
	id, _ := strconv.ParseInt(in.params["message_id"], 10, 64)
	m := s.find(chatID, id)
	if m == nil {
		return nil, bad("message to edit not found")
	}
	text := in.params["text"]
	if problem := checkText(text); problem != nil {
		return nil, problem
	}
	buttons, problem := readKeyboard(in.params["reply_markup"])
	if problem != nil {
		return nil, problem
	}
	if m.Text == text && equal(m.Buttons, buttons) {
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same " +
			"as a current content and reply markup of the message")
	}
	m.Text, m.Buttons = text, buttons
	m.Edits++
	return s.asJSON(m), nil
}

func equal(a, b []Button) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (s *Server) answerCallback(in request) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := in.params["callback_query_id"]
	if s.expired[id] {
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	}
	s.answers[id] = in.params["text"]
	return true, nil
}

func (s *Server) file(in request) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, known := s.files[in.params["file_id"]]
	if !known {
		return nil, bad("wrong file_id or the file is temporarily unavailable")
	}
	if f.size > maxDownload {
		return nil, bad("file is too big")
	}
	return map[string]any{"file_id": in.params["file_id"], "file_size": f.size, "file_path": f.path}, nil
}

func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	_, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/file/bot"), "/")
	s.mu.Lock()
	var content []byte
	found := false
	for _, f := range s.files {
		if f.path == rest {
			content, found = f.content, true
		}
	}
	s.mu.Unlock()
	if !found {
		refuse(w, apiError{code: http.StatusNotFound, text: "Not Found"})
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content)
}

// asJSON is a message in the Bot API's form; s.mu is held.
func (s *Server) asJSON(m *Message) map[string]any {
	out := map[string]any{
		"message_id": m.ID, "date": time.Now().Unix(), "from": s.Bot,
		"chat": Chat{ID: m.ChatID, Type: typeOf(m.ChatID)}, "text": m.Text,
	}
	if m.Topic != 0 {
		out["message_thread_id"], out["is_topic_message"] = m.Topic, true
	}
	if m.File != "" {
		out["document"] = map[string]any{"file_id": "sent-" + strconv.FormatInt(m.ID, 10), "file_name": path.Base(m.File)}
	}
	return out
}

func typeOf(chatID int64) string {
	if chatID > 0 {
		return "private"
	}
	return "supergroup"
}

// nextMessage counts message ids; s.mu is held.
func (s *Server) nextMessage(chatID int64) int64 {
	s.lastID[chatID]++
	return s.lastID[chatID]
}

// find is a message of the bot that was not deleted; s.mu is held.
func (s *Server) find(chatID, id int64) *Message {
	for _, m := range s.messages {
		if m.ChatID == chatID && m.ID == id {
			return m
		}
	}
	return nil
}
