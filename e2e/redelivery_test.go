package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// Every redelivery has one effect. Those of Telegram updates are in TestWebhook.
func TestRedelivery(t *testing.T) {
	t.Parallel()
	telegram := newTelegram(t)
	w := telegram.world(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_POLICY": `{
		file_manager.append: {confirm: true},
		file_manager.mkdir: {confirm: true, timeout: 1s},
		file_manager.move: {confirm: true, approvers: {who: list, people: [ada]}},
	}`}})
	ask := func(t *testing.T, thread string) string {
		t.Helper()
		id := w.API.Invoke(t, harness.File("append", thread+".txt", "content", "line;").In("web", thread))
		w.API.Question(t, id)
		return id
	}

	t.Run("the same invocation id returns the first", func(t *testing.T) {
		t.Parallel()
		call := harness.File("append", "first.txt", "content", "line;").In("web", "same-id")
		call.ID = "the caller's own key"
		require.Equal(t, call.ID, w.API.Invoke(t, call))
		question := w.API.Question(t, call.ID)
		other := harness.File("write", "second.txt", "content", "x").In("api", "elsewhere")
		other.ID = call.ID
		require.Equal(t, call.ID, w.API.Invoke(t, other))
		require.Equal(t, question, w.API.Question(t, call.ID))
		require.Equal(t, http.StatusOK, w.API.Decide(t, call.ID, harness.Say{Decision: "allow"}).Status)
		state := w.API.Result(t, call.ID)
		require.Equal(t, [3]string{"completed", "append", "web"}, [3]string{state.Status, state.Operation, state.Thread.Connector})
		// Also after its end.
		require.Equal(t, call.ID, w.API.Invoke(t, call))
		require.Equal(t, call.ID, w.API.Invoke(t, other))
		require.Equal(t, state, w.API.State(t, call.ID))
		require.Equal(t, "line;", w.Read(t, "first.txt"))
		require.False(t, w.Exists("second.txt"))
	})

	t.Run("the same signal", func(t *testing.T) {
		t.Parallel()
		thread := chat.Thread{Connector: chat.Telegram, Key: "-901"}
		message := chat.Message{
			UUID: "01980000-0000-7000-8000-000000000001", EventID: "telegram:update:e2e", Thread: thread, ReceivedAt: time.Now().UTC(),
			From: chat.Person{ID: "telegram:1001", Name: "ada"}, Text: "/file_manager append disk=local path=signal.txt content=line;",
		}
		note := func(m chat.Message) {
			for range 2 {
				require.NoError(t, w.Client.SignalWorkflow(t.Context(), contract.ConversationID(thread), "", contract.SignalNote, contract.Note{Message: &m}))
			}
		}
		telegram.Say(group(-901), adaThere, "/help") // so that there is a conversation
		telegram.await(t, -901, "Write a call like this")
		note(message)
		prompt := telegram.await(t, -901, "⚠️ Add to the file at signal.txt")
		yes := message
		yes.UUID, yes.EventID, yes.Text, yes.ReceivedAt = "01980000-0000-7000-8000-000000000002", "telegram:update:e2e-yes", "yes", time.Now().UTC()
		note(yes)
		telegram.await(t, -901, "✅ Done: file_manager append")
		note(message)
		note(yes)
		telegram.Say(group(-901), adaThere, "/file_manager exists disk=local path=signal.txt")
		telegram.await(t, -901, "✅ Done: file_manager exists")
		require.Equal(t, "line;", w.Read(t, "signal.txt"))
		require.Equal(t, 1, telegram.prompts(-901, prompt.Text))
		require.Len(t, telegram.Sent(-901), 4, "help, one prompt, and two replies: %v", telegram.Sent(-901))
	})

	t.Run("the same answer as a signal", func(t *testing.T) {
		t.Parallel()
		id := ask(t, "answers")
		by := chat.Person{ID: "api:ada", Name: "ada", Owner: true}
		answer := contract.Answer{ID: "e2e-answer", Decision: chat.Allow, By: by, Via: "api", ReceivedAt: time.Now().UTC(), Entitled: true}
		against := answer
		against.Decision = chat.Deny
		for _, a := range []contract.Answer{answer, answer, against} {
			// The later ones may find that it has ended.
			_ = w.Client.SignalWorkflow(t.Context(), contract.InvocationID(id), "", contract.SignalDecision, a)
		}
		state := w.API.Result(t, id)
		require.Equal(t, "completed", state.Status)
		require.Equal(t, "line;", w.Read(t, "answers.txt"))
		require.Len(t, w.Audit(t, id), 1)
	})

	t.Run("the same decision_id", func(t *testing.T) {
		t.Parallel()
		id := ask(t, "decisions")
		say := harness.Say{Decision: "allow", DecisionID: "1", Reason: "fine"}
		first := w.API.Decide(t, id, say)
		require.Equal(t, http.StatusOK, first.Status, string(first.Body))
		var stands harness.Decision
		first.Decode(t, &stands)
		require.Equal(t, [4]string{"allow", "ada", "api", "fine"}, [4]string{stands.Decision, stands.By, stands.Via, stands.Reason})
		require.Equal(t, time.UTC, stands.At.Location())
		require.WithinDuration(t, time.Now(), stands.At, time.Minute)
		check := func() {
			again := w.API.Decide(t, id, say)
			require.Equal(t, http.StatusOK, again.Status, string(again.Body))
			require.JSONEq(t, string(first.Body), string(again.Body))
			for _, other := range []harness.Say{{Decision: "deny", DecisionID: "1"}, {Decision: "deny"}, {Decision: "allow", DecisionID: "2"}} {
				refused := w.API.Decide(t, id, other)
				require.Equal(t, http.StatusConflict, refused.Status, "%+v: %s", other, refused.Body)
				require.Equal(t, &stands, refused.Problem(t).Decision)
			}
			// Bob's ids are his own.
			refused := w.As(harness.Bob).Decide(t, id, say)
			require.Equal(t, http.StatusConflict, refused.Status, string(refused.Body))
		}
		check()
		require.Equal(t, "completed", w.API.Result(t, id).Status)
		check() // as well after the end
		require.Equal(t, "line;", w.Read(t, "decisions.txt"))
		require.Len(t, w.Audit(t, id), 1)
	})

	t.Run("who may decide, and what", func(t *testing.T) {
		t.Parallel()
		w.Write(t, "from.txt", "x")
		id := w.API.Invoke(t, harness.File("move", "from.txt", "destination", "to.txt").In("web", "roles"))
		w.API.Question(t, id)
		allow := harness.Say{Decision: "allow"}
		require.Equal(t, http.StatusForbidden, w.As(harness.Robot).Decide(t, id, allow).Status, "an agent never decides")
		require.Equal(t, http.StatusForbidden, w.As(harness.Bob).Decide(t, id, allow).Status, "the policy names ada")
		require.Equal(t, http.StatusUnauthorized, w.As("nobody").Decide(t, id, allow).Status)
		for _, wrong := range []string{"", "yes", "ALLOW", "allow "} {
			require.Equal(t, http.StatusUnprocessableEntity, w.API.Decide(t, id, harness.Say{Decision: wrong}).Status, wrong)
		}
		require.Equal(t, http.StatusNotFound, w.API.Decide(t, "01ARZ3NDEKTSV4RRFFQ69G5FAV", allow).Status)
		require.Equal(t, "pending", w.API.Question(t, id).Status)
		require.Equal(t, http.StatusOK, w.As(harness.Ada).Decide(t, id, allow).Status)
		require.Equal(t, "completed", w.API.Result(t, id).Status)
	})

	t.Run("always is not offered for what is dangerous", func(t *testing.T) {
		t.Parallel()
		w.Write(t, "danger.txt", "x")
		id := w.API.Invoke(t, harness.File("delete", "danger.txt").In("web", "danger"))
		w.API.Question(t, id)
		require.Equal(t, http.StatusUnprocessableEntity, w.API.Decide(t, id, harness.Say{Decision: "allow_always"}).Status)
		require.Equal(t, "pending", w.API.Question(t, id).Status)
		require.Equal(t, http.StatusOK, w.API.Decide(t, id, harness.Say{Decision: "deny", Reason: "not today"}).Status)
		state := w.API.Result(t, id)
		require.Equal(t, [3]string{"denied", "PERMISSION_DENIED", "denied"}, [3]string{state.Status, state.Code, state.Reason})
		require.Equal(t, "not today", state.Approval.Decision.Reason)
		require.True(t, w.Exists("danger.txt"))
	})

	t.Run("after the end of a question", func(t *testing.T) {
		t.Parallel()
		gone := func(id, reason string) {
			t.Helper()
			state := w.API.Result(t, id)
			require.Equal(t, [3]string{"denied", "PERMISSION_DENIED", reason}, [3]string{state.Status, state.Code, state.Reason})
			for _, what := range []string{"allow", "deny"} {
				answer := w.API.Decide(t, id, harness.Say{Decision: what})
				require.Equal(t, http.StatusGone, answer.Status, string(answer.Body))
				require.Equal(t, reason, answer.Problem(t).Reason)
			}
			require.Equal(t, state, w.API.State(t, id))
		}
		timeout := w.API.Invoke(t, harness.File("mkdir", "late").In("web", "timeout"))
		gone(timeout, "timeout")
		first := ask(t, "superseded")
		ask(t, "superseded")
		gone(first, "superseded")
		withdrawn := ask(t, "withdrawn")
		require.NoError(t, w.Client.CancelWorkflow(t.Context(), contract.InvocationID(withdrawn), ""))
		gone(withdrawn, "withdrawn")
		require.False(t, w.Exists("late"))
		require.False(t, w.Exists("superseded.txt"))
		require.False(t, w.Exists("withdrawn.txt"))
		// Nobody can be asked in a chat that has blocked the bot.
		telegram.Block(-902)
		undeliverable := w.API.Invoke(t, harness.File("append", "blocked.txt", "content", "x").In("telegram", "-902"))
		gone(undeliverable, "undeliverable")
		require.False(t, w.Exists("blocked.txt"))
	})
}
