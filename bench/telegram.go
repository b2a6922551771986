package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

// secret is what our Telegram server shows the webhook.
const secret = "bench-webhook-secret"

// ada writes and answers; in her private chat the bot knows her.
var ada = telegramtest.Person{ID: 1001, FirstName: "Ada"}

// post is a message that reached the Telegram server.
type post struct {
	at   time.Time
	text string
	// invocation is the one that the message's buttons decide; empty where it has none.
	invocation string
	markup     string
}

// bot is a Telegram server that notes when a message reaches it.
type bot struct {
	*telegramtest.Server
	http *httptest.Server

	update, message atomic.Int64
	mu              sync.Mutex
	listeners       map[int64]chan post
}

func newBot() *bot {
	b := &bot{Server: telegramtest.New(), listeners: map[int64]chan post{}}
	b.update.Store(1000)
	b.message.Store(1 << 30) // apart from the numbers that the server gives
	b.http = httptest.NewServer(http.HandlerFunc(b.serve))
	return b
}

// URL is the api_url.
func (b *bot) URL() string { return b.http.URL }

// Close ends it.
func (b *bot) Close() {
	b.http.CloseClientConnections()
	b.http.Close()
	b.Server.Close()
}

// listen returns the messages that are sent to a chat from now on.
func (b *bot) listen(chat int64) <-chan post {
	posts := make(chan post, 16)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners[chat] = posts
	return posts
}

// deaf ends what listen began.
func (b *bot) deaf(chat int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.listeners, chat)
}

func (b *bot) serve(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	if !strings.HasSuffix(r.URL.Path, "/sendMessage") {
		b.Faults.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	b.Faults.ServeHTTP(w, r)
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return // the server has refused it
	}
	chat, _ := strconv.ParseInt(form.Get("chat_id"), 10, 64)
	markup := form.Get("reply_markup")
	b.mu.Lock()
	posts := b.listeners[chat]
	b.mu.Unlock()
	select {
	case posts <- post{at: arrived, text: form.Get("text"), markup: markup, invocation: decides(markup)}:
	default: // nobody listens
	}
}

// decides reads the invocation's id out of the data of the button Yes, "y:{id}".
func decides(markup string) string {
	_, rest, found := strings.Cut(markup, `"callback_data":"y:`)
	id, _, _ := strings.Cut(rest, `"`)
	if !found {
		return ""
	}
	return id
}

// says is the update of a person's message.
func (b *bot) says(chat int64, text string) map[string]any {
	return map[string]any{"update_id": b.update.Add(1), "message": map[string]any{
		"message_id": b.message.Add(1), "date": time.Now().Unix(), "from": ada, "chat": place(chat), "text": text,
	}}
}

// presses is the update of a press on the button Yes.
func (b *bot) presses(chat int64, p post) map[string]any {
	n := b.update.Add(1)
	return map[string]any{"update_id": n, "callback_query": map[string]any{
		"id": "query-" + strconv.FormatInt(n, 10), "from": ada, "chat_instance": "1", "data": "y:" + p.invocation,
		"message": map[string]any{"message_id": b.message.Add(1), "date": time.Now().Unix(), "chat": place(chat), "text": p.text},
	}}
}

// place is a private chat or, with a negative id, a group.
func place(chat int64) map[string]any {
	kind := "private"
	if chat < 0 {
		kind = "group"
	}
	return map[string]any{"id": chat, "type": kind}
}
