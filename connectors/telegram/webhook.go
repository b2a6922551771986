package telegram

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
)

// maxUpdate bounds the body of a webhook call, in bytes; real ones have a few thousand.
const maxUpdate = 1 << 20

// secretHeader carries setWebhook's secret_token.
const secretHeader = "X-Telegram-Bot-Api-Secret-Token"

// Handler takes Telegram's webhook calls (POST, at WebhookPath; CONTRACT §8).
//
//	200  the Desk has it, or nobody needs to hear of it
//	401  the secret is wrong or missing
//	413  larger than 1 MB
//	429  the chat sends more than it may; Telegram tries again
//	503  not taken: Temporal or a file could not be reached; Telegram tries again
//
// A body that is no update is also answered 200, and logged: it has the secret, so
// Telegram sent it, and would send the same bytes again until it gives up.
func (c *Connector) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if !c.secretMatches(r.Header.Get(secretHeader)) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		e := arrived{at: c.now()}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpdate))
		if err != nil {
			var tooLong *http.MaxBytesError
			if errors.As(err, &tooLong) {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
			} else {
				w.WriteHeader(http.StatusBadRequest)
			}
			return
		}
		if e.event, err = decode(body); err != nil {
			c.log.Warn("telegram update not understood and left out", "bytes", len(body), "error", c.api.scrub.Replace(err.Error()))
			return
		}
		status, retryAfter := c.status(c.receive(r.Context(), e))
		if retryAfter != "" {
			// Telegram honours it, and else waits longer and longer (WebhookActor.cpp of
			// tdlib/telegram-bot-api). Only updates of the same chat wait behind this one.
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
	})
}

// secretMatches compares in constant time; without a configured secret nothing matches.
func (c *Connector) secretMatches(given string) bool {
	want, got := sha256.Sum256([]byte(c.secret)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && c.secret != ""
}

func (c *Connector) status(err error) (status int, retryAfter string) {
	switch {
	case err == nil:
		return http.StatusOK, ""
	case errors.Is(err, errLimited):
		return http.StatusTooManyRequests, "5"
	default:
		c.log.Warn("telegram update not taken; Telegram will send it again", "error", err)
		return http.StatusServiceUnavailable, "2"
	}
}

// receive takes one update as the webhook brings it: side by side with those of other chats.
func (c *Connector) receive(ctx context.Context, e arrived) error {
	if !c.admits(e) {
		return errLimited
	}
	return c.take(ctx, e)
}
