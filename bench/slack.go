package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

// slackAda is ada there, and slackDM her direct messages with the app.
const (
	slackAda = "U01"
	slackDM  = "D01"
)

// slackSide is a Slack server that throws uploads away: it keeps their size and hash only.
type slackSide struct {
	*slacktest.Server
	front *httptest.Server
	taken chan parcel
}

// parcel is a file that a platform has all of.
type parcel struct {
	name, sha256 string
	bytes        int64
}

// withSlack adds it to a rig.
func withSlack(_ context.Context, r *rig) (env []string, stop func(), err error) {
	s := &slackSide{Server: slacktest.New(), taken: make(chan parcel, 16)}
	behind, err := url.Parse(s.URL())
	if err != nil {
		return nil, nil, err
	}
	behind.Path = ""
	pass := httputil.NewSingleHostReverseProxy(behind)
	uploads := newUploads(s.taken)
	s.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !uploads.serve(w, r, s.front.URL) {
			pass.ServeHTTP(w, r)
		}
	}))
	r.slack = s
	return []string{
		"LARACLAW_SLACK_BOT_TOKEN=" + s.BotToken, "LARACLAW_SLACK_SIGNING_SECRET=" + s.SigningSecret,
		"COUNTERSIGN_SLACK_API_URL=" + s.front.URL + "/api",
	}, s.stop, nil
}

func (s *slackSide) stop() {
	s.front.CloseClientConnections()
	s.front.Close()
	s.Close()
}

// hand posts an event to the gateway as Slack does; the status tells what became of it.
func (g *gateway) hand(ctx context.Context, s *slackSide, event map[string]any, again int) (status int, err error) {
	body, kind := slacktest.Body(slacktest.Events, event)
	request, err := s.Request(ctx, g.base+string(slacktest.Events), kind, body)
	if err != nil {
		return 0, err
	}
	if again > 0 {
		request.Header.Set("X-Slack-Retry-Num", fmt.Sprint(again))
		request.Header.Set("X-Slack-Retry-Reason", "http_error")
	}
	response, err := g.http.Do(request) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}

// uploads is Slack's external upload flow (files.getUploadURLExternal), without keeping a byte.
type uploads struct {
	waiting chan parcel // uploaded, not yet shown
	taken   chan<- parcel
}

func newUploads(taken chan<- parcel) *uploads {
	return &uploads{waiting: make(chan parcel, 16), taken: taken}
}

// serve answers what belongs to uploads, and tells whether it was one.
func (u *uploads) serve(w http.ResponseWriter, r *http.Request, base string) bool {
	switch method := strings.TrimPrefix(r.URL.Path, "/api/"); {
	case method == "files.getUploadURLExternal":
		say(w, map[string]any{"ok": true, "upload_url": base + "/upload/F01", "file_id": "F01"})
	case strings.HasPrefix(r.URL.Path, "/upload/"):
		file, err := unpack(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return true
		}
		u.waiting <- file
		fmt.Fprintf(w, "OK - %d", file.bytes)
	case method == "files.completeUploadExternal":
		u.taken <- <-u.waiting
		say(w, map[string]any{"ok": true, "files": []map[string]any{{"id": "F01", "title": "x"}}})
	default:
		return false
	}
	return true
}

// unpack reads the one file of a form to its end.
func unpack(r *http.Request) (parcel, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return parcel{}, err
	}
	part, err := form.NextPart()
	if err != nil {
		return parcel{}, err
	}
	return weigh(part.FileName(), part)
}

// weigh reads a file and keeps what it was.
func weigh(name string, content io.Reader) (parcel, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, content)
	return parcel{name: name, bytes: n, sha256: hex.EncodeToString(sum.Sum(nil))}, err
}

func say(w http.ResponseWriter, answer map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asked is gone
}
