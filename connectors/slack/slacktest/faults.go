package slacktest

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/countersignhq/countersign/connectors/connectortest"
)

// Break plans a fault for the next call of one of these methods; "upload" is the sending
// of a file's bytes, "file" the download of a file. None means any.
func (s *Server) Break(fault connectortest.Fault, methods ...string) {
	s.Faults.Break(func(r *http.Request) bool {
		return len(methods) == 0 || slices.Contains(methods, methodOf(r.URL.Path))
	}, fault)
}

// BreakIn is Break for calls of methods that are about that channel, so that others may go
// on side by side. What it returns is closed when the fault happens.
func (s *Server) BreakIn(channel string, fault connectortest.Fault, methods ...string) <-chan struct{} {
	happens := make(chan struct{})
	s.Faults.Break(func(r *http.Request) bool {
		found := slices.Contains(methods, methodOf(r.URL.Path)) && channelOf(r) == channel
		if found {
			close(happens) // a plan is used once
		}
		return found
	}, fault)
	return happens
}

// channelOf reads the channel of a call and leaves its body as it was.
func channelOf(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return ""
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return ""
	}
	return cmp.Or(form.Get("channel"), form.Get("channel_id"))
}

func methodOf(path string) string {
	switch {
	case strings.HasPrefix(path, "/api/"):
		return strings.TrimPrefix(path, "/api/")
	case strings.HasPrefix(path, "/upload/"):
		return "upload"
	case strings.HasPrefix(path, "/files/"):
		return "file"
	default:
		return path
	}
}
