package telegramtest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Option changes a message before it is sent: its JSON in the Bot API's form.
type Option func(message map[string]any)

// With sets a field of the message.
func With(field string, value any) Option {
	return func(message map[string]any) { message[field] = value }
}

// ReplyTo makes the message a reply to one of the bot's.
func (s *Server) ReplyTo(m Message) Option {
	s.mu.Lock()
	defer s.mu.Unlock()
	return With("reply_to_message", s.asJSON(&m))
}

// Say lets a person write a text (or, with "", only what the options hold) and
// returns the update's id.
func (s *Server) Say(where Chat, who Person, text string, options ...Option) int64 {
	return s.Push(map[string]any{"message": s.Compose(where, who, text, options...)}, where.ID)
}

// Compose makes a person's message without sending it.
func (s *Server) Compose(where Chat, who Person, text string, options ...Option) map[string]any {
	s.mu.Lock()
	id := s.nextMessage(where.ID)
	s.mu.Unlock()
	message := map[string]any{"message_id": id, "date": time.Now().Unix(), "from": who, "chat": where}
	if text != "" {
		message["text"] = text
	}
	if where.Topic != 0 {
		message["message_thread_id"], message["is_topic_message"] = where.Topic, true
	}
	for _, option := range options {
		option(message)
	}
	return message
}

// Upload puts a file on the server and returns its file_id.
func (s *Server) Upload(name string, content []byte) string {
	return s.put(name, int64(len(content)), content)
}

// Huge is a file that is only said to have that size, in bytes.
func (s *Server) Huge(name string, size int64) (fileID string) { return s.put(name, size, nil) }

func (s *Server) put(name string, size int64, content []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := strconv.Itoa(len(s.files) + 1)
	id := "file-" + n
	s.files[id] = storedFile{path: "documents/file_" + n + "/" + name, size: size, content: content}
	return id
}

// Press lets a person press a button of a message, by its label. It returns the
// update's id and that of the callback query.
func (s *Server) Press(who Person, m Message, label string) (update int64, query string, err error) {
	i := slices.IndexFunc(m.Buttons, func(b Button) bool { return b.Text == label })
	if i < 0 {
		return 0, "", fmt.Errorf("no button %q under %q", label, m.Text)
	}
	update, query = s.PressData(who, m, m.Buttons[i].Data)
	return update, query, nil
}

// PressData is Press with any data, also one that no button has.
func (s *Server) PressData(who Person, m Message, data string) (update int64, query string) {
	s.mu.Lock()
	query = "query-" + strconv.FormatInt(s.updateID+1, 10)
	on := s.asJSON(&m)
	s.mu.Unlock()
	update = s.Push(map[string]any{"callback_query": map[string]any{
		"id": query, "from": who, "message": on, "chat_instance": "1", "data": data,
	}}, m.ChatID)
	return update, query
}

// Expire makes a callback query too old to be answered.
func (s *Server) Expire(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired[query] = true
}

// Answer is what the person was told about a press.
func (s *Server) Answer(query string) (text string, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, answered = s.answers[query]
	return text, answered
}

// Block lets a chat refuse the bot for good.
func (s *Server) Block(chatID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocked[chatID] = true
}

// Migrate turns a group into a supergroup with another id.
func (s *Server) Migrate(from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.migrated[from] = to
}

// Upgrade is Migrate as a person does it, with the two service messages that tell of it.
func (s *Server) Upgrade(by Person, from, to int64) {
	s.Migrate(from, to)
	s.Say(Chat{ID: from, Type: "group"}, by, "", With("migrate_to_chat_id", to))
	s.Say(Chat{ID: to, Type: "supergroup"}, by, "", With("migrate_from_chat_id", from))
}

// Delete removes a message of the bot.
func (s *Server) Delete(chatID, messageID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = slices.DeleteFunc(s.messages, func(m *Message) bool { return m.ChatID == chatID && m.ID == messageID })
}

// Sent is what the bot has sent to a chat, as it stands now.
func (s *Server) Sent(chatID int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent(chatID)
}

func (s *Server) sent(chatID int64) []Message {
	var sent []Message
	for _, m := range s.messages {
		if m.ChatID == chatID {
			sent = append(sent, *m)
		}
	}
	return sent
}

// Await waits for a message of the bot in a chat that match accepts, new or edited.
func (s *Server) Await(ctx context.Context, chatID int64, match func(Message) bool) (Message, error) {
	var found Message
	err := s.await(ctx, func() bool {
		for _, m := range s.sent(chatID) {
			if match(m) {
				found = m
				return true
			}
		}
		return false
	})
	if err != nil {
		return Message{}, fmt.Errorf("waiting for a message in chat %d, which has %s: %w", chatID, describe(s.Sent(chatID)), err)
	}
	return found, nil
}

// AwaitCalls waits until a method was called at least n times, and returns these calls.
func (s *Server) AwaitCalls(ctx context.Context, method string, n int) ([]Call, error) {
	err := s.await(ctx, func() bool { return len(s.called(method)) >= n })
	return s.Calls(method), err
}

// Calls of a method so far, in the order in which they were answered.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.called(method)
}

func (s *Server) called(method string) []Call {
	var calls []Call
	for _, c := range s.calls {
		if c.Method == method {
			calls = append(calls, c)
		}
	}
	return calls
}

// Waiting is the number of updates that nobody has acknowledged.
func (s *Server) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates)
}

// AwaitTaken waits until every update has been acknowledged.
func (s *Server) AwaitTaken(ctx context.Context) error {
	return s.await(ctx, func() bool { return len(s.updates) == 0 })
}

func describe(messages []Message) string {
	var texts []string
	for _, m := range messages {
		texts = append(texts, strconv.Quote(m.Text+m.File))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
