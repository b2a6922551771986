package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/wire"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"30": 30 * time.Second, "0": 0, "": time.Second, "soon": time.Second, "-3": time.Second, "1.5": time.Second,
		"86401": wire.MaxRetryAfter, "99999999999999999999": time.Second,
	} {
		require.Equal(t, want, wire.RetryAfter(header), header)
	}
	require.Zero(t, wire.Bounded(-time.Second))
	require.Equal(t, wire.MaxRetryAfter, wire.Bounded(1000*time.Hour))
}

func TestFinal(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{
		0: false, 200: false, 302: false, 500: false, 503: false,
		http.StatusRequestTimeout: false, http.StatusConflict: false, http.StatusTooManyRequests: false,
		400: true, 401: true, 403: true, 404: true, 413: true, 451: true,
	} {
		require.Equal(t, want, wire.Final(status), status)
	}
}

func TestCauseHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "to ken/1+2"
	scrub := wire.Scrubber(secret, "abc")
	refused := errors.New("refused for abc")
	at := func(err error) error {
		inner := &url.Error{Op: "Get", URL: "https://host/" + url.PathEscape(secret), Err: err}
		return fmt.Errorf("calling: %w", &url.Error{Op: "Post", URL: "https://host/?t=" + url.QueryEscape(secret), Err: inner})
	}
	require.EqualError(t, wire.Cause(scrub, 0, at(refused)), "refused for abc", "three letters are no secret")
	require.EqualError(t, wire.Cause(scrub, 502, at(refused)), "status 502: refused for abc")
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
		require.EqualError(t, wire.Cause(scrub, 0, errors.New("no "+form)), "no <secret>")
	}
	require.Equal(t, context.Canceled, wire.Cause(scrub, 0, at(context.Canceled)))
	require.Equal(t, context.DeadlineExceeded, wire.Cause(scrub, 200, at(context.DeadlineExceeded)))
}
