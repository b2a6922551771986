package telegramtest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/countersignhq/countersign/connectors/connectortest"
)

// Person writes and presses.
type Person struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	Username  string `json:"username,omitempty"`
}

// Chat is a place to write in.
type Chat struct {
	ID   int64  `json:"id"`
	Type string `json:"type"` // private, group, supergroup or channel
	// Topic of a forum; 0 is none.
	Topic int64 `json:"-"`
}

// Private is the person's private chat with the bot.
func Private(p Person) Chat { return Chat{ID: p.ID, Type: "private"} }

// Message is one that the bot has sent, as it stands now.
type Message struct {
	ID      int64
	ChatID  int64
	Topic   int64
	Method  string // the method that sent it
	Text    string
	Buttons []Button
	ReplyTo int64
	// File and Content of a file sent.
	File    string
	Content []byte
	// Edits is how often it was edited.
	Edits int
}

// Button of an inline keyboard.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// Call is one call of a method, also a failed one.
type Call struct {
	Method string
	Params map[string]string
	// Status and Description of the answer.
	Status      int
	Description string
}

// Server is a Telegram Bot API server. Its methods may be called from several goroutines.
type Server struct {
	// Token that the server accepts.
	Token string
	// Bot is who getMe says it is.
	Bot Person
	// Faults makes calls misbehave; see Server.Break.
	Faults *connectortest.Faults
	// Resend is the first pause before a webhook call is made again; it doubles, up to 20 times that.
	Resend time.Duration

	http  *httptest.Server
	ctx   context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{}
	lastID   map[int64]int64 // message ids, by chat
	updateID int64
	messages []*Message
	calls    []Call
	blocked  map[int64]bool
	migrated map[int64]int64
	files    map[string]storedFile
	expired  map[string]bool // callback queries too old to answer
	answers  map[string]string
	updates  []Update
	polling  bool
	webhook  hook
}

type storedFile struct {
	path    string
	size    int64
	content []byte
}

// New starts a server on a free port of 127.0.0.1.
func New() *Server {
	ctx, end := context.WithCancel(context.Background())
	s := &Server{
		Token:  "7000001:AAF-telegramtest_0123456789abcdefghij",
		Bot:    Person{ID: 7000001, IsBot: true, FirstName: "Countersign", Username: "countersign_test_bot"},
		Resend: 100 * time.Millisecond,
		ctx:    ctx, end: end,
		lastID: map[int64]int64{}, updateID: 5000, blocked: map[int64]bool{}, migrated: map[int64]int64{},
		files: map[string]storedFile{}, expired: map[string]bool{}, answers: map[string]string{},
	}
	s.Faults = connectortest.NewFaults(http.HandlerFunc(s.serve))
	s.Faults.Limited = func(w http.ResponseWriter, retryAfter time.Duration) {
		seconds := int(retryAfter / time.Second)
		refuse(w, apiError{
			code: http.StatusTooManyRequests, text: "Too Many Requests: retry after " + strconv.Itoa(seconds),
			parameters: map[string]int64{"retry_after": int64(seconds)},
		})
	}
	s.http = httptest.NewServer(s.Faults)
	return s
}

// URL is the api_url of the server.
func (s *Server) URL() string { return s.http.URL }

// Close ends the server and its webhook calls.
func (s *Server) Close() {
	s.end()
	s.mu.Lock()
	s.wake()
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
	s.tasks.Wait()
}

// Break plans a fault for the next call of one of these methods ("file" is the
// download of a file); none means any.
func (s *Server) Break(fault connectortest.Fault, methods ...string) {
	s.Faults.Break(func(r *http.Request) bool {
		method, _ := methodOf(r.URL.Path)
		return len(methods) == 0 || slices.Contains(methods, method)
	}, fault)
}

// methodOf reads the path: /bot{token}/{method} or /file/bot{token}/{path}.
func methodOf(path string) (method, token string) {
	if rest, isFile := strings.CutPrefix(path, "/file/bot"); isFile {
		token, _, _ = strings.Cut(rest, "/")
		return "file", token
	}
	rest, _ := strings.CutPrefix(path, "/bot")
	token, method, _ = strings.Cut(rest, "/")
	return method, token
}

// wake tells everyone who waits that something has changed; s.mu is held.
func (s *Server) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// wait returns a channel that is closed at the next change; s.mu is held.
func (s *Server) wait() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// await waits until condition, called with s.mu held, is true.
func (s *Server) await(ctx context.Context, condition func() bool) error {
	for {
		s.mu.Lock()
		if condition() {
			s.mu.Unlock()
			return nil
		}
		changed := s.wait()
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
}

// apiError is a refusal in the Bot API's form.
type apiError struct {
	code       int
	text       string
	parameters map[string]int64
}

func refuse(w http.ResponseWriter, e apiError) {
	body := map[string]any{"ok": false, "error_code": e.code, "description": e.text}
	if e.parameters != nil {
		body["parameters"] = e.parameters
	}
	writeJSON(w, e.code, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
