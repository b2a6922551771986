package slack_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack"
)

func TestPostToAUser(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 2 {
		_, receipt := b.asks(t, bob)
		require.True(t, strings.HasPrefix(receipt.Ref, "D02/"), receipt.Ref)
	}
	require.Len(t, b.server.Calls("conversations.open"), 1, "opened once")

	// Who has written needs no opening, nor does an answer to them after a restart.
	heard := newBench(t)
	require.Equal(t, 200, heard.say(t, "D77", ada, "hello"))
	_, receipt := heard.asks(t, ada)
	require.True(t, strings.HasPrefix(receipt.Ref, "D77/"))
	restarted := newBench(t)
	require.NoError(t, restarted.Reply(t.Context(), chat.Reply{Thread: thread(ada), To: "D77/1.1", Text: "x"}, progress{}))
	require.Len(t, restarted.server.Sent("D77"), 1)
	require.Empty(t, restarted.server.Calls("conversations.open"))
}

func TestPostWithoutTheScopeToOpen(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]connectortest.Fault{
		"scope":  {Kind: connectortest.Answer, Status: 200, Type: "application/json", Body: `{"ok":false,"error":"missing_scope","needed":"im:write"}`},
		"method": {Kind: connectortest.Answer, Status: 200, Type: "application/json", Body: `{"ok":false,"error":"unknown_method"}`},
		"path":   {Kind: connectortest.Answer, Status: 404, Type: "text/plain", Body: "404 page not found"},
	} {
		b := newBench(t)
		b.server.Break(fault, "conversations.open")
		require.NoError(t, b.Reply(t.Context(), chat.Reply{
			Thread: thread(ada), Text: "hello", Files: []chat.File{b.files.put("a.bin", []byte("aaa"))},
		}, progress{}), name)
		sent := b.server.Sent(dm)
		require.Equal(t, "hello", sent[0].Text)
		require.Equal(t, ada, b.server.Calls("chat.postMessage")[0].Params["channel"])
		require.Equal(t, "aaa", string(sent[1].Content), "Slack's answer named the channel")
	}
	b := newBench(t)
	b.server.Refuse("U09", "user_disabled")
	_, err := b.Post(t.Context(), card("U09"))
	require.False(t, classified(t, err).Temporary, "H17: undeliverable")
	require.Empty(t, b.server.Calls("chat.postMessage"))
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, key := range []string{"", "ada", "U01:1.1", "C01:", "C01:x", "C01:1.1:2.2", ":1.1", "#general", "c01"} {
		_, err := b.Post(t.Context(), card(key))
		require.False(t, classified(t, err).Temporary, key)
		require.False(t, classified(t, b.Reply(t.Context(), chat.Reply{Thread: thread(key), Text: "x"}, progress{})).Temporary, key)
	}
	_, err := b.Post(t.Context(), chat.Card{Thread: chat.Thread{Connector: chat.Telegram, Key: "C01"}})
	require.Error(t, err)
	for _, ref := range []string{"", "C01", "C01/", "x/1.1", "C01/1.1/x"} {
		require.False(t, classified(t, b.Edit(t.Context(), chat.Receipt{Ref: ref}, card("C01"))).Temporary, ref)
	}
	require.NoError(t, b.Edit(t.Context(), chat.Receipt{Ref: "C01/1.1"}, card("C01")), "it is gone: nothing to edit")
	require.Empty(t, b.server.Sent("C01"))
}

// What is sent to a channel begins a thread there, and is answered in it.
func TestTheThreadOfAMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	begun, err := b.Post(t.Context(), card("C01"))
	require.NoError(t, err)
	require.Equal(t, thread("C01:"+b.server.Sent("C01")[0].TS), begun.Thread)
	for _, key := range []string{begun.Thread.Key, "U01"} {
		receipt, err := b.Post(t.Context(), card(key))
		require.NoError(t, err)
		require.Zero(t, receipt.Thread, key)
	}
}

func TestEditOfAnOpenQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, receipt := b.asks(t, ada)
	c := card(ada)
	c.Text += " 1 of 2 agreed."
	require.NoError(t, b.Edit(t.Context(), receipt, c))
	edited := b.server.Sent(dm)[0]
	require.Equal(t, c.Text, edited.Shown())
	require.Equal(t, question.Buttons, edited.Buttons)
	require.Equal(t, 1, edited.Edits)
}

func TestReplyIsSplitAndResumed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	reply := chat.Reply{
		Thread: thread("C01:1700000000.000100"),
		Text:   strings.Repeat("a", 3400) + "\n" + strings.Repeat("&", 700) + "\n" + strings.Repeat("c", 100),
	}
	done := progress{"text-1": true}
	require.NoError(t, b.Reply(t.Context(), reply, done))
	require.Equal(t, progress{"text-1": true, "text-2": true, "text-3": true}, done)
	for _, m := range b.server.Sent(channel) {
		require.NotContains(t, m.Shown(), "aa", "what was done is not sent again")
		require.Equal(t, "1700000000.000100", m.Thread)
		require.LessOrEqual(t, len(m.Text), 3500)
	}
	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread(ada)}, progress{}), "nothing to send")
}

func TestReplyOfFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	content := bytes.Repeat([]byte("x"), 12<<20)
	done := progress{}
	require.NoError(t, b.Reply(t.Context(), chat.Reply{
		Thread: thread("C01:1700000000.000100"), Text: "files",
		Files: []chat.File{
			b.files.put("large.bin", content), b.files.put(`odd "name"; é.txt`, []byte("odd")), b.files.put("empty.txt", nil),
			{Name: "gone.txt", Problem: "it is gone"}, b.files.put("large.bin", content),
		},
	}, done))
	sent := b.server.Sent(channel)
	require.Len(t, sent, 6)
	require.Len(t, sent[1].Content, len(content))
	require.Equal(t, `odd "name"; é.txt`, sent[2].File)
	require.Equal(t, "empty.txt is empty; Slack takes no empty files", sent[3].Shown())
	require.Equal(t, "gone.txt could not be attached: it is gone", sent[4].Shown())
	require.True(t, done["file:large.bin"] && done["file:large.bin#2"])
	for _, m := range sent {
		require.Equal(t, "1700000000.000100", m.Thread)
	}
	for _, upload := range b.server.Calls("upload") {
		require.Empty(t, upload.Params["authorization"], "the address is a key of its own")
		n, err := strconv.Atoi(upload.Params["length"])
		require.NoError(t, err)
		require.Positive(t, n, "the length is told: nothing is sent in chunks")
	}
}

// A reply that fails halfway goes on where it was.
func TestReplyResumesWithFiles(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"files.getUploadURLExternal", "upload", "files.completeUploadExternal"} {
		b := newBench(t)
		reply := chat.Reply{
			Thread: thread(ada), Text: "two files",
			Files: []chat.File{b.files.put("a.bin", []byte("aaa")), b.files.put("b.bin", []byte("bbb"))},
		}
		done := progress{}
		b.server.Break(connectortest.Fault{Kind: connectortest.Doubled}, "chat.update") // is never used up
		b.server.Break(connectortest.HTML(502), method)
		require.True(t, classified(t, b.Reply(t.Context(), reply, done)).Temporary, method)
		require.Equal(t, progress{"text": true}, done)
		require.NoError(t, b.Reply(t.Context(), reply, done))
		sent := b.server.Sent(dm)
		require.Len(t, sent, 3, method)
		require.Equal(t, "aaa", string(sent[1].Content))
		require.Equal(t, "bbb", string(sent[2].Content))
	}
}

func TestReplySaysWhatCouldNotBeSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	says := func(code string) connectortest.Fault {
		return connectortest.Fault{Kind: connectortest.Answer, Status: 200, Type: "application/json", Body: `{"ok":false,"error":"` + code + `"}`}
	}
	b.server.Break(says("file_uploads_disabled"), "files.getUploadURLExternal")
	b.server.Break(connectortest.HTML(413), "upload")
	require.NoError(t, b.Reply(t.Context(), chat.Reply{
		Thread: thread(ada), Files: []chat.File{b.files.put("a.bin", []byte("a")), b.files.put("b.bin", []byte("b")), b.files.put("c.bin", []byte("c"))},
	}, progress{}))
	sent := b.server.Sent(dm)
	require.Equal(t, "a.bin could not be sent: Slack refuses it (file_uploads_disabled)", sent[0].Shown())
	require.Equal(t, "b.bin could not be sent: Slack refuses it (413 Request Entity Too Large)", sent[1].Shown())
	require.Equal(t, "c", string(sent[2].Content))

	err := b.Reply(t.Context(), chat.Reply{Thread: thread(ada), Files: []chat.File{{Name: "x", Size: 1, Path: "outbound/u-1/x"}}}, progress{})
	require.False(t, classified(t, err).Temporary, "it is gone from the disk")
	changed := b.files.put("short.bin", []byte("abc"))
	changed.Size = 10
	require.Error(t, b.Reply(t.Context(), chat.Reply{Thread: thread(ada), Files: []chat.File{changed}}, progress{}), "never in part")
	require.Len(t, b.server.Sent(dm), 3)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	account, err := b.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, slack.Account{Team: "Slacktest", TeamID: "T01", User: "countersign", UserID: "U0BOT"}, account)
	require.Empty(t, b.server.Calls("apps.connections.open"))

	b.server.Scopes = "chat:write,im:history, im:write"
	account, err = b.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"app_mentions:read", "channels:history", "files:read", "files:write", "groups:history", "mpim:history", "reactions:write"}, account.Missing)
	require.NoError(t, b.Start(t.Context()))
	require.Contains(t, b.log.String(), "slack scopes are missing")

	socket := newBench(t, func(p *slack.Params) { p.Mode = slack.Socket; p.AppToken = "xapp-wrong-wrong-wrong" })
	err = socket.Start(t.Context())
	require.False(t, classified(t, err).Temporary)
	require.NotContains(t, err.Error(), "wrong-wrong")
}

func TestNewReportsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := slack.New(slack.Params{APIURL: "slack.com"})
	for _, want := range []string{"slack.bot_token is missing", "slack.signing_secret is missing", "slack.api_url must be", "are required"} {
		require.ErrorContains(t, err, want)
	}
	_, err = slack.New(slack.Params{BotToken: "xoxb a", Mode: slack.Socket})
	require.ErrorContains(t, err, "slack.app_token is missing")
	require.ErrorContains(t, err, "slack.bot_token holds white space")
	require.NotContains(t, err.Error(), "xoxb")
	_, err = slack.New(slack.Params{Mode: "webhook"})
	require.ErrorContains(t, err, `slack.mode is "webhook"`)
}

// Whatever goes wrong, no secret comes out.
func TestTokenInNoError(t *testing.T) {
	t.Parallel()
	const token = "xoxb-1-2-very_secret_token"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		fmt.Fprintf(w, `{"ok":false,"error":"no such token %s %s","needed":"%[1]s"}`, r.Form.Get("token"), r.Header.Get("Authorization"))
	}))
	t.Cleanup(echo.Close)
	var reached bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(other.Close)
	redirect := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirect.Close)
	for _, url := range []string{echo.URL, redirect.URL, "http://127.0.0.1:1", "http://no.such.host.invalid", echo.URL + "/%zz"} {
		c, err := slack.New(slack.Params{
			BotToken: token, SigningSecret: "s", APIURL: url, Identify: identify, Desk: &connectortest.Desk{}, Files: newDisk(),
			KnownThread: (&bench{}).knows, NewUUID: func() string { return "u" },
		})
		if err != nil {
			require.NotContains(t, err.Error(), "very_secret")
			continue
		}
		for _, err := range []error{c.Start(t.Context()), c.Edit(t.Context(), chat.Receipt{Ref: "C01/1.1"}, card("C01"))} {
			require.Error(t, err, url)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "very_secret")
		}
	}
	require.False(t, reached, "redirects are not followed")
}
