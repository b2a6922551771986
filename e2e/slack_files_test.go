package e2e_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// Files from a thread onto the disk, and from the disk into the thread.
func TestSlackFiles(t *testing.T) {
	t.Parallel()
	s := newSlack(t, harness.Setup{})
	t.Cleanup(func() { s.noSecrets(t) })
	for name, run := range map[string]func(*testing.T, *slack){
		"in and out":                         slackInAndOut,
		"C07 a sign-in page is not the file": slackSignIn,
		"C07 the token goes to Slack only":   slackToken,
		"a file that comes later":            slackFileLater,
		"a reply that fails halfway":         slackHalfway,
		"a file that Slack refuses":          slackRefusedFile,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, s)
		})
	}
}

// shared is a file that a person shares in a message.
func (s *slack) shared(name, mimetype string, content []byte) slacktest.Option {
	file := s.Upload(name, mimetype, content)
	return func(event map[string]any) {
		event["subtype"], event["files"] = "file_share", []any{file}
	}
}

// awaitFile waits until a file stands in the talk.
func (k talk) awaitFile(t *testing.T, name string) slacktest.Message {
	t.Helper()
	m, err := k.Await(bounded(t), k.channel, func(m slacktest.Message) bool { return m.Thread == k.root && m.File == name })
	require.NoError(t, err)
	return m
}

// outbound are the files of a name that are staged for a reply.
func (s *slack) outbound(t *testing.T, name string) []string {
	t.Helper()
	staged, err := filepath.Glob(s.File("outbound/*/" + name))
	require.NoError(t, err)
	return staged
}

func (s *slack) asksWith(channel, text string, options ...slacktest.Option) talk {
	root := s.Say(channel, harness.SlackAda, "<@"+harness.SlackApp+"> "+text, options...)
	return talk{slack: s, channel: channel, root: root, author: harness.SlackAda}
}

func saving(source, path string) string {
	return "/file_manager save_attachment source=" + source + " disk=local path=" + path
}

func slackInAndOut(t *testing.T, s *slack) {
	content := bytes.Repeat([]byte("month,total\nJanuary,42\n"), 5000)
	k := s.asksWith("C61", saving("report.csv", "saved/report.csv"), s.shared("../re\u202eport.csv", "text/csv", content))
	k.await(t, "✅ Done: file_manager save_attachment")
	require.Equal(t, string(content), s.Read(t, "saved/report.csv"))
	inbound, err := filepath.Glob(s.File("inbound/*/report.csv"))
	require.NoError(t, err)
	require.Len(t, inbound, 1, "the attachment is kept")

	k.says(harness.SlackAda, fileCommand("attach_to_reply", "saved/report.csv"))
	sent := k.awaitFile(t, "report.csv")
	require.Equal(t, content, sent.Content)
	harness.Eventually(t, "what was sent is deleted", func() bool { return len(s.outbound(t, "report.csv")) == 0 })
	for _, call := range s.Calls("upload") {
		require.Empty(t, call.Params["authorization"], "an upload address is a key of its own")
	}
	// In private too.
	private := s.write(harness.SlackBob, fileCommand("attach_to_reply", "saved/report.csv"))
	require.Equal(t, content, private.awaitFile(t, "report.csv").Content)
}

func slackSignIn(t *testing.T, s *slack) {
	page := connectortest.HTML(http.StatusOK)
	file := s.Upload("photo.png", "image/png", []byte("PNG"))
	s.Faults.Break(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "photo.png") }, page)
	k := s.asksWith("C62", "", slacktest.With("subtype", "file_share"), slacktest.With("files", []any{file}))
	answer := k.await(t, "I have received:").Shown()
	require.Contains(t, answer, "photo.png: not taken, Slack gave a sign-in page in place of it: the app needs the scope files:read")
	k.says(harness.SlackAda, saving("photo.png", "photo.png"))
	k.await(t, "Not done: file_manager save_attachment")
	require.False(t, s.Exists("photo.png"))
	stored, err := filepath.Glob(s.File("inbound/*/photo.png"))
	require.NoError(t, err)
	require.Empty(t, stored)
}

func slackToken(t *testing.T, s *slack) {
	var calls atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(elsewhere.Close)
	moved := s.Upload("moved.txt", "text/plain", []byte("x"))
	s.Move(moved, elsewhere.URL+"/moved.txt")
	linked := map[string]any{
		"id": "F1", "name": "linked.txt", "mode": "hosted", "size": 1, "mimetype": "text/plain",
		"url_private": elsewhere.URL + "/linked.txt", "url_private_download": elsewhere.URL + "/linked.txt?download=1",
	}
	k := s.asksWith("C63", "", slacktest.With("subtype", "file_share"), slacktest.With("files", []any{moved, linked}))
	answer := k.await(t, "I have received:").Shown()
	require.Contains(t, answer, "moved.txt: not taken")
	require.Contains(t, answer, "linked.txt: not taken")
	require.Zero(t, calls.Load(), "not even called")
}

// A file that cannot be had just now makes Slack send the message again.
func slackFileLater(t *testing.T, s *slack) {
	s.Faults.Break(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "later.txt") }, connectortest.HTML(http.StatusBadGateway))
	k := s.asksWith("C64", saving("later.txt", "later.txt"), s.shared("later.txt", "text/plain", []byte("content")))
	k.await(t, "✅ Done: file_manager save_attachment")
	require.Equal(t, "content", s.Read(t, "later.txt"))
	require.Len(t, k.sent(), 1)
}

// What Slack has is not sent again, and the folder goes only after Slack has all of it.
func slackHalfway(t *testing.T, s *slack) {
	const channel = "C65"
	s.Write(t, "half.txt", "content")
	putOff := s.BreakIn(channel, connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: 2 * time.Second}, "files.completeUploadExternal")
	k := s.asksWith(channel, fileCommand("attach_to_reply", "half.txt"))
	k.await(t, "✅ Done: file_manager attach_to_reply")
	<-putOff
	require.Len(t, s.outbound(t, "half.txt"), 1, "it is not deleted before Slack has it")
	require.Equal(t, "content", string(k.awaitFile(t, "half.txt").Content))
	harness.Eventually(t, "what was sent is deleted", func() bool { return len(s.outbound(t, "half.txt")) == 0 })
	require.Len(t, k.sent(), 2, "the text once, and the file once")
}

func slackRefusedFile(t *testing.T, s *slack) {
	const channel = "C66"
	s.Write(t, "refused.exe", "MZ")
	s.BreakIn(channel, connectortest.Fault{
		Kind: connectortest.Answer, Status: http.StatusOK, Type: "application/json", Body: `{"ok":false,"error":"file_type_not_allowed"}`,
	}, "files.completeUploadExternal")
	k := s.asksWith(channel, fileCommand("attach_to_reply", "refused.exe"))
	k.await(t, "✅ Done: file_manager attach_to_reply")
	k.await(t, "refused.exe could not be sent: Slack refuses it (file_type_not_allowed)")
	harness.Eventually(t, "it does not stay behind", func() bool { return len(s.outbound(t, "refused.exe")) == 0 })
	_, err := os.Stat(s.File("refused.exe"))
	require.NoError(t, err)
}
