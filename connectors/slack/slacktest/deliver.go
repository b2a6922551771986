package slacktest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Kind of what Slack sends.
type Kind string

// The kinds, and the paths they go to below the gateway's address.
const (
	Events      Kind = "/slack/webhook"
	Interactive Kind = "/slack/interactivity"
)

// maxResends is how often Slack sends an event again; a press is sent once.
const maxResends = 3

// Delivery is one call of the gateway.
type Delivery struct {
	Kind   Kind
	Resend int // 0 for the first
	Status int // 0 if there was no answer
}

// Gateway is where events and presses go to from now on; "" for nowhere.
func (s *Server) Gateway(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gateway = address
}

// Deliveries so far, in the order in which they were answered.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Delivery(nil), s.deliver...)
}

// Send sends a payload to the gateway or, where there is none, over a socket. It does not
// wait for it to be taken; see AwaitTaken.
func (s *Server) Send(kind Kind, payload map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gateway == "" {
		s.queue(kind, payload)
		return
	}
	s.waiting++
	to := s.gateway + string(kind)
	s.tasks.Go(func() { s.push(to, kind, payload) })
}

// push calls the gateway until it answers with 2xx or the resends are used up.
func (s *Server) push(to string, kind Kind, payload map[string]any) {
	defer func() {
		s.mu.Lock()
		s.waiting--
		s.wake()
		s.mu.Unlock()
	}()
	for resend := 0; ; resend++ {
		status := s.try(to, kind, payload, resend)
		s.mu.Lock()
		s.deliver = append(s.deliver, Delivery{Kind: kind, Resend: resend, Status: status})
		s.wake()
		s.mu.Unlock()
		if status/100 == 2 || kind == Interactive || resend == maxResends {
			return
		}
		timer := time.NewTimer(s.Resend)
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (s *Server) try(to string, kind Kind, payload map[string]any, resend int) int {
	body, contentType := Body(kind, payload)
	request, err := s.Request(s.ctx, to, contentType, body)
	if err != nil {
		return 0
	}
	if resend > 0 {
		request.Header.Set("X-Slack-Retry-Num", strconv.Itoa(resend))
		request.Header.Set("X-Slack-Retry-Reason", "http_error")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// Body is a payload as it goes over HTTP: events as JSON, presses in a form.
func Body(kind Kind, payload map[string]any) (body []byte, contentType string) {
	content := encode(payload)
	if kind == Interactive {
		return []byte(url.Values{"payload": {string(content)}}.Encode()), "application/x-www-form-urlencoded"
	}
	return content, "application/json"
}

// Request is a call as Slack makes and signs it.
func (s *Server) Request(ctx context.Context, to, contentType string, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making a call of the gateway: %w", err)
	}
	request.Header.Set("Content-Type", contentType)
	s.Sign(request.Header, time.Now(), body)
	return request, nil
}

// Sign adds Slack's signature over a body as of that time.
func (s *Server) Sign(header http.Header, at time.Time, body []byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", timestamp, body)
	header.Set("X-Slack-Request-Timestamp", timestamp)
	header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}
