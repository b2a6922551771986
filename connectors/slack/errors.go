package slack

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
)

const (
	// maxRetryAfter bounds what is believed of a server's Retry-After.
	maxRetryAfter = 24 * time.Hour
	// someTime is waited where Slack says "too many" without saying how long.
	someTime = time.Second
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
			out.RetryAfter = headerSeconds(seen.retryAfter)
		}
	case errors.As(err, &own):
		out.Temporary, out.Err = !final(own), own
	case errors.As(err, &limited):
		out.Err = &failure{status: http.StatusTooManyRequests}
		out.RetryAfter = min(max(limited.RetryAfter, 0), maxRetryAfter)
	case seen.status == http.StatusRequestEntityTooLarge:
		out.Temporary, out.Err = false, &failure{status: seen.status}
	case seen.status >= http.StatusMultipleChoices:
		out.Err = &failure{status: seen.status}
		if seen.status == http.StatusTooManyRequests {
			out.RetryAfter = headerSeconds(seen.retryAfter)
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
	return f.status >= 400 && f.status < 500 && f.status != http.StatusTooManyRequests &&
		f.status != http.StatusRequestTimeout && f.status != http.StatusConflict
}

// word is a code as Slack said it, short and without secrets.
func (a *api) word(code string) string {
	if len(code) > 200 {
		code = code[:200]
	}
	return a.scrub.Replace(strings.ToValidUTF8(code, ""))
}

func headerSeconds(value string) time.Duration {
	seconds, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return someTime
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// cause tells a broken exchange in words without URLs: an upload's address is a key.
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

// scrubber replaces secrets, whole or only a token's last part, also as they stand in a URL.
func scrubber(secrets ...string) *strings.Replacer {
	var pairs []string
	add := func(secret string) {
		if len(secret) >= 4 { // shorter ones are words that every text holds
			pairs = append(pairs, secret, "<secret>", url.QueryEscape(secret), "<secret>", url.PathEscape(secret), "<secret>")
		}
	}
	for _, secret := range secrets {
		add(secret)
		if i := strings.LastIndexByte(secret, '-'); len(secret)-i > 12 {
			add(secret[i+1:])
		}
	}
	return strings.NewReplacer(pairs...)
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
