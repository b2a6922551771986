package telegram

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/wire"
)

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
		out.Temporary = !wire.Final(code)
		out.RetryAfter = wire.Bounded(time.Duration(said.RetryAfter) * time.Second)
		out.Err = &failure{code: code, description: a.scrub.Replace(description), supergroup: said.MigrateToChatID}
	case errors.As(err, &own):
		out.Temporary, out.Err = !wire.Final(own.code), own
	case code == http.StatusRequestEntityTooLarge:
		out.Temporary, out.Err = false, &failure{code: code, description: "Request Entity Too Large"}
	default:
		out.Err = a.cause(code, err)
	}
	if code == http.StatusTooManyRequests && out.RetryAfter == 0 {
		out.RetryAfter = wire.RetryAfter(seen.retryAfter)
	}
	return out
}

// cause tells a broken exchange in words without URLs: those hold the token.
func (a *api) cause(status int, err error) error { return wire.Cause(a.scrub, status, err) }

// scrubber replaces secrets, whole or only the token's second half.
func scrubber(token, webhookSecret string) *strings.Replacer {
	secrets := []string{token, webhookSecret}
	if _, key, found := strings.Cut(token, ":"); found && len(key) >= 8 {
		secrets = append(secrets, key)
	}
	return wire.Scrubber(secrets...)
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
