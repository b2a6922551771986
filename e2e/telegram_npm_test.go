package e2e_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

const (
	ada      = 1001 // an owner
	bob      = 1002 // an approver
	stranger = 4711

	deleteX       = "/file_manager delete disk=local path=reports/x.csv"
	deletePromptX = "⚠️ Delete the file at reports/x.csv on disk local? Reply 'Yes' to confirm."
)

// The main job on a Telegram server that nobody here wrote.
func TestNPMTelegram(t *testing.T) {
	t.Parallel()
	// Each case has its own file, in a chat of its own: private ones, and groups.
	cases := []struct {
		name    string
		chat    int64
		answer  func(t *testing.T, s *harness.NPMTelegram, chat int64, prompt harness.NPMMessage)
		edited  string
		reply   string
		deleted bool
	}{
		{
			name: "yes", chat: ada, deleted: true, edited: "✅ Approved by ada at ", reply: "✅ Done: file_manager delete",
			answer: func(t *testing.T, s *harness.NPMTelegram, chat int64, _ harness.NPMMessage) {
				s.Say(t, ada, chat, "yes")
			},
		},
		{
			name: "no", chat: bob, edited: "❌ Denied by bob at ", reply: "Not run: file_manager delete – denied by bob.",
			answer: func(t *testing.T, s *harness.NPMTelegram, chat int64, _ harness.NPMMessage) {
				s.Say(t, bob, chat, "no")
			},
		},
		{
			name: "another text", chat: -101, edited: "❌ Denied by ada at ", reply: "Not run: file_manager delete – denied by ada.",
			answer: func(t *testing.T, s *harness.NPMTelegram, chat int64, _ harness.NPMMessage) {
				s.Say(t, ada, chat, "Yes, but not now")
			},
		},
		{
			name: "the button Yes", chat: -102, deleted: true, edited: "✅ Approved by ada at ", reply: "✅ Done: file_manager delete",
			answer: func(t *testing.T, s *harness.NPMTelegram, chat int64, prompt harness.NPMMessage) {
				s.Press(t, ada, chat, prompt, "Yes")
			},
		},
		{
			name: "the button No", chat: -103, edited: "❌ Denied by telegram:4711 at ", reply: "Not run: file_manager delete – denied by telegram:4711.",
			answer: func(t *testing.T, s *harness.NPMTelegram, chat int64, prompt harness.NPMMessage) {
				s.Press(t, stranger, chat, prompt, "No")
			},
		},
	}
	server := harness.NewNPMTelegram(t)
	w := harness.New(t, harness.Setup{Env: server.Settings()})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := "reports/" + strings.ReplaceAll(c.name, " ", "-") + ".csv"
			w.Write(t, path, "month,total\n")
			server.Say(t, ada, c.chat, strings.ReplaceAll(deleteX, "reports/x.csv", path))
			question := strings.ReplaceAll(deletePromptX, "reports/x.csv", path)
			prompt := server.Await(t, c.chat, "the prompt", func(m harness.NPMMessage) bool { return m.Text == question })
			require.Equal(t, []string{"Yes", "No"}, labels(prompt))
			require.True(t, w.Exists(path), "nothing is changed before the answer")
			c.answer(t, server, c.chat, prompt)
			edited := server.Await(t, c.chat, "the prompt is edited", func(m harness.NPMMessage) bool {
				return m.ID == prompt.ID && strings.HasPrefix(m.Text, question+"\n\n"+c.edited)
			})
			require.Empty(t, edited.Buttons)
			server.Await(t, c.chat, "the reply", func(m harness.NPMMessage) bool { return strings.HasPrefix(m.Text, c.reply) })
			require.Equal(t, c.deleted, !w.Exists(path))
			require.Len(t, server.Sent(t, c.chat), 2, "one prompt and one reply")
		})
	}
}

func TestNPMTelegramTimeout(t *testing.T) {
	t.Parallel()
	server := harness.NewNPMTelegram(t)
	settings := server.Settings()
	maps.Copy(settings, map[string]string{"COUNTERSIGN_CONFIRM_TIMEOUT": "2s"})
	w := harness.New(t, harness.Setup{Env: settings})
	w.Write(t, "reports/x.csv", "month,total\n")
	server.Say(t, ada, ada, deleteX)
	prompt := server.Await(t, ada, "the prompt", func(m harness.NPMMessage) bool { return m.Text == deletePromptX })
	edited := server.Await(t, ada, "the prompt is edited", func(m harness.NPMMessage) bool {
		return m.ID == prompt.ID && strings.HasPrefix(m.Text, deletePromptX+"\n\n⌛ No answer until ")
	})
	require.Empty(t, edited.Buttons)
	server.Await(t, ada, "the reply", func(m harness.NPMMessage) bool {
		return m.Text == "Not run: file_manager delete – nobody answered in time."
	})
	require.True(t, w.Exists("reports/x.csv"))
	server.Say(t, ada, ada, "yes")
	server.Await(t, ada, "a late yes is a normal message", func(m harness.NPMMessage) bool {
		return strings.HasPrefix(m.Text, "There is no question open here")
	})
	require.True(t, w.Exists("reports/x.csv"))
}

func labels(m harness.NPMMessage) []string {
	list := make([]string, 0, len(m.Buttons))
	for _, b := range m.Buttons {
		list = append(list, b.Text)
	}
	return list
}
