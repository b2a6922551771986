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

// recordQuestions goes through the ends that need nobody to die.
func recordQuestions(t *testing.T, r *recorder) {
	t.Helper()
	s := newTelegram(t)
	w := s.world(t, harness.Setup{Redis: harness.NewRedis(t), Env: map[string]string{"COUNTERSIGN_EXAMPLES": "true", "COUNTERSIGN_POLICY": `{
		file_manager.append: {confirm: true},
		file_manager.mkdir: {confirm: true, timeout: 1s},
		file_manager.move: {confirm: true, approvers: {who: list, people: [ada, bob], quorum: 2}},
		file_manager.copy: {confirm: true, approvers: {who: other, quorum: 2}, ask_also: ["telegram:-31", "telegram:-32"]},
	}`}})
	say := func(who telegramtest.Person, chat int64, text string, options ...telegramtest.Option) {
		s.Say(group(chat), who, text, options...)
	}
	// pending waits for a new question in a chat and returns its invocation.
	pending := func(chat int64) string {
		return harness.Until(t, "a question in the chat", func() (string, bool) {
			for _, a := range w.API.Pending(t) {
				if a.ThreadKey == fmt.Sprint(chat) && a.ExpiresAt != nil {
					return a.ID, true
				}
			}
			return "", false
		})
	}
	appending := func(chat int64) string {
		return fmt.Sprintf("/file_manager append disk=local path=%d.txt content=line;", -chat)
	}
	done := func(chat int64, scenario, id, reply string) {
		s.await(t, chat, reply)
		s.taken(t)
		r.invocation(t, w, scenario, id)
		r.conversation(t, w, scenario, fmt.Sprintf("telegram/%d", chat))
	}

	// A text of somebody who may not answer goes back to the conversation, a file without text is
	// stored; then the answer.
	say(adaThere, -1, appending(-1))
	id := pending(-1)
	say(adaThere, -1, "", telegramtest.With("document", map[string]any{"file_id": s.Upload("a.csv", []byte("x")), "file_name": "a.csv"}))
	say(adaThere, -1, "yes")
	done(-1, "approved_by_text", id, "✅ Done: file_manager append")

	say(adaThere, -2, appending(-2))
	id = pending(-2)
	_, _, err := s.Press(adaThere, s.await(t, -2, "⚠️"), "Yes")
	require.NoError(t, err)
	done(-2, "approved_by_button", id, "✅ Done: file_manager append")

	id = w.API.Invoke(t, harness.File("append", "decision.txt", "content", "line;").In("web", "decision"))
	w.API.Question(t, id)
	require.Equal(t, http.StatusOK, w.API.Decide(t, id, harness.Say{Decision: "allow"}).Status)
	require.Equal(t, "completed", w.API.Result(t, id).Status)
	r.invocation(t, w, "approved_by_decision", id)
	r.conversation(t, w, "approved_by_decision", "web/decision")

	w.Write(t, "two.txt", "x")
	say(adaThere, -3, "/file_manager move disk=local path=two.txt destination=three.txt")
	id = pending(-3)
	say(strangerThere, -3, "what is that?")
	say(adaThere, -3, "yes")
	harness.Eventually(t, "one of two has agreed", func() bool { return len(w.API.Question(t, id).Votes) == 1 })
	say(bobThere, -3, "yes")
	done(-3, "approved_by_quorum", id, "I only understand commands here")

	// Two others agree, each in another chat, to what is asked for in a third: one after some talk that
	// points at the copy and is not theirs to say.
	w.Write(t, "four.txt", "x")
	say(adaThere, -30, "/file_manager copy disk=local path=four.txt destination=five.txt")
	id = pending(-30)
	first31, first32 := s.await(t, -31, "⚠️ Copy four.txt"), s.await(t, -32, "⚠️ Copy four.txt")
	say(adaThere, -31, "yes", s.ReplyTo(first31))
	say(bobThere, -31, "yes", s.ReplyTo(first31))
	harness.Eventually(t, "one of two has agreed", func() bool { return len(w.API.Question(t, id).Votes) == 1 })
	_, _, err = s.Press(strangerThere, first32, "Yes")
	require.NoError(t, err)
	s.await(t, -31, first31.Text+"\n\n✅ Approved by telegram:")
	s.await(t, -32, first32.Text+"\n\n✅ Approved by telegram:")
	done(-30, "approved_by_copies", id, "✅ Done: file_manager copy")
	r.conversation(t, w, "copy", "telegram/-31")

	say(adaThere, -4, appending(-4))
	id = pending(-4)
	say(adaThere, -4, "!help") // answered beside the turn that waits
	s.await(t, -4, "I understand these words")
	say(adaThere, -4, "always")
	s.await(t, -4, "✅ Done: file_manager append")
	say(adaThere, -4, strings.ReplaceAll(appending(-4), "line;", "granted;"))
	harness.Eventually(t, "the grant covers the next call", func() bool { return w.Read(t, "4.txt") == "line;granted;" })
	say(adaThere, -4, "/help")
	done(-4, "always_allowed", id, "Write a call like this")

	say(adaThere, -5, appending(-5))
	id = pending(-5)
	say(adaThere, -5, "no, not this one")
	done(-5, "denied", id, "Not run: file_manager append – denied by ada.")

	id = w.API.Invoke(t, harness.File("append", "alone.txt", "content", "line;").In("telegram", "-6"))
	w.API.Question(t, id)
	say(adaThere, -6, "no")
	s.await(t, -6, "It was not run.")
	require.Equal(t, "denied", w.API.Result(t, id).Status)
	done(-6, "denied_without_a_turn", id, "It was not run.")

	say(adaThere, -7, "/file_manager mkdir disk=local path=late")
	id = pending(-7)
	done(-7, "timed_out", id, "Not run: file_manager mkdir – nobody answered in time.")

	first := w.API.Invoke(t, harness.File("append", "first.txt", "content", "x").In("telegram", "-8"))
	w.API.Question(t, first)
	second := w.API.Invoke(t, harness.File("append", "second.txt", "content", "x").In("telegram", "-8"))
	w.API.Question(t, second)
	require.Equal(t, "superseded", w.API.Result(t, first).Reason)
	say(adaThere, -8, "yes")
	require.Equal(t, "completed", w.API.Result(t, second).Status)
	r.invocation(t, w, "superseding", second)
	r.invocation(t, w, "superseded", first)
	r.conversation(t, w, "superseded", "telegram/-8")

	say(adaThere, -9, appending(-9))
	id = pending(-9)
	say(adaThere, -9, "!new")
	done(-9, "withdrawn", id, "This is a new conversation.")

	id = w.API.Invoke(t, harness.File("append", "cancelled.txt", "content", "x").In("web", "cancelled"))
	w.API.Question(t, id)
	require.NoError(t, w.Client.CancelWorkflow(t.Context(), contract.InvocationID(id), ""))
	require.Equal(t, "withdrawn", w.API.Result(t, id).Reason)
	r.invocation(t, w, "cancelled", id)

	s.Block(-10)
	id = w.API.Invoke(t, harness.File("append", "blocked.txt", "content", "x").In("telegram", "-10"))
	require.Equal(t, "undeliverable", w.API.Result(t, id).Reason)
	r.invocation(t, w, "undeliverable", id)

	id = w.API.Invoke(t, harness.File("append", "redis.txt", "content", "x").In("web", "redis"))
	w.API.Question(t, id)
	w.Redis.Awaiting(t, "web:redis", id)
	require.NoError(t, w.Redis.RPush(t.Context(), "confirm:web:redis", "yes").Err())
	require.Equal(t, "completed", w.API.Result(t, id).Status)
	r.invocation(t, w, "approved_by_redis", id)

	// An album is one message; its words stand under one of its parts. They come while a question
	// that the sender may not answer is pending, so that it does not matter how fast they come.
	part := func(name string) []telegramtest.Option {
		return []telegramtest.Option{
			telegramtest.With("media_group_id", "album"),
			telegramtest.With("document", map[string]any{"file_id": s.Upload(name, []byte(name)), "file_name": name}),
		}
	}
	w.Write(t, "stay.txt", "x")
	say(adaThere, -11, "/file_manager move disk=local path=stay.txt destination=go.txt")
	pending(-11)
	say(strangerThere, -11, "", part("one.txt")...)
	say(strangerThere, -11, "", append(part("two.txt"), telegramtest.With("caption", "/file_manager save_attachment source=one.txt disk=local path=album.txt"))...)
	say(strangerThere, -11, "", part("three.txt")...)
	s.taken(t)
	say(adaThere, -11, "no")
	s.await(t, -11, "✅ Done: file_manager save_attachment")
	require.Equal(t, "one.txt", w.Read(t, "album.txt"))
	require.Len(t, s.Sent(-11), 3, "a prompt, and a reply for each of two messages")
	r.conversation(t, w, "album", "telegram/-11")

	// A step that only a person does: said to be done when it is not, then cancelled.
	id = handoff(t, w, "cancelled")
	answer := w.API.Do(t, http.MethodPost, "/api/handoffs/"+id+"/complete", map[string]string{"decision_id": "1"})
	require.Equal(t, http.StatusAccepted, answer.Status, "it stays open: %s", answer.Body)
	require.Equal(t, "waiting", w.API.State(t, id).Status)
	answer = w.API.Do(t, http.MethodPost, "/api/handoffs/"+id+"/cancel", map[string]string{"decision_id": "2"})
	require.Equal(t, http.StatusOK, answer.Status, string(answer.Body))
	state := w.API.Result(t, id)
	require.Equal(t, [2]string{"cancelled", "HANDOFF_CANCELLED"}, [2]string{state.Status, state.Code})
	r.invocation(t, w, "handoff_cancelled", id)

	id = w.API.Invoke(t, harness.File("read", "missing.txt"))
	require.Equal(t, "UNAVAILABLE", w.API.Result(t, id).Code)
	r.invocation(t, w, "unavailable", id)
	id = w.API.Invoke(t, harness.File("write", "plain.txt", "content", "x"))
	require.Equal(t, "completed", w.API.Result(t, id).Status)
	r.invocation(t, w, "not_asked", id)
	r.take(t, w, "questions.inbox", contract.InboxID)
}

// handoff asks a person on the web page to publish the workspace, which never was, and returns
// the invocation once that is out.
func handoff(t *testing.T, w *harness.World, thread string) string {
	t.Helper()
	id := w.API.Invoke(t, harness.Call{Tool: "workspace", Operation: "publish_changes", Parameters: map[string]any{}}.In("web", thread))
	harness.Eventually(t, "the step is put to a person", func() bool {
		state := w.API.State(t, id)
		return state.Handoff != nil && state.Handoff.ExpiresAt != nil
	})
	return id
}

// recordDown answers in time, late and not at all while the deadline passes without an engine.
func recordDown(t *testing.T, r *recorder) {
	t.Helper()
	s := newTelegram(t)
	w := s.world(t, harness.Setup{Split: true, Env: map[string]string{
		"COUNTERSIGN_POLICY": askToAppend, "COUNTERSIGN_CONFIRM_TIMEOUT": "5s", "COUNTERSIGN_HANDOFF_TIMEOUT": "2s",
		"COUNTERSIGN_EXAMPLES": "true",
	}})
	step := handoff(t, w, "timed-out")
	require.Equal(t, "HANDOFF_TIMEOUT", w.API.Result(t, step).Code)
	r.invocation(t, w, "handoff_timed_out", step)
	chats := map[int64]string{-1: "down_answered_in_time", -2: "down_answered_late", -3: "down_not_answered"}
	questions := map[int64]contract.Approval{}
	for chat := range chats {
		s.Say(group(chat), adaThere, fmt.Sprintf("/file_manager append disk=local path=%d.txt content=line;", -chat))
	}
	for chat := range chats {
		questions[chat] = harness.Until(t, "the question is out", func() (contract.Approval, bool) {
			for _, a := range w.API.Pending(t) {
				if a.ThreadKey == fmt.Sprint(chat) && a.ExpiresAt != nil {
					return a, true
				}
			}
			return contract.Approval{}, false
		})
	}
	w.KillEngine()
	s.Say(group(-1), adaThere, "yes")
	s.taken(t)
	for _, question := range questions {
		harness.Pass(t, *question.ExpiresAt)
	}
	s.Say(group(-2), adaThere, "yes")
	s.taken(t)
	w.StartEngine(t)
	for chat, scenario := range chats {
		state := w.API.Result(t, questions[chat].ID)
		require.Equal(t, chat == -1, state.Status == "completed", "%s: %+v", scenario, state)
		reply := "Not run: file_manager append – nobody answered in time."
		if chat == -1 {
			reply = "✅ Done: file_manager append"
		}
		s.await(t, chat, reply)
		if chat == -2 {
			s.await(t, chat, "There is no question open here")
		}
		r.invocation(t, w, scenario, questions[chat].ID)
		r.conversation(t, w, scenario, fmt.Sprintf("telegram/%d", chat))
	}
}

// recordSettled kills the worker in the middle of runs whose outcome is then found out, or not.
func recordSettled(t *testing.T, r *recorder) {
	t.Helper()
	vault := harness.NewS3(t)
	settings := vault.Settings()
	settings["COUNTERSIGN_POLICY"] = askToAppend
	w := harness.New(t, harness.Setup{Split: true, Env: settings})
	made := w.API.Result(t, w.API.Invoke(t, harness.Vault("write", "file.txt", "content", "text")))
	require.Equal(t, "completed", made.Status, "%+v", made)
	settled := w.API.Invoke(t, harness.Vault("delete", "file.txt").In("web", "settled"))
	unknown := w.API.Invoke(t, harness.Vault("append", "other.txt", "content", "text").In("web", "unknown"))
	var holds []*harness.Hold
	for id, method := range map[string]string{settled: http.MethodDelete, unknown: http.MethodPut} {
		w.API.Question(t, id)
		hold := vault.Hold(method)
		require.Equal(t, http.StatusOK, w.API.Decide(t, id, harness.Say{Decision: "allow"}).Status)
		hold.Await(t)
		holds = append(holds, hold)
	}
	w.KillEngine()
	for _, hold := range holds {
		vault.Drop(hold)
	}
	w.StartEngine(t)
	require.Equal(t, "completed", w.API.Result(t, settled).Status)
	require.Equal(t, "unknown", w.API.Result(t, unknown).Status)
	r.invocation(t, w, "settled", settled)
	r.invocation(t, w, "outcome_unknown", unknown)
}

// recordContinued lets a conversation start its history afresh while a question is pending.
func recordContinued(t *testing.T, r *recorder) {
	t.Helper()
	s := newTelegram(t)
	temporal := harness.NewTemporal(t, "limit.historyCount.suggestContinueAsNew=40")
	w := s.world(t, harness.Setup{Temporal: temporal, Env: map[string]string{
		"COUNTERSIGN_POLICY": `{file_manager.append: {confirm: true, approvers: {who: list, people: [ada]}}}`,
	}})
	const chat, id = -1, "conversation/telegram/-1"
	first := map[string]any{"update_id": 600001, "message": s.Compose(group(chat), adaThere, "/file_manager append disk=local path=long.txt content=line;")}
	status, _ := hook(t, w, secret, first)
	require.Equal(t, http.StatusOK, status)
	prompt := s.await(t, chat, "⚠️ Add to the file at long.txt")
	question := harness.Until(t, "the question is pending", func() (contract.Approval, bool) {
		pending := w.API.Pending(t)
		return append(pending, contract.Approval{})[0], len(pending) == 1 && pending[0].ExpiresAt != nil
	})
	// Messages of somebody who may not answer wait for their turn, until the history is long.
	talk := 0
	harness.Eventually(t, "the conversation continues as new", func() bool {
		talk++
		s.Say(group(chat), bobThere, fmt.Sprintf("/file_manager append disk=local path=bob.txt content=%d;", talk))
		s.taken(t)
		return continued(t, w, id)
	})
	// So does the inbox, with questions that take each other's place.
	harness.Eventually(t, "the inbox continues as new", func() bool {
		w.API.Question(t, w.API.Invoke(t, harness.File("append", "web.txt", "content", "x").In("web", "inbox")))
		return continued(t, w, contract.InboxID)
	})
	require.Equal(t, question, w.API.Question(t, question.ID), "the question keeps its deadline")
	require.Contains(t, w.API.Pending(t), question)
	status, _ = hook(t, w, secret, first)
	require.Equal(t, http.StatusOK, status)
	s.Say(group(chat), adaThere, "yes")
	require.Equal(t, "completed", w.API.Result(t, question.ID).Status)
	require.Equal(t, question.ExpiresAt, w.API.State(t, question.ID).Approval.ExpiresAt)
	require.Equal(t, "line;", w.Read(t, "long.txt"), "what was seen before stays known")
	// Each of the messages that waited has its turn.
	s.await(t, chat, "✅ Done: file_manager append")
	s.await(t, chat, "⚠️ Add to the file at bob.txt")
	harness.Eventually(t, "the first of those that waited is answered", func() bool {
		for _, pending := range w.API.Pending(t) {
			if pending.Connector == "telegram" {
				require.Contains(t, string(pending.Parameters), `"1;"`, "they kept their order")
				return w.API.Decide(t, pending.ID, harness.Say{Decision: "deny"}).Status == http.StatusOK
			}
		}
		return false
	})
	require.Equal(t, 1, s.prompts(chat, prompt.Text))
	runs := r.conversation(t, w, "continued_as_new", "telegram/-1")
	require.Greater(t, len(runs), 1)
	r.invocation(t, w, "continued_as_new", question.ID)
	r.take(t, w, "continued_as_new.inbox", contract.InboxID)
}

// continued tells whether a workflow is no longer in its first run.
func continued(t *testing.T, w *harness.World, workflowID string) bool {
	t.Helper()
	first, latest := w.Runs(t, workflowID)
	return first != latest
}

// recordListener has a poller taken over after its worker has died.
func recordListener(t *testing.T, r *recorder) {
	t.Helper()
	s := newTelegram(t)
	settings := s.settings(map[string]string{"COUNTERSIGN_TELEGRAM_MODE": "polling", "COUNTERSIGN_PUBLIC_URL": ""})
	w := harness.New(t, harness.Setup{Port: s.port, Env: settings})
	s.Say(private(adaThere), adaThere, "/file_manager append disk=local path=log.txt content=one,")
	s.await(t, ada, "✅ Done: file_manager append")
	w.KillEngine()
	s.Say(private(adaThere), adaThere, "/file_manager append disk=local path=log.txt content=two,")
	w.StartEngine(t)
	harness.Eventually(t, "the poller is taken over", func() bool { return w.Read(t, "log.txt") == "one,two," })
	s.taken(t)
	r.take(t, w, "polling.listener", contract.ListenerID("telegram"))
}
