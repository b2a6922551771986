package telegram

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/countersignhq/countersign/chat"
)

// maxRetryAfter bounds what is believed of a server's retry_after.
const maxRetryAfter = 24 * time.Hour

// failure is an error that Telegram itself answered with (Bot API, "Making requests").
type failure struct {
	code        int
	description string
	supergroup  int64 // what the group has become
}

func (f *failure) Error() string { return strconv.Itoa(f.code) + " " + f.description }

// fail classifies an error; the only place that does, and the only place that
// knows the token and takes it out.
//
// Only Telegram's own word is final: 400, 401, 403, 404 and the like. A page of
// HTML, a broken body, a broken connection or a proxy's refusal says nothing
// about the request and is worth another try.
func (a *api) fail(method string, seen *exchange, answer *tgbotapi.APIResponse, err error) error {
	out := &chat.Error{Op: "telegram " + method, Temporary: true}
	code, description := seen.status, ""
	var said *tgbotapi.Error
	var own *failure
	switch {
	case errors.As(err, &said):
		description = said.Message
		if answer != nil && answer.ErrorCode != 0 { // UploadFiles leaves said.Code out
			code = answer.ErrorCode
		}
		out.Temporary = !final(code)
		out.RetryAfter = min(time.Duration(max(said.RetryAfter, 0))*time.Second, maxRetryAfter)
		out.Err = &failure{code: code, description: a.scrub.Replace(description), supergroup: said.MigrateToChatID}
	case errors.As(err, &own):
		out.Temporary, out.Err = !final(own.code), own
	case code == http.StatusRequestEntityTooLarge:
		out.Temporary, out.Err = false, &failure{code: code, description: "Request Entity Too Large"}
	default:
		out.Err = a.cause(code, err)
	}
	if code == http.StatusTooManyRequests && out.RetryAfter == 0 {
		out.RetryAfter = headerSeconds(seen.retryAfter)
	}
	return out
}

func final(code int) bool {
	return code >= 400 && code < 500 && code != http.StatusTooManyRequests &&
		code != http.StatusConflict && code != http.StatusRequestTimeout
}

func headerSeconds(value string) time.Duration {
	seconds, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return time.Second
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// cause tells a broken exchange in words without URLs: those hold the token.
func (a *api) cause(status int, err error) error {
	for {
		var wrapped *url.Error
		if !errors.As(err, &wrapped) {
			break
		}
		err = wrapped.Err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	text := a.scrub.Replace(err.Error())
	if status != 0 {
		text = "status " + strconv.Itoa(status) + ": " + text
	}
	return errors.New(text)
}

// scrubber replaces secrets, whole or only the token's second half, also as they stand in a URL.
func scrubber(token, webhookSecret string) *strings.Replacer {
	var pairs []string
	add := func(secret string) {
		if secret != "" {
			pairs = append(pairs, secret, "<secret>", url.QueryEscape(secret), "<secret>", url.PathEscape(secret), "<secret>")
		}
	}
	add(token)
	if _, key, found := strings.Cut(token, ":"); found && len(key) >= 8 {
		add(key)
	}
	if len(webhookSecret) >= 4 { // shorter ones are words that every text holds
		add(webhookSecret)
	}
	return strings.NewReplacer(pairs...)
}

// unchanged are Telegram's words for an edit that has nothing to do: the text is
// already so, or the message is gone. There is no code for it.
func unchanged(err error) bool {
	f := asFailure(err)
	if f == nil || f.code != http.StatusBadRequest {
		return false
	}
	text := strings.ToLower(f.description)
	for _, known := range []string{"message is not modified", "message to edit not found", "message can't be edited", "message_id_invalid"} {
		if strings.Contains(text, known) {
			return true
		}
	}
	return false
}
