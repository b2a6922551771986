package e2e_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/e2e/harness"
)

const attachedText = "✅ Done: file_manager attach_to_reply"

// attach asks for a file in a group.
func attach(t *testing.T, s *telegram, w *harness.World, chat int64, name string, content []byte) {
	t.Helper()
	w.Write(t, name, string(content))
	s.Say(group(chat), adaThere, "/file_manager attach_to_reply disk=local path="+name)
}

// arrives waits for a file in a chat.
func arrives(t *testing.T, s *telegram, chat int64, name string) telegramtest.Message {
	t.Helper()
	m, err := s.Await(bounded(t), chat, func(m telegramtest.Message) bool { return m.File == name })
	require.NoError(t, err)
	return m
}

// texts counts the copies of the reply's text.
func texts(s *telegram, chat int64) (n int) {
	for _, m := range s.Sent(chat) {
		if strings.HasPrefix(m.Text, attachedText) {
			n++
		}
	}
	return n
}

// staged are the outgoing files of that name that are still on the disk.
func staged(t *testing.T, w *harness.World, name string) []string {
	t.Helper()
	found, err := filepath.Glob(w.File("outbound/*/" + name))
	require.NoError(t, err)
	return found
}

func cleared(t *testing.T, w *harness.World, name string) {
	t.Helper()
	harness.Eventually(t, "what was sent is deleted", func() bool { return len(staged(t, w, name)) == 0 })
}

// A reply with a file that fails halfway is tried again without its text, and what goes out is
// deleted only once Telegram has all of it.
func TestTelegramReplyFailsHalfway(t *testing.T) {
	t.Parallel()
	s := newTelegram(t)
	w := s.world(t, harness.Setup{})
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB: more than a socket's buffers
	for name, c := range map[string]struct {
		chat   int64
		fault  connectortest.Fault
		copies int
	}{
		"500":                 {-601, connectortest.Fault{Kind: connectortest.Answer, Status: http.StatusInternalServerError, Type: "application/json", Body: `{"ok":false,"error_code":500,"description":"Internal"}`}, 1},
		"a proxy's page":      {-602, connectortest.HTML(http.StatusBadGateway), 1},
		"closed mid-body":     {-603, connectortest.Fault{Kind: connectortest.Refused}, 1},
		"429":                 {-604, connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: time.Second}, 1},
		"its answer was lost": {-605, connectortest.Fault{Kind: connectortest.Lost}, 2}, // Telegram has no idempotency key
	} {
		// One after the other: a fault is for the next call.
		file := strings.NewReplacer(" ", "-", "'", "").Replace(name) + ".bin"
		s.Break(c.fault, "sendDocument")
		attach(t, s, w, c.chat, file, large)
		require.Equal(t, large, arrives(t, s, c.chat, file).Content, name)
		cleared(t, w, file)
		require.Zero(t, s.Faults.Left(), name)
		require.Equal(t, 1, texts(s, c.chat), "%s: %+v", name, s.Calls("sendMessage"))
		copies := 0
		for _, m := range s.Sent(c.chat) {
			if m.File == file {
				copies++
			}
		}
		require.Equal(t, c.copies, copies, name)
	}

	// The text before the file, also where the text is what fails.
	s.Break(connectortest.HTML(http.StatusBadGateway), "sendMessage")
	attach(t, s, w, -606, "first.bin", []byte("x"))
	arrives(t, s, -606, "first.bin")
	cleared(t, w, "first.bin")
	sent := s.Sent(-606)
	require.Len(t, sent, 2)
	require.True(t, strings.HasPrefix(sent[0].Text, attachedText))
}

// Killed between a reply's text and its file: another worker sends the file, and no second text.
func TestKilledBetweenTextAndFile(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]time.Duration{
		"at once":                        0,
		"after a text that took a while": 3 * time.Second, // the worker has reported that it lives by then
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTelegram(t)
			w := s.world(t, harness.Setup{Split: true})
			const chat = -611
			var once sync.Once
			s.Faults.Break(func(r *http.Request) bool { // never happens, but takes its time
				if strings.HasSuffix(r.URL.Path, "/sendMessage") {
					once.Do(func() { <-time.After(slow) })
				}
				return false
			}, connectortest.Fault{})
			s.Break(connectortest.Fault{Kind: connectortest.Stalled}, "sendDocument")
			attach(t, s, w, chat, "kill.bin", []byte("content"))
			harness.Eventually(t, "the file is on its way", func() bool { return s.Faults.Left() == 1 })
			require.Equal(t, 1, texts(s, chat))
			require.Len(t, staged(t, w, "kill.bin"), 1, "it is kept until Telegram has it")
			w.KillEngine()
			require.Len(t, staged(t, w, "kill.bin"), 1)
			w.StartEngine(t)
			require.Equal(t, "content", string(arrives(t, s, chat, "kill.bin").Content))
			cleared(t, w, "kill.bin")
			require.Equal(t, 1, texts(s, chat), "the text is not sent twice")
			require.Len(t, s.Sent(chat), 2)
		})
	}
}

// The inbound side of Telegram is kept, whatever the name was (CONTRACT §6).
func TestTelegramInboundStays(t *testing.T) {
	t.Parallel()
	s := newTelegram(t)
	w := s.world(t, harness.Setup{})
	const chat = -621
	s.Say(group(chat), adaThere, "",
		telegramtest.With("document", map[string]any{"file_id": s.Upload("a.csv", []byte("1;2")), "file_name": "..\\..\\a\u202e.csv"}),
		telegramtest.With("caption", "/file_manager save_attachment source=a.csv disk=local path=in/"))
	s.await(t, chat, "✅ Done: file_manager save_attachment")
	found, err := filepath.Glob(w.File("inbound/*/a.csv"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	content, err := os.ReadFile(found[0])
	require.NoError(t, err)
	require.Equal(t, "1;2", string(content))
}
