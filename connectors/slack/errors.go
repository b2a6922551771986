package slack

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/wire"
)

// failure is an error that Slack itself answered with: a code such as channel_not_found,
// or a status that says something about the request.
type failure struct {
	code   string
	needed string // the scope that is missing
	status int
}

func (f *failure) Error() string {
	switch {
	case f.needed != "":
		return f.code + " (the app needs the scope " + f.needed + ": add it, then reinstall the app)"
	case f.code != "":
		return f.code
	default:
		return strconv.Itoa(f.status) + " " + http.StatusText(f.status)
	}
}

// passing are Slack's own words for what may be better in a while. Every other code
// is about the request itself, and the same again would be answered the same.
var passing = map[string]bool{
	"ratelimited": true, "rate_limited": true, "internal_error": true, "fatal_error": true,
	"service_unavailable": true, "request_timeout": true, "update_failed": true,
	"team_added_to_org": true, "external_channel_migrating": true,
}

// fail classifies an error; the only place that does, and the only place that
// knows the secrets and takes them out.
//
// Only Slack's own word is final. A page of HTML, a broken body, a broken connection
// or a proxy's refusal says nothing about the request and is worth another try.
func (a *api) fail(method string, seen *exchange, err error) error {
	out := &chat.Error{Op: "slack " + method, Temporary: true}
	var said slackgo.SlackErrorResponse
	var limited *slackgo.RateLimitedError
	var own *failure
	switch {
	case errors.As(err, &said):
		f := &failure{code: a.word(said.Err), needed: a.word(said.Needed)}
		out.Temporary, out.Err = passing[f.code], f
		if strings.HasPrefix(f.code, "rate") {
			out.RetryAfter = wire.RetryAfter(seen.retryAfter)
		}
	case errors.As(err, &own):
		out.Temporary, out.Err = !final(own), own
	case errors.As(err, &limited):
		out.Err = &failure{status: http.StatusTooManyRequests}
		out.RetryAfter = wire.Bounded(limited.RetryAfter)
	case seen.status == http.StatusRequestEntityTooLarge:
		out.Temporary, out.Err = false, &failure{status: seen.status}
	case seen.status >= http.StatusMultipleChoices:
		out.Err = &failure{status: seen.status}
		if seen.status == http.StatusTooManyRequests {
			out.RetryAfter = wire.RetryAfter(seen.retryAfter)
		}
	default:
		out.Err = a.cause(seen.status, err)
	}
	return out
}

func final(f *failure) bool {
	if f.code != "" {
		return !passing[f.code]
	}
	return wire.Final(f.status)
}

// word is a code as Slack said it, short and without secrets.
func (a *api) word(code string) string {
	if len(code) > 200 {
		code = code[:200]
	}
	return a.scrub.Replace(strings.ToValidUTF8(code, ""))
}

// cause tells a broken exchange in words without URLs: an upload's address is a key.
func (a *api) cause(status int, err error) error { return wire.Cause(a.scrub, status, err) }

// scrubber replaces secrets, whole or only a token's last part.
func scrubber(secrets ...string) *strings.Replacer {
	for _, secret := range secrets {
		if i := strings.LastIndexByte(secret, '-'); len(secret)-i > 12 {
			secrets = append(secrets, secret[i+1:])
		}
	}
	return wire.Scrubber(secrets...)
}

// asFailure is what Slack itself said, nil if it was not Slack that failed.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// unchangeable are Slack's words for an edit that has nothing to do any more.
func unchangeable(err error) bool {
	f := asFailure(err)
	return f != nil && (f.code == "message_not_found" || f.code == "cant_update_message" || f.code == "edit_window_closed")
}
