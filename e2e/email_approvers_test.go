package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

// People are the same on every channel: what they say by mail and over HTTP is one voice.
func TestEmailApprovers(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	w := m.world(t, harness.Setup{Env: map[string]string{
		"COUNTERSIGN_UNSUPPORTED": "route", "COUNTERSIGN_APPROVAL_ROUTE": "email:u20@example.test",
		"COUNTERSIGN_POLICY": `{
			file_manager.append: {confirm: true, approvers: {who: list, people: [ada, bob, u0], quorum: 2}},
			file_manager.move: {confirm: true, approvers: {who: other}},
			file_manager.copy: {confirm: true, approvers: {who: list, people: [bob]}},
			file_manager.mkdir: {confirm: true},
		}`}})

	t.Run("H02 a quorum by mail and over HTTP", func(t *testing.T) {
		t.Parallel()
		p := m.writer(harness.Ada)
		asked, question := p.asks(t, w, "/file_manager append disk=local path=two.txt content=line;", "⚠️ Add to the file at two.txt")
		require.Equal(t, 2, question.Approvers.Quorum)
		p.answers(t, asked, "yes")
		harness.Eventually(t, "ada's vote is noted", func() bool { return len(w.API.State(t, question.ID).Approval.Votes) == 1 })
		// Once more, over HTTP: one person.
		again := w.As(harness.Ada).Insist(t, question.ID, harness.Say{Decision: "allow", DecisionID: "1"})
		require.Equal(t, http.StatusAccepted, again.Status, string(again.Body))
		require.Equal(t, "waiting", w.API.State(t, question.ID).Status)
		require.Equal(t, http.StatusForbidden, w.As("u9").Decide(t, question.ID, harness.Say{Decision: "allow"}).Status)
		require.Equal(t, http.StatusForbidden, w.As(harness.Robot).Decide(t, question.ID, harness.Say{Decision: "allow"}).Status)
		last := w.As(harness.Bob).Insist(t, question.ID, harness.Say{Decision: "allow", DecisionID: "1"})
		require.Equal(t, http.StatusOK, last.Status, string(last.Body))
		state := w.API.Result(t, question.ID)
		require.Equal(t, "completed", state.Status, "%+v", state)
		require.Equal(t, "line;", w.Read(t, "two.txt"))
		require.Len(t, state.Approval.Votes, 2)
		p.await(t, "✅ Approved by bob at ")
	})

	t.Run("H02 nobody approves what was asked for them", func(t *testing.T) {
		t.Parallel()
		w.Write(t, "a.txt", "x")
		p := m.writer("u10")
		asked, question := p.asks(t, w, "/file_manager move disk=local path=a.txt destination=b.txt", "⚠️ Move a.txt to b.txt")
		p.answers(t, asked, "yes")
		harness.Eventually(t, "it is no answer", func() bool { return len(mailTalk(t, w, p.address).Queue) == 1 })
		refused := w.As("u10").Decide(t, question.ID, harness.Say{Decision: "allow"})
		require.Equal(t, http.StatusForbidden, refused.Status, string(refused.Body))
		require.Equal(t, "waiting", w.API.State(t, question.ID).Status)
		require.True(t, w.Exists("a.txt"))
		// Somebody else does, on another channel.
		require.Equal(t, http.StatusOK, w.As(harness.Bob).Insist(t, question.ID, harness.Say{Decision: "allow", DecisionID: "1"}).Status)
		require.Equal(t, "completed", w.API.Result(t, question.ID).Status)
		p.await(t, "✅ Approved by bob at ")
		require.True(t, w.Exists("b.txt"))
		p.await(t, "There is no question open here") // what the yes was
	})

	t.Run("H01 a list without the one who is asked", func(t *testing.T) {
		t.Parallel()
		w.Write(t, "c.txt", "x")
		p := m.writer("u11")
		asked, question := p.asks(t, w, "/file_manager copy disk=local path=c.txt destination=d.txt", "⚠️ Copy c.txt to d.txt")
		p.answers(t, asked, "no, never") // not entitled: no answer either
		harness.Eventually(t, "it is no answer", func() bool { return len(mailTalk(t, w, p.address).Queue) == 1 })
		require.Equal(t, "waiting", w.API.State(t, question.ID).Status)
		// Bob has the question's token from somewhere: his conversation is another one.
		b := m.writer(harness.Bob)
		b.answers(t, asked, "yes")
		b.await(t, "There is no question open here")
		require.Equal(t, "waiting", w.API.State(t, question.ID).Status)
		require.Equal(t, http.StatusOK, w.As(harness.Bob).Insist(t, question.ID, harness.Say{Decision: "deny", DecisionID: "1", Reason: "not now"}).Status)
		require.Equal(t, "denied", w.API.Result(t, question.ID).Status)
		p.await(t, "❌ Denied by bob at ")
	})

	t.Run("asked by a program, decided by mail", func(t *testing.T) {
		t.Parallel()
		p := m.writer("u20")
		id := w.As(harness.Robot).Invoke(t, harness.File("mkdir", "routed").In("api", "01980000-0000-7000-8000-000000000001"))
		asked := p.await(t, "⚠️ Make the folder routed")
		require.Empty(t, asked.Get("In-Reply-To"))
		require.Equal(t, "Make the folder routed on disk local?", asked.Title)
		require.Equal(t, http.StatusForbidden, w.As(harness.Robot).Decide(t, id, harness.Say{Decision: "allow"}).Status)
		p.answers(t, asked, "yes")
		state := w.API.Result(t, id)
		require.Equal(t, "completed", state.Status, "%+v", state)
		require.Equal(t, [2]string{"u20", "email"}, [2]string{state.Approval.Decision.By, state.Approval.Decision.Via})
		require.True(t, w.Exists("routed"))
		closed := p.await(t, "✅ Approved by u20 at ")
		require.Equal(t, asked.Get("Message-ID"), closed.Get("In-Reply-To"))
	})
}
