package telegram_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
)

func TestD12PromptIsPlain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card("1001")
	c.Text = "⚠️ Delete a\\_b, 1. (x) - y!, [x](http://attacker.test)? Reply 'Yes' to confirm."
	receipt, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, "1001/1", receipt.Ref)
	call := b.server.Calls("sendMessage")[0]
	require.Equal(t, c.Text, call.Params["text"])
	require.NotContains(t, call.Params, "parse_mode")
	require.Equal(t, `{"is_disabled":true}`, call.Params["link_preview_options"])

	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread("1001"), Text: "[x](http://attacker.test) *a_b"}, progress{}))
	call = b.server.Calls("sendMessage")[1]
	require.Equal(t, "[x](http://attacker.test) *a_b", call.Params["text"])
	require.NotContains(t, call.Params, "parse_mode")
}

func TestD07PostIntoTopics(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for key, topic := range map[string]string{"-100200": "", "-100200:42": "42", "-100200:1": ""} {
		_, err := b.Post(t.Context(), card(key))
		require.NoError(t, err)
		calls := b.server.Calls("sendMessage")
		require.Equal(t, topic, calls[len(calls)-1].Params["message_thread_id"], key)
	}
	for _, key := range []string{"", "ada", "1:2:3", "1:", ":1", "@channel"} {
		_, err := b.Post(t.Context(), card(key))
		var classified *chat.Error
		require.ErrorAs(t, err, &classified, key)
		require.False(t, classified.Temporary)
	}
}

func TestD13LongPromptComesWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card("1001")
	c.Text = strings.Repeat("😀", 3000) + " Reply 'Yes' to confirm."
	receipt, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	sent := b.server.Sent(ada.ID)
	require.Len(t, sent, 2)
	require.Equal(t, "prompt.txt", sent[0].File)
	require.Equal(t, c.Text, string(sent[0].Content))
	require.Contains(t, sent[1].Text, "characters left out")
	require.Len(t, sent[1].Buttons, 3)

	c.Closed = "⌛ Timed out at 12:03:04 UTC."
	require.NoError(t, b.Edit(t.Context(), receipt, c))
	require.True(t, strings.HasSuffix(b.server.Sent(ada.ID)[1].Text, c.Closed))
}

func TestD18RetryAfterIsPassedOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, wait := range []time.Duration{3600 * time.Second, 10072 * time.Second} {
		b.server.Break(connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: wait})
		_, err := b.Post(t.Context(), card("1001"))
		var classified *chat.Error
		require.ErrorAs(t, err, &classified)
		require.True(t, classified.Temporary)
		require.Equal(t, wait, classified.RetryAfter)
	}
}

func TestEditOfWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, ref := range []string{"", "1001", "1001/", "x/1"} {
		require.Error(t, b.Edit(t.Context(), chat.Receipt{Ref: ref}, card("1001")), ref)
	}
	require.NoError(t, b.Edit(t.Context(), chat.Receipt{Ref: "1001/99"}, card("1001")), "it is gone: nothing to edit")
}

func TestReplyKinds(t *testing.T) {
	t.Parallel()
	picture := func(width, height int) []byte {
		var out bytes.Buffer
		require.NoError(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))))
		return out.Bytes()
	}
	for name, c := range map[string]struct {
		content []byte
		method  string
	}{
		"chart.png":  {picture(40, 30), "sendPhoto"},
		"CHART.PNG":  {picture(40, 30), "sendPhoto"},
		"strip.png":  {picture(2100, 100), "sendDocument"}, // sides more than 20:1
		"broken.png": {[]byte("no picture"), "sendDocument"},
		"tts.ogg":    {[]byte("OggS"), "sendVoice"},
		"song.mp3":   {[]byte("ID3"), "sendAudio"},
		"report.pdf": {[]byte("%PDF"), "sendDocument"},
		"noname":     {[]byte("x"), "sendDocument"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			done := progress{}
			require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread("1001"), Files: []chat.File{b.files.put(name, c.content)}}, done))
			sent := b.server.Sent(ada.ID)
			require.Len(t, sent, 1)
			require.Equal(t, c.method, sent[0].Method)
			require.Equal(t, name, sent[0].File)
			require.Equal(t, c.content, sent[0].Content)
			require.True(t, done["file:"+name])
		})
	}
}

func TestReplyFallsBackToADocument(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Break(connectortest.Fault{
		Kind: connectortest.Answer, Status: 400, Type: "application/json",
		Body: `{"ok":false,"error_code":400,"description":"Bad Request: VOICE_MESSAGES_FORBIDDEN"}`,
	}, "sendVoice")
	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread("1001"), Files: []chat.File{b.files.put("a.ogg", []byte("OggS"))}}, progress{}))
	require.Equal(t, "sendDocument", b.server.Sent(ada.ID)[0].Method)
}

// A file that Telegram never takes must not keep the rest back, and is not lost silently.
func TestReplySaysWhatCouldNotBeSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Break(connectortest.HTML(413), "sendDocument")
	done := progress{}
	require.NoError(t, b.Reply(t.Context(), chat.Reply{
		Thread: thread("1001"), Text: "two files",
		Files: []chat.File{b.files.put("big.bin", []byte("big")), b.files.put("b.bin", []byte("bbb")), {Name: "gone.txt", Problem: "it is gone"}},
	}, done))
	sent := b.server.Sent(ada.ID)
	require.Len(t, sent, 4)
	require.Equal(t, "big.bin could not be sent: it is larger than Telegram takes (50 MB)", sent[1].Text)
	require.Equal(t, "b.bin", sent[2].File)
	require.Equal(t, "gone.txt could not be attached: it is gone", sent[3].Text)
}

func TestReplyOfAMissingFileIsFinal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	err := b.Reply(t.Context(), chat.Reply{Thread: thread("1001"), Files: []chat.File{{Name: "x", Path: "outbound/u-1/x"}}}, progress{})
	var classified *chat.Error
	require.ErrorAs(t, err, &classified)
	require.False(t, classified.Temporary)
}

func TestReplyIsSplitAndResumed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	reply := chat.Reply{
		Thread: thread("-100200:42"), To: "-100200/17",
		Text: strings.Repeat("a", 4000) + "\n" + strings.Repeat("b", 4000) + "\n" + strings.Repeat("c", 100),
	}
	done := progress{"text-1": true}
	require.NoError(t, b.Reply(t.Context(), reply, done))
	require.Equal(t, progress{"text-1": true, "text-2": true, "text-3": true}, done)
	for _, m := range b.server.Sent(group.ID) {
		require.NotContains(t, m.Text, "a", "what was done is not sent again")
		require.EqualValues(t, 42, m.Topic)
		require.Zero(t, m.ReplyTo)
	}

	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread("-100200"), To: "-100200/17", Text: "short"}, progress{}))
	sent := b.server.Sent(group.ID)
	require.EqualValues(t, 17, sent[len(sent)-1].ReplyTo)
	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread("-100200")}, progress{}), "nothing to send")
}

// Larger than Telegram takes as a photo; it goes through a pipe, part by part.
func TestReplyOfALargeFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	content := bytes.Repeat([]byte("x"), 12<<20)
	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread("1001"), Files: []chat.File{b.files.put("large.bin", content)}}, progress{}))
	require.Len(t, b.server.Sent(ada.ID)[0].Content, len(content))
}
