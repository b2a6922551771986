package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

const listening = `msg="listening to the mailbox"`

// The worker is killed, the mail server restarted, and the mailbox numbered anew, each while
// a question is pending and with an answer that comes meanwhile: it counts once.
func TestEmailSurvives(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	w := m.world(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_POLICY": askToAppend}})
	p := m.somebody(t)
	for n, what := range []struct {
		name string
		does func(t *testing.T, reply string)
	}{
		{"H11 A25 the worker is killed", func(t *testing.T, reply string) {
			t.Helper()
			w.KillEngine()
			p.send(t, reply)
			w.StartEngine(t)
		}},
		{"the mail server is restarted", func(t *testing.T, reply string) {
			t.Helper()
			m.box.Stop()
			p.send(t, reply)
			m.box.Start(t)
		}},
		{"A26 the mailbox is numbered anew", func(t *testing.T, reply string) {
			t.Helper()
			m.box.Stop()
			m.box.Renumber(t)
			p.send(t, reply)
			m.box.Start(t)
		}},
		{"A25 killed, with all of the mailbox read again", func(t *testing.T, reply string) {
			t.Helper()
			w.KillEngine()
			m.box.Stop()
			m.box.Renumber(t)
			m.box.Start(t)
			p.send(t, reply)
			w.StartEngine(t)
		}},
	} {
		w.Write(t, "log.txt", "")
		command := "/file_manager append disk=local path=log.txt content=" + strings.Repeat("x", n+1) + ";"
		p.send(t, p.letter("Subject: "+what.name+"\n", command))
		prompt := harness.Until(t, "the question of this round", func() (string, bool) {
			texts := p.texts(t)
			return strings.Join(texts, "|"), len(texts) == 3*n+1
		})
		require.Contains(t, prompt, "⚠️ Add to the file at log.txt")
		question := pendingOf(t, w, p.address)
		all := m.out.Mails()
		what.does(t, p.reply(all[len(all)-1].Read(t), "yes"))
		state := w.API.Result(t, question.ID)
		require.Equal(t, "completed", state.Status, "%s: %+v", what.name, state)
		require.Equal(t, question.ExpiresAt, state.Approval.ExpiresAt)
		harness.Eventually(t, "all was said about "+what.name, func() bool { return len(p.texts(t)) == 3*(n+1) })
		require.Equal(t, strings.Repeat("x", n+1)+";", w.Read(t, "log.txt"), what.name)
	}
	// The worker knows what it had read before the last kill only by the conversation.
	p.writes(t, "the end", "/help")
	p.await(t, "Write a call like this")
	require.Len(t, p.texts(t), 4*3+1, "nothing was said twice: %q", p.texts(t))
	require.Empty(t, w.API.Pending(t))
}

// Two engines, one mailbox: one listens, and the other one takes over when it is killed.
func TestEmailTwoWorkers(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	w := m.world(t, harness.Setup{Split: true, Env: map[string]string{"COUNTERSIGN_POLICY": askToAppend}})
	second := w.AddEngine(t, "second engine")
	p := m.somebody(t)
	asked, question := p.asks(t, w, "/file_manager append disk=local path=log.txt content=line;", "⚠️ Add to the file at log.txt")
	require.NotContains(t, second.Log(), listening, "one listens")
	w.KillEngine()
	reply := m.domain.Sign(t, p.reply(asked, "yes"))
	m.box.Mailbox.Deliver(t, reply)
	second.AwaitLog(t, listening)
	state := w.API.Result(t, question.ID)
	require.Equal(t, "completed", state.Status, "%+v", state)
	w.StartEngine(t)
	m.box.Mailbox.Deliver(t, reply)
	p.writes(t, "the end", "/help")
	p.await(t, "Write a call like this")
	require.Equal(t, "line;", w.Read(t, "log.txt"))
	require.Len(t, p.texts(t), 4, "a question, what became of it, the reply, and help: %q", p.texts(t))
	require.Equal(t, 1, strings.Count(second.Log(), listening))
	require.NotContains(t, w.Engine().Log(), listening, "who comes back does not take it over again")
}

// A password that was wrong for a while loses no mail.
func TestEmailPasswordMended(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	env := m.settings(map[string]string{"LARACLAW_IMAP_PASSWORD": "wrong-Secret-0000"})
	w := harness.Prepare(t, harness.Setup{Split: true, Env: env})
	w.StartGateway(t)
	w.StartEngine(t)
	w.Engine().AwaitLog(t, "the mailbox refuses us")
	require.NotContains(t, w.Engine().Log(), "wrong-Secret-0000")
	p := m.somebody(t)
	p.writes(t, "early", "/help")
	w.KillEngine()
	w.SetEnv("LARACLAW_IMAP_PASSWORD", m.box.Password)
	w.StartEngine(t)
	w.Engine().AwaitLog(t, listening) // within a minute of the last try
	p.await(t, "Write a call like this")
	run, err := w.Client.DescribeWorkflow(t.Context(), contract.ListenerID("email"), "")
	require.NoError(t, err)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, run.Status)
}
