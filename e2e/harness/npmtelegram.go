package harness

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// NPMTelegram is the Telegram server of the npm package telegram-test-api, which nobody here
// wrote: messages, buttons and edits, by polling.
type NPMTelegram struct {
	url   string
	token string
}

// NewNPMTelegram starts one.
func NewNPMTelegram(t testing.TB) *NPMTelegram {
	t.Helper()
	root, err := Repository()
	if err != nil {
		t.Fatal(err)
	}
	port := Port(t)
	process := start(t, command{
		name: "telegram-test-api", path: "node", dir: filepath.Join(root, "e2e", "telegram"),
		args: []string{"server.js", portText(port)}, env: lines(Surroundings(t)),
	})
	process.AwaitLog(t, "listening")
	return &NPMTelegram{url: URL(port), token: "7000002:AAF-npm_0123456789abcdefghijklmnopq"}
}

// Settings make a worker use it.
func (s *NPMTelegram) Settings() map[string]string {
	return map[string]string{
		"LARACLAW_TELEGRAM_TOKEN": s.token, "COUNTERSIGN_TELEGRAM_MODE": "polling", "COUNTERSIGN_TELEGRAM_API_URL": s.url,
	}
}

// NPMMessage is a message that the bot has sent, as it stands now.
type NPMMessage struct {
	ID      int64
	Text    string
	Buttons []NPMButton
}

// NPMButton is one of an inline keyboard.
type NPMButton struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// Say lets a person write in a chat; a negative chat is a group.
func (s *NPMTelegram) Say(t testing.TB, person, chat int64, text string) {
	t.Helper()
	message := s.meta(person, chat)
	message["text"] = text
	s.post(t, "/sendMessage", message, nil)
}

// Press lets a person press a button under a message.
func (s *NPMTelegram) Press(t testing.TB, person, chat int64, m NPMMessage, label string) {
	t.Helper()
	for _, button := range m.Buttons {
		if button.Text != label {
			continue
		}
		press := s.meta(person, chat)
		on := s.meta(person, chat)
		on["message_id"], on["text"] = m.ID, m.Text
		press["message"], press["data"] = on, button.Data
		s.post(t, "/sendCallback", press, nil)
		return
	}
	t.Fatalf("there is no button %q under %q", label, m.Text)
}

func (s *NPMTelegram) meta(person, chat int64) map[string]any {
	kind := "private"
	if chat < 0 {
		kind = "supergroup"
	}
	return map[string]any{
		"botToken": s.token, "date": time.Now().Unix(),
		"from": map[string]any{"id": person, "first_name": "Somebody", "is_bot": false},
		"chat": map[string]any{"id": chat, "type": kind},
	}
}

// Sent is what the bot has sent to a chat, in order.
func (s *NPMTelegram) Sent(t testing.TB, chat int64) []NPMMessage {
	t.Helper()
	var history struct {
		Result []struct {
			MessageID int64 `json:"messageId"`
			Message   struct {
				ChatID any    `json:"chat_id"` // only the bot's own have it
				Text   string `json:"text"`
				Markup struct {
					Rows [][]NPMButton `json:"inline_keyboard"`
				} `json:"reply_markup"`
			} `json:"message"`
		} `json:"result"`
	}
	s.post(t, "/getUpdatesHistory", map[string]any{"token": s.token}, &history)
	var sent []NPMMessage
	for _, update := range history.Result {
		if id, _ := update.Message.ChatID.(string); id != strconv.FormatInt(chat, 10) {
			continue
		}
		m := NPMMessage{ID: update.MessageID, Text: update.Message.Text}
		for _, row := range update.Message.Markup.Rows {
			m.Buttons = append(m.Buttons, row...)
		}
		sent = append(sent, m)
	}
	return sent
}

// Await waits for a message of the bot, new or edited, that match accepts.
func (s *NPMTelegram) Await(t testing.TB, chat int64, what string, match func(NPMMessage) bool) NPMMessage {
	t.Helper()
	var found NPMMessage
	Until(t, what, func() ([]NPMMessage, bool) {
		sent := s.Sent(t, chat)
		for _, m := range sent {
			if match(m) {
				found = m
				return sent, true
			}
		}
		return sent, false
	})
	return found
}

func (s *NPMTelegram) post(t testing.TB, path string, body, into any) {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("telegram-test-api %s: %v", path, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("telegram-test-api %s: %s", path, response.Status)
	}
	if into != nil {
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			t.Fatalf("telegram-test-api %s: %v", path, err)
		}
	}
}
