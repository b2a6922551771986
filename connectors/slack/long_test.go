package slack_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
)

func TestC14LongPrompts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"3001 characters": strings.Repeat("x", 3001),
		"2990 ampersands": strings.Repeat("&", 2990),
		"pairs":           strings.Repeat("😀", 1600),
		"very long":       strings.Repeat("line\n", 20000),
	} {
		b := newBench(t)
		c := card("C01:1700000000.000100")
		c.Text = "⚠️ " + text + " Reply 'Yes' to confirm."
		receipt, err := b.Post(t.Context(), c)
		require.NoError(t, err, name)
		sent := b.server.Sent(channel)
		require.Len(t, sent, 2, name)
		require.Equal(t, "prompt.txt", sent[0].File, "the whole comes first")
		require.Equal(t, c.Text, string(sent[0].Content))
		require.Equal(t, "1700000000.000100", sent[0].Thread)
		require.Contains(t, sent[1].Shown(), "characters left out; the whole is in prompt.txt, SHA-256 ")
		require.True(t, strings.HasSuffix(sent[1].Shown(), " Reply 'Yes' to confirm."), "how to answer stays")
		require.Len(t, sent[1].Buttons, 3)

		c.Closed = "⌛ Timed out at 12:03:04 UTC."
		require.NoError(t, b.Edit(t.Context(), receipt, c), name)
		require.True(t, strings.HasSuffix(b.server.Sent(channel)[1].Shown(), c.Closed))
	}
	exact := card(ada)
	exact.Text = strings.Repeat("x", 2970) + strings.Repeat("&", 6)
	b := newBench(t)
	_, err := b.Post(t.Context(), exact)
	require.NoError(t, err)
	require.Equal(t, exact.Text, b.server.Sent(dm)[0].Shown(), "3000 fit whole")
}

// If the whole can not be shown the question is not delivered, rather than shown in part.
func TestC14NoFileNoQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card(ada)
	c.Text = strings.Repeat("x", 3001)
	for _, method := range []string{"files.getUploadURLExternal", "upload", "files.completeUploadExternal"} {
		b.server.Break(connectortest.HTML(502), method)
		_, err := b.Post(t.Context(), c)
		require.True(t, classified(t, err).Temporary, method)
	}
	require.Empty(t, b.server.Sent(dm))
}

// C19: where Slack puts off the question, its file is not sent again with the next try.
func TestC14TheFileIsSentOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card(ada)
	c.Text = strings.Repeat("x", 3001)
	b.server.Break(connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: time.Second}, "chat.postMessage")
	_, err := b.Post(t.Context(), c)
	require.Equal(t, time.Second, classified(t, err).RetryAfter)
	_, err = b.Post(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, b.server.Sent(dm), 2, "the file and the question")
	// Another question has one of its own, also in the same place.
	c.Invocation = "another"
	_, err = b.Post(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, b.server.Sent(dm), 4)
}

func TestC15DataIsNoMarkup(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		"<https://attacker.test|docs.example.test>", "<!channel>", "*approved*", "```", "a&amp;b", "<@U01>", ":tada: _x_ ~y~", "> quote",
	} {
		b := newBench(t)
		c := card("C01:1700000000.000100")
		c.Text = "⚠️ Delete the file at " + data + "? Reply 'Yes' to confirm."
		receipt, err := b.Post(t.Context(), c)
		require.NoError(t, err)
		c.Closed = "❌ Denied by " + data
		check := func() {
			m := b.server.Sent(channel)[0]
			var sections []struct {
				Type string
				Text struct {
					Type, Text string
					Emoji      *bool
				}
			}
			require.NoError(t, json.Unmarshal(m.Blocks, &sections))
			require.Equal(t, "plain_text", sections[0].Text.Type)
			require.Equal(t, c.Text, sections[0].Text.Text, "as it is")
			require.False(t, *sections[0].Text.Emoji)
			escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(data)
			require.Contains(t, m.Text, "at "+escaped+"?", "escaped once")
			require.NotRegexp(t, `[<>]`, m.Text)
		}
		check()
		require.NoError(t, b.Edit(t.Context(), receipt, c))
		check()

		require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: c.Thread, Text: data}, progress{}))
		reply := b.server.Sent(channel)[1]
		require.False(t, reply.Markup)
		require.Equal(t, data, reply.Shown())
	}
}
