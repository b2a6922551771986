package telegramtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Update waits to be fetched or delivered to the webhook.
type Update struct {
	ID   int64
	JSON []byte
	chat int64
}

// hook is a webhook that is set.
type hook struct {
	url, secret string
	busy        map[int64]bool // by chat: an update is under way
}

// poll is getUpdates: an offset acknowledges what is before it.
func (s *Server) poll(in request) (any, *apiError) {
	offset, _ := strconv.ParseInt(in.params["offset"], 10, 64)
	seconds, _ := strconv.Atoi(in.params["timeout"])
	s.mu.Lock()
	switch {
	case s.webhook.url != "":
		s.mu.Unlock()
		return nil, &apiError{code: http.StatusConflict, text: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"}
	case s.polling:
		s.mu.Unlock()
		return nil, &apiError{code: http.StatusConflict, text: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}
	}
	s.polling = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.polling = false
		s.mu.Unlock()
	}()
	timeout := time.NewTimer(time.Duration(seconds) * time.Second)
	defer timeout.Stop()
	for {
		s.mu.Lock()
		before := len(s.updates)
		s.updates = slices.DeleteFunc(s.updates, func(u Update) bool { return u.ID < offset })
		if len(s.updates) != before {
			s.wake()
		}
		var batch []json.RawMessage
		for _, u := range s.updates[:min(len(s.updates), 100)] {
			batch = append(batch, u.JSON)
		}
		changed := s.wait()
		s.mu.Unlock()
		if len(batch) > 0 {
			return batch, nil
		}
		select {
		case <-changed:
			continue
		case <-timeout.C:
		case <-in.Context().Done():
		case <-s.ctx.Done():
		}
		return []json.RawMessage{}, nil
	}
}

func (s *Server) setWebhook(in request) (any, *apiError) {
	s.mu.Lock()
	s.webhook = hook{url: in.params["url"], secret: in.params["secret_token"], busy: map[int64]bool{}}
	s.mu.Unlock()
	s.pump()
	return true, nil
}

// Webhook sets the webhook as setWebhook does; "" takes it away.
func (s *Server) Webhook(url, secret string) {
	s.mu.Lock()
	s.webhook = hook{url: url, secret: secret, busy: map[int64]bool{}}
	s.mu.Unlock()
	s.pump()
}

// Push queues an update; raw is its JSON without update_id, e.g. {"message": …}.
// It returns the update's id.
func (s *Server) Push(raw map[string]any, chatID int64) int64 {
	s.mu.Lock()
	s.updateID++
	id := s.updateID
	s.mu.Unlock()
	raw["update_id"] = id
	body, err := json.Marshal(raw)
	if err != nil {
		panic("telegramtest: " + err.Error())
	}
	s.PushJSON(id, body, chatID)
	return id
}

// PushJSON queues an update as it is, be it broken, or one that was there before.
func (s *Server) PushJSON(id int64, body []byte, chatID int64) {
	s.mu.Lock()
	s.updates = append(s.updates, Update{ID: id, JSON: body, chat: chatID})
	s.wake()
	s.mu.Unlock()
	s.pump()
}

// pump starts a webhook call for each chat that has an update and none under way:
// Telegram sends the updates of one chat one after the other.
func (s *Server) pump() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook.url == "" || s.ctx.Err() != nil {
		return
	}
	for _, u := range s.updates {
		if hook := s.webhook; !hook.busy[u.chat] {
			hook.busy[u.chat] = true
			s.tasks.Go(func() { s.deliver(hook, u) })
		}
	}
}

// deliver posts one update until it is answered with 2xx.
func (s *Server) deliver(to hook, u Update) {
	for pause := s.Resend; s.post(to, u)/100 != 2; pause = min(2*pause, 20*s.Resend) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			timer.Stop()
			return
		}
		if s.current().url != to.url {
			return
		}
	}
	s.mu.Lock()
	s.updates = slices.DeleteFunc(s.updates, func(q Update) bool { return q.ID == u.ID })
	delete(to.busy, u.chat)
	s.wake()
	s.mu.Unlock()
	s.pump()
}

func (s *Server) current() hook {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.webhook
}

// post is one webhook call; 0 means that there was no answer.
func (s *Server) post(to hook, u Update) int {
	request, err := http.NewRequestWithContext(s.ctx, http.MethodPost, to.url, bytes.NewReader(u.JSON))
	if err != nil {
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	if to.secret != "" {
		request.Header.Set("X-Telegram-Bot-Api-Secret-Token", to.secret)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}
