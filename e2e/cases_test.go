package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// casesWorld is where appending asks, and making a folder does for one second.
func casesWorld(t *testing.T, setup harness.Setup) (*telegram, *harness.World) {
	t.Helper()
	s := newTelegram(t)
	setup.Env = map[string]string{"COUNTERSIGN_POLICY": `{file_manager.append: {confirm: true}, file_manager.mkdir: {confirm: true, timeout: 1s}}`}
	w := s.world(t, setup)
	return s, w
}

const noQuestion = "There is no question open here, so nothing was run"

// asked has somebody ask for a line in a chat of its own, and returns the question.
func asked(t *testing.T, s *telegram, w *harness.World, chat int64) (telegramtest.Message, contract.Approval) {
	t.Helper()
	s.Say(group(chat), adaThere, fmt.Sprintf("/file_manager append disk=local path=%d.txt content=line;", -chat))
	prompt := s.await(t, chat, "⚠️ Add to the file at ")
	question := harness.Until(t, "the question is pending", func() (contract.Approval, bool) {
		for _, a := range w.API.Pending(t) {
			if a.ThreadKey == fmt.Sprint(chat) && a.ExpiresAt != nil {
				return a, true
			}
		}
		return contract.Approval{}, false
	})
	return prompt, question
}

// The approval semantics of the hard cases, as people in a chat live through them.
func TestCases(t *testing.T) {
	t.Parallel()
	s, w := casesWorld(t, harness.Setup{})

	t.Run("H05 yes when nothing is pending", func(t *testing.T) {
		t.Parallel()
		const chat = -701
		s.Say(group(chat), adaThere, "yes")
		s.await(t, chat, noQuestion)
		// And after a question that has ended: a normal message (CONTRACT §3), never an order.
		s.Say(group(chat), adaThere, "/file_manager mkdir disk=local path=h05")
		s.await(t, chat, "Not run: file_manager mkdir – nobody answered in time.")
		s.Say(group(chat), adaThere, "Yes")
		harness.Eventually(t, "it is said again", func() bool { return s.prompts(chat, noQuestion) == 2 })
		require.False(t, w.Exists("h05"))
	})

	for n, text := range []string{
		"not yes", "yesterday's file is fine", "I said yes", "yes?", "yes, but only A", // H06
		"Yes.", "yes!", `"yes"`, "*yes*", "✅", "👍", "да", "ja", "y", "ok", "yes yes", // H07
		"what would it delete?", // H09
	} {
		t.Run(fmt.Sprintf("H06 H07 H09 %s", text), func(t *testing.T) {
			t.Parallel()
			chat := int64(-710 - n)
			_, question := asked(t, s, w, chat)
			s.Say(group(chat), bobThere, text)
			s.await(t, chat, "Not run: file_manager append – denied by bob.")
			state := w.API.Result(t, question.ID)
			require.Equal(t, [2]string{"denied", "denied"}, [2]string{state.Status, state.Reason})
			require.Equal(t, text, state.Approval.Decision.Reason, "the agent is told, as data")
			require.False(t, w.Exists(fmt.Sprintf("%d.txt", -chat)))
		})
	}
	for n, text := range []string{"YES ", "  Yes\t", "yEs", "yes\n\nOn Monday, Bot wrote:\n> no"} {
		t.Run(fmt.Sprintf("H07 %q", text), func(t *testing.T) {
			t.Parallel()
			chat := int64(-740 - n)
			asked(t, s, w, chat)
			s.Say(group(chat), bobThere, text)
			s.await(t, chat, "✅ Done: file_manager append")
		})
	}

	t.Run("H13 voice, file, sticker, reaction", func(t *testing.T) {
		t.Parallel()
		const chat = -750
		prompt, question := asked(t, s, w, chat)
		s.Say(group(chat), bobThere, "", telegramtest.With("voice", map[string]any{"file_id": s.Upload("v.ogg", []byte("yes")), "mime_type": "audio/ogg"}))
		s.Say(group(chat), bobThere, "", telegramtest.With("photo", []any{map[string]any{"file_id": s.Upload("p.jpg", []byte("yes")), "width": 9, "height": 9}}))
		s.Say(group(chat), bobThere, "", telegramtest.With("sticker", map[string]any{"file_id": "s", "emoji": "👍"}))
		s.Push(map[string]any{"message_reaction": map[string]any{
			"chat": group(chat), "user": bobThere, "message_id": prompt.ID, "new_reaction": []any{map[string]any{"type": "emoji", "emoji": "👍"}},
		}}, chat)
		s.taken(t)
		require.Equal(t, "pending", w.API.Question(t, question.ID).Status)
		require.False(t, w.Exists("750.txt"))
		s.Say(group(chat), bobThere, "yes")
		s.await(t, chat, "✅ Done: file_manager append")
		s.Say(group(chat), bobThere, "/file_manager save_attachment source=voice.ogg disk=local path=h13.ogg")
		s.await(t, chat, "✅ Done: file_manager save_attachment")
		require.Equal(t, "yes", w.Read(t, "h13.ogg"), "what came meanwhile is stored")
	})

	t.Run("H15 a timeout is not a denial", func(t *testing.T) {
		t.Parallel()
		const chat = -760
		s.Say(group(chat), adaThere, "/file_manager mkdir disk=local path=h15")
		prompt := s.await(t, chat, "⚠️ Make the folder h15")
		s.await(t, chat, "Not run: file_manager mkdir – nobody answered in time.")
		closed := s.await(t, chat, prompt.Text+"\n\n⌛ No answer until ")
		require.Empty(t, closed.Buttons)
		for _, label := range []string{"Yes", "No"} {
			_, _, err := s.Press(bobThere, prompt, label)
			require.NoError(t, err)
		}
		s.taken(t)
		id := ""
		harness.Eventually(t, "the call is listed", func() bool {
			var list struct {
				Invocations []contract.State `json:"invocations"`
			}
			w.API.Do(t, http.MethodGet, "/api/invocations?limit=200", nil).Decode(t, &list)
			for _, state := range list.Invocations {
				if state.Operation == "mkdir" && strings.Contains(state.Thread.Key, "-760") {
					id = state.ID
				}
			}
			return id != ""
		})
		for _, decision := range []string{"allow", "deny"} {
			answer := w.API.Decide(t, id, harness.Say{Decision: decision})
			require.Equal(t, http.StatusGone, answer.Status)
			require.Equal(t, "timeout", answer.Problem(t).Reason)
		}
		state := w.API.State(t, id)
		require.Equal(t, [3]string{"denied", "PERMISSION_DENIED", "timeout"}, [3]string{state.Status, state.Code, state.Reason})
		require.Equal(t, "timeout", state.Approval.Status)
		require.Nil(t, state.Approval.Decision, "nobody decided")
		require.False(t, w.Exists("h15"))
	})

	t.Run("H18 asked in one conversation only", func(t *testing.T) {
		t.Parallel()
		// Asked on the page: nobody on Telegram hears of it, though ada and bob are there too.
		id := w.API.Invoke(t, harness.File("append", "h18.txt", "content", "line;").In("web", "h18"))
		w.API.Question(t, id)
		require.Equal(t, http.StatusOK, w.API.Decide(t, id, harness.Say{Decision: "allow"}).Status)
		require.Equal(t, "completed", w.API.Result(t, id).Status)
		require.Empty(t, s.Sent(ada))
		require.Empty(t, s.Sent(bob))
		// Asked on Telegram, decided over HTTP: the copy there says so, and a later yes is none.
		const chat = -770
		prompt, question := asked(t, s, w, chat)
		require.Equal(t, http.StatusOK, w.As(harness.Bob).Decide(t, question.ID, harness.Say{Decision: "deny", Reason: "no"}).Status)
		closed := s.await(t, chat, prompt.Text+"\n\n")
		require.Contains(t, closed.Text, "bob")
		require.Empty(t, closed.Buttons)
		s.Say(group(chat), adaThere, "yes")
		s.await(t, chat, noQuestion)
		require.False(t, w.Exists("770.txt"))
	})
}

// H11: killed while it waits, and answered meanwhile: the same question with the same deadline,
// no second prompt, one run. With the gateway up the press is kept at once; with everything
// down the platform sends it again.
func TestH11(t *testing.T) {
	t.Parallel()
	for name, split := range map[string]bool{"the engine": true, "all of it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := casesWorld(t, harness.Setup{Split: split})
			const chat = -780
			prompt, question := asked(t, s, w, chat)
			w.KillEngine()
			_, _, err := s.Press(bobThere, prompt, "Yes")
			require.NoError(t, err)
			w.StartEngine(t)
			s.await(t, chat, "✅ Done: file_manager append")
			state := w.API.Result(t, question.ID)
			require.Equal(t, question.ExpiresAt, state.Approval.ExpiresAt)
			require.Equal(t, "bob", state.Approval.Decision.By)
			require.Equal(t, "line;", w.Read(t, "780.txt"))
			require.Equal(t, 1, s.prompts(chat, "⚠️ Add to the file at "))
			require.Len(t, w.Audit(t, question.ID), 1)
		})
	}
}

// H10: killed after the effect and before its record: it is not run again, and it is said that
// nobody knows. TestKilledWhileItRuns has the other three ends.
func TestH10(t *testing.T) {
	t.Parallel()
	vault := harness.NewS3(t)
	w := harness.New(t, harness.Setup{Split: true, Env: vault.Settings()})
	require.Equal(t, "completed", w.API.Result(t, w.API.Invoke(t, harness.Vault("write", "marker.txt", "content", "start,"))).Status)
	hold := vault.Hold(http.MethodPut)
	id := w.API.Invoke(t, harness.Vault("append", "marker.txt", "content", "marker,").In("api", "h10"))
	hold.Await(t)
	w.KillEngine()
	vault.Release(hold) // the effect
	w.StartEngine(t)
	state := w.API.Result(t, id)
	require.Equal(t, [2]string{"unknown", "OUTCOME_UNKNOWN"}, [2]string{state.Status, state.Code})
	harness.Eventually(t, "the effect is there once", func() bool { return w.ReadVault(t, "marker.txt") == "start,marker," })
}
