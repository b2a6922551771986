package slack_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func with(files ...any) slacktest.Option { return slacktest.With("files", files) }

func TestC07SignInPages(t *testing.T) {
	t.Parallel()
	var leaked atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || strings.Contains(r.URL.String(), "xoxb") {
			leaked.Store(true)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>login"))
	}))
	t.Cleanup(elsewhere.Close)
	for name, c := range map[string]struct {
		change  func(b *bench, file map[string]any)
		problem string
	}{
		"a page with 200":      {func(b *bench, _ map[string]any) { b.server.Break(connectortest.HTML(200), "file") }, "sign-in page"},
		"Slack's own redirect": {func(b *bench, _ map[string]any) { b.server.BotToken = "another" }, "sign-in page"},
		"an address elsewhere": {func(_ *bench, f map[string]any) { f["url_private_download"] = elsewhere.URL + "/x" }, "does not lie on Slack's hosts"},
		"no https":             {func(_ *bench, f map[string]any) { f["url_private_download"] = "http://files.slack.com/x" }, "does not lie on Slack's hosts"},
		"a name like Slack's": {func(_ *bench, f map[string]any) {
			f["url_private_download"] = "https://files.slack.com.attacker.test/x"
		}, "does not lie on Slack's hosts"},
		"another like Slack's": {func(_ *bench, f map[string]any) { f["url_private_download"] = "https://notslack.com/x" }, "does not lie on Slack's hosts"},
		"a user in it": {func(_ *bench, f map[string]any) {
			f["url_private_download"] = "https://files.slack.com@attacker.test/x"
		}, "does not lie on Slack's hosts"},
		"a file of another": {func(_ *bench, f map[string]any) { f["mode"], f["is_external"] = "external", true }, "does not lie on Slack's hosts"},
		"gone": {func(b *bench, f map[string]any) {
			f["url_private_download"] = strings.TrimSuffix(b.server.URL(), "api") + "files/none"
		}, "404 Not Found"},
		"deleted":    {func(_ *bench, f map[string]any) { f["mode"] = "tombstone" }, "it was deleted"},
		"no address": {func(_ *bench, f map[string]any) { delete(f, "url_private"); delete(f, "url_private_download") }, "does not say where"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			token := b.server.BotToken
			file := b.server.Upload("chart.png", "image/png", []byte(strings.Repeat("x", 1234)))
			c.change(b, file)
			require.Equal(t, 200, b.say(t, dm, ada, "yes", with(file)), "the words get through")
			got := b.only(t)
			require.Equal(t, "yes", got.Text)
			require.Contains(t, got.Files[0].Problem, c.problem)
			require.Empty(t, got.Files[0].Path)
			require.Equal(t, "chart.png", got.Files[0].Name)
			require.Zero(t, b.files.count(), "nothing is saved as the file")
			require.NotContains(t, b.log.String(), token)
		})
	}
	t.Cleanup(func() { require.False(t, leaked.Load(), "the token went to another host") })
}

// The API's host itself redirects away: the token stays, and it is no file.
func TestC07RedirectOfTheHost(t *testing.T) {
	t.Parallel()
	var seen http.Header
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		_, _ = w.Write([]byte(strings.Repeat("x", 1234)))
	}))
	t.Cleanup(elsewhere.Close)
	loop := 0
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/loop":
			loop++
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/once":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/there":
			_, _ = w.Write([]byte("content by " + r.Header.Get("Authorization")))
		}
	}))
	t.Cleanup(host.Close)
	b := newBench(t, func(p *slack.Params) { p.APIURL = host.URL + "/api" })
	file := func(path string) map[string]any {
		return map[string]any{"id": "F1", "name": "a.txt", "mimetype": "text/plain", "url_private": host.URL + path}
	}
	require.Equal(t, 200, b.say(t, dm, ada, "", with(file("/away"), file("/loop"), file("/once"))))
	files := b.only(t).Files
	require.Contains(t, files[0].Problem, "it leads to another host; does the app have the scope files:read?")
	require.Nil(t, seen)
	require.Contains(t, files[1].Problem, "too many redirects")
	require.Equal(t, 4, loop)
	require.Equal(t, "content by Bearer "+b.server.BotToken, b.files.read(files[2].Path), "within the host")
}

func TestC07SizesDiffer(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"less than announced": 20, "more than announced": 3} {
		now := time.Now()
		b := newBench(t, func(p *slack.Params) { p.Now = func() time.Time { return now } })
		file := b.server.Upload("a.bin", "application/octet-stream", []byte("ten bytes!"))
		file["size"] = size
		body, _ := slacktest.Body(slacktest.Events, b.server.Compose(dm, ada, "yes", with(file)))
		require.Equal(t, 503, b.call(t.Context(), slacktest.Events, body).Code, name)
		require.Empty(t, b.desk.Messages(), name)
		now = now.Add(time.Minute) // when Slack comes the third time
		require.Equal(t, 200, b.call(t.Context(), slacktest.Events, body).Code, name)
		require.Equal(t, "it could not be taken from Slack; send it again", b.only(t).Files[0].Problem)
		require.Zero(t, b.files.count())
	}
	b := newBench(t)
	canvas := b.server.Upload("notes", "application/vnd.slack-docs", []byte("text"))
	canvas["mode"], canvas["size"] = "quip", 99
	require.Equal(t, 200, b.say(t, dm, ada, "", with(canvas)))
	require.Empty(t, b.only(t).Files[0].Problem, "a canvas has another size")
}

func TestFilesThatFailForNow(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]connectortest.Fault{
		"refused": {Kind: connectortest.Refused}, "lost": {Kind: connectortest.Lost}, "cut": {Kind: connectortest.Cut},
		"gate": connectortest.HTML(502), "limit": {Kind: connectortest.RateLimited, RetryAfter: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			file := b.server.Upload("a.bin", "application/octet-stream", []byte("content of the file"))
			body, _ := slacktest.Body(slacktest.Events, b.server.Compose(dm, ada, "yes", with(file)))
			b.server.Break(fault, "file")
			require.Equal(t, 503, b.call(t.Context(), slacktest.Events, body).Code)
			require.Empty(t, b.desk.Messages())
			require.Zero(t, b.files.count(), "nothing half saved")
			require.NotContains(t, b.log.String(), b.server.BotToken)
			require.Equal(t, 200, b.call(t.Context(), slacktest.Events, body).Code)
			require.Equal(t, "content of the file", b.files.read(b.only(t).Files[0].Path))
		})
	}
	b := newBench(t)
	b.files.fail = errors.New("disk full")
	body, _ := slacktest.Body(slacktest.Events, b.server.Compose(dm, ada, "yes", with(b.server.Upload("a.bin", "", []byte("x")))))
	require.Equal(t, 503, b.call(t.Context(), slacktest.Events, body).Code)
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	page := b.server.Upload("page.html", "text/html", []byte("<html>mine"))
	nameless := b.server.Upload("x", "image/png", []byte("png"))
	nameless["name"], nameless["title"], nameless["filetype"] = "", "", "png"
	titled := b.server.Upload("x", "image/png", []byte("png"))
	titled["name"], titled["title"] = "", "My chart"
	odd := b.server.Upload("x", "image/png", []byte("png"))
	odd["name"], odd["title"], odd["filetype"] = "", "", "../x"
	bare := map[string]any{"id": b.server.Upload("shared.txt", "text/plain", []byte("shared"))["id"], "file_access": "check_file_info"}
	unknown := map[string]any{"id": "F404", "file_access": "check_file_info"}
	require.Equal(t, 200, b.say(t, dm, ada, "", with(page, nameless, titled, odd, bare, unknown)))
	files := b.only(t).Files
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	require.Equal(t, []string{"page.html", "attachment.png", "My chart", "attachment", "shared.txt", "attachment"}, names)
	require.Equal(t, "<html>mine", b.files.read(files[0].Path), "a page that somebody sent is a page")
	require.Equal(t, "shared", b.files.read(files[4].Path), "Slack is asked where it lies")
	require.Contains(t, files[5].Problem, "file_not_found")
}

// Slack hangs up after 3 s: the message is worked on all the same.
func TestC01SlackHangsUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := b.server.Upload("a.bin", "application/octet-stream", []byte("content"))
	body, _ := slacktest.Body(slacktest.Events, b.server.Compose(dm, ada, "yes", with(file)))
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	require.Equal(t, 503, b.call(gone, slacktest.Events, body).Code)
	require.True(t, b.desk.Await(10*time.Second, func() bool { return len(b.desk.Messages()) == 1 }))
	require.Equal(t, 200, b.call(t.Context(), slacktest.Events, body).Code)
	require.Equal(t, []chat.File{{Name: "a.bin", Path: "inbound/uuid-1/a.bin", Size: 7, SHA256: b.only(t).Files[0].SHA256}}, b.only(t).Files)
}
