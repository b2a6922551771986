package wire

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxRetryAfter bounds what is believed of a server's wish to be left alone.
	MaxRetryAfter = 24 * time.Hour
	// someTime is waited where a server says "too many" without saying how long.
	someTime = time.Second
	// shortest secret that is looked for; shorter ones are words that every text holds.
	shortest = 4
)

// RetryAfter reads the header of that name: whole seconds (RFC 9110 §10.2.3), at most
// MaxRetryAfter. Without a usable one it is a second.
func RetryAfter(header string) time.Duration {
	seconds, err := strconv.ParseUint(header, 10, 31)
	if err != nil {
		return someTime
	}
	return Bounded(time.Duration(seconds) * time.Second)
}

// Bounded is a wait within what is believed: from 0 to MaxRetryAfter.
func Bounded(wait time.Duration) time.Duration { return min(max(wait, 0), MaxRetryAfter) }

// Final tells whether a status, said by the platform itself, is about the request, so that
// the same again would be answered the same: all of 4xx but 408, 409 and 429.
func Final(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return status >= 400 && status < 500
	}
}

// Cause tells a broken exchange in words without URLs, which may hold a key, and without
// secrets. status is that of the answer, 0 for none. A context's end stays itself.
func Cause(scrub *strings.Replacer, status int, err error) error {
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
	text := scrub.Replace(err.Error())
	if status != 0 {
		text = "status " + strconv.Itoa(status) + ": " + text
	}
	return errors.New(text)
}

// Scrubber puts "<secret>" in place of each of these, also as it stands in a URL. A part
// of a secret that is one by itself has to be given too; less than 4 bytes are left out.
func Scrubber(secrets ...string) *strings.Replacer {
	var pairs []string
	for _, secret := range secrets {
		if len(secret) >= shortest {
			for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
				pairs = append(pairs, form, "<secret>")
			}
		}
	}
	return strings.NewReplacer(pairs...)
}
