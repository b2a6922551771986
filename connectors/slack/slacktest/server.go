package slacktest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/countersignhq/countersign/connectors/connectortest"
)

// Message is one that the app has sent, as it stands now.
type Message struct {
	Channel string
	TS      string
	Thread  string // ts of the thread's first message; empty for none
	// Text is the text property as it came, escaped.
	Text string
	// Markup tells whether Slack reads markup in Text.
	Markup bool
	// Blocks as they came.
	Blocks  json.RawMessage
	Plain   []string // the plain texts in the blocks, in order
	Buttons []Button
	// File and Content of a file shown.
	File    string
	Content []byte
	// Edits is how often it was edited.
	Edits int
}

// Shown is what a person reads.
func (m Message) Shown() string {
	if len(m.Plain) > 0 {
		return strings.Join(m.Plain, "\n")
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(m.Text)
}

// Button under a message.
type Button struct {
	Label, ActionID, BlockID, Value string
}

// Whisper is a message that only its person sees.
type Whisper struct {
	Channel, User, Thread, Text string
}

// Call is one call of a method, also a failed one.
type Call struct {
	Method string
	Params map[string]string
	// Error is the code that was answered; empty for success.
	Error string
}

// Server is a Slack. Its methods may be called from several goroutines.
type Server struct {
	// The secrets of the app.
	BotToken, AppToken, SigningSecret string
	// Team is the workspace, User the app's own user in it, Scopes those of the bot token.
	Team, User, Scopes string
	// Faults makes calls misbehave; see Server.Break.
	Faults *connectortest.Faults
	// Resend is the pause before an event is sent again, three times at most.
	Resend time.Duration

	http  *httptest.Server
	ctx   context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu        sync.Mutex
	changed   chan struct{}
	clock     int64 // of the last ts, in microseconds
	sequence  int
	channels  map[string]string // by user: their direct messages
	refusals  map[string]string // by channel or user: the error code
	messages  []*Message
	whispers  []Whisper
	reactions []string // "channel/ts name"
	calls     []Call
	files     map[string]*file
	gateway   string
	waiting   int // events that are under way to the gateway
	deliver   []Delivery
	sockets   []*socket
	envelopes []envelope
}

// New starts a server on a free port of 127.0.0.1. U01 is a person of its workspace T01.
func New() *Server {
	ctx, end := context.WithCancel(context.Background())
	s := &Server{
		BotToken:      "xoxb-1001-2002-slacktestBotTokenAbcdef",
		AppToken:      "xapp-1-A01-3003-slacktestAppTokenAbcdef",
		SigningSecret: "slacktest0123456789signing0secret",
		Team:          "T01", User: "U0BOT",
		Scopes: "app_mentions:read,channels:history,chat:write,files:read,files:write,groups:history," +
			"im:history,im:write,mpim:history,reactions:write",
		Resend: 100 * time.Millisecond,
		ctx:    ctx, end: end, clock: time.Now().UnixMicro(),
		channels: map[string]string{}, refusals: map[string]string{}, files: map[string]*file{},
	}
	s.Faults = connectortest.NewFaults(http.HandlerFunc(s.serve))
	s.http = httptest.NewServer(s.Faults)
	return s
}

// URL is the api_url of the server.
func (s *Server) URL() string { return s.http.URL + "/api" }

// Close ends the server and what it is sending.
func (s *Server) Close() {
	s.end()
	s.mu.Lock()
	for _, socket := range s.sockets {
		socket.close()
	}
	s.wake()
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
	s.tasks.Wait()
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch method := methodOf(r.URL.Path); {
	case method == "upload":
		s.takeUpload(w, r)
	case method == "file":
		s.handOut(w, r)
	case r.URL.Path == "/socket":
		s.openSocket(w, r)
	case r.URL.Path == "/signin":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><html><title>Sign in</title></html>")
	case strings.HasPrefix(r.URL.Path, "/api/"):
		s.api(w, r, method)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// Refuse makes a channel (or a user's direct messages) answer with an error code from
// now on, e.g. "channel_not_found" or "is_archived".
func (s *Server) Refuse(channelOrUser, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals[channelOrUser] = code
	if dm := s.channels[channelOrUser]; dm != "" {
		s.refusals[dm] = code
	}
}

// DM is the channel of a user's direct messages with the app.
func (s *Server) DM(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dm(user)
}

// dm needs s.mu to be held. U01 has D01.
func (s *Server) dm(user string) string {
	if s.channels[user] == "" {
		s.channels[user] = "D" + user[1:]
	}
	return s.channels[user]
}

// nextTS is now, as a ts that is later than all before; s.mu is held.
func (s *Server) nextTS() string {
	s.clock = max(s.clock+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.clock/1e6, s.clock%1e6)
}

// id makes an id of that kind; s.mu is held.
func (s *Server) id(kind string) string {
	s.sequence++
	return kind + strconv.Itoa(1000+s.sequence)
}

// Sent is what the app has sent to a channel, as it stands now.
func (s *Server) Sent(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent(channel)
}

func (s *Server) sent(channel string) []Message {
	var sent []Message
	for _, m := range s.messages {
		if m.Channel == channel {
			sent = append(sent, *m)
		}
	}
	return sent
}

// Delete removes a message of the app.
func (s *Server) Delete(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = slices.DeleteFunc(s.messages, func(m *Message) bool { return m.Channel == channel && m.TS == ts })
}

// Await waits for a message of the app in a channel that match accepts, new or edited.
func (s *Server) Await(ctx context.Context, channel string, match func(Message) bool) (Message, error) {
	var found Message
	err := s.await(ctx, func() bool {
		for _, m := range s.sent(channel) {
			if match(m) {
				found = m
				return true
			}
		}
		return false
	})
	if err != nil {
		return Message{}, fmt.Errorf("waiting for a message in channel %s: %w", channel, err)
	}
	return found, nil
}

// AwaitWhispers waits until at least n whispers were sent, and returns them.
func (s *Server) AwaitWhispers(ctx context.Context, n int) ([]Whisper, error) {
	err := s.await(ctx, func() bool { return len(s.whispers) >= n })
	return s.Whispers(), err
}

// Whispers sent so far.
func (s *Server) Whispers() []Whisper {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.whispers)
}

// Reactions of the app so far, as "channel/ts name".
func (s *Server) Reactions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reactions)
}

// Calls of a method so far, in the order in which they were answered.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []Call
	for _, c := range s.calls {
		if c.Method == method {
			calls = append(calls, c)
		}
	}
	return calls
}

// wake tells everyone who waits that something has changed; s.mu is held.
func (s *Server) wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// await waits until condition, called with s.mu held, is true.
func (s *Server) await(ctx context.Context, condition func() bool) error {
	for {
		s.mu.Lock()
		if condition() {
			s.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
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
