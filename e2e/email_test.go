package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// pendingOf waits for the question that is out to somebody.
func pendingOf(t *testing.T, w *harness.World, thread string) contract.Approval {
	t.Helper()
	return harness.Until(t, "a question to "+thread+" is pending", func() (contract.Approval, bool) {
		for _, question := range w.API.Pending(t) {
			if question.ThreadKey == thread && question.ExpiresAt != nil {
				return question, true
			}
		}
		return contract.Approval{}, false
	})
}

// asks writes a command by mail and returns the mail that asks back, and its question.
func (p writer) asks(t *testing.T, w *harness.World, command, prompt string) (emailtest.Seen, contract.Approval) {
	t.Helper()
	p.writes(t, "please", command)
	asked := p.await(t, prompt)
	return asked, pendingOf(t, w, p.address)
}

// mailTalk is what a conversation by mail knows.
func mailTalk(t *testing.T, w *harness.World, address string) (state contract.Talk) {
	t.Helper()
	answer, err := w.Client.QueryWorkflow(t.Context(), contract.ConversationID(chat.Thread{Connector: chat.Email, Key: address}), "", contract.QueryTalk)
	require.NoError(t, err)
	require.NoError(t, answer.Get(&state))
	return state
}

func TestEmail(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	redis := harness.NewRedis(t)
	w := m.world(t, harness.Setup{Redis: redis, Env: map[string]string{"COUNTERSIGN_POLICY": `{
		file_manager.append: {confirm: true},
		file_manager.mkdir: {confirm: true, timeout: 1s},
	}`}})

	t.Run("a yes runs it, a mail says by whom", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		w.Write(t, "reports/old.csv", "x")
		p.send(t, p.letter("Message-ID: <first@example.test>\nSubject: =?utf-8?q?r=C3=A9ports?=\n", "/file_manager delete disk=local path=reports/old.csv\n"))
		asked := p.await(t, "⚠️ Delete the file at reports/old.csv on disk local? Reply 'Yes' to confirm.")
		require.Equal(t, "Re: réports", asked.Title)
		require.Equal(t, "<first@example.test>", asked.Get("In-Reply-To"))
		require.Equal(t, "<first@example.test>", asked.Get("References"))
		require.Equal(t, "auto-generated", asked.Get("Auto-Submitted"))
		require.Regexp(t, `^<bot\+[a-z2-7]{26}@bot\.test>$`, asked.Get("Reply-To"))
		require.Contains(t, asked.Text, "yes, no.")
		require.NotContains(t, asked.Text, "always", "a dangerous operation is asked about each time")
		question := pendingOf(t, w, p.address)
		ttl := redis.Awaiting(t, "email:"+p.address, question.ID)
		require.InDelta(t, 120, ttl.Seconds(), 10)
		require.True(t, w.Exists("reports/old.csv"))

		p.answers(t, asked, "YES")
		state := w.API.Result(t, question.ID)
		require.Equal(t, "completed", state.Status, "%+v", state)
		require.False(t, w.Exists("reports/old.csv"))
		require.Equal(t, [2]string{p.name, "email"}, [2]string{state.Approval.Decision.By, state.Approval.Decision.Via})
		closed := p.await(t, "✅ Approved by "+p.name+" at ")
		require.Equal(t, asked.Title, closed.Title)
		require.Equal(t, asked.Get("Message-ID"), closed.Get("In-Reply-To"))
		done := p.await(t, "✅ Done: file_manager delete")
		require.Equal(t, "<first@example.test>", done.Get("In-Reply-To"))
		require.Equal(t, "auto-replied", done.Get("Auto-Submitted"))
		redis.Gone(t, "email:"+p.address)
		require.Len(t, p.texts(t), 3, "a question, what became of it, and the reply")

		// The token is used once: the same answer in another mail is no answer any more.
		p.answers(t, asked, "yes")
		p.await(t, "There is no question open here, so nothing was run")
	})

	t.Run("any other text is a no, with its reason", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{
			"no, because we need it for the audit", "yes, but only tomorrow", "> Delete the file?\n\nyes", // A02: below the quotation
			"Sent from my phone\n\nyes", // A04
		} {
			p := m.somebody(t)
			w.Write(t, p.name+".csv", "x")
			asked, question := p.asks(t, w, "/file_manager delete disk=local path="+p.name+".csv", "⚠️ Delete the file")
			p.answers(t, asked, text)
			state := w.API.Result(t, question.ID)
			require.Equal(t, [3]string{"denied", "PERMISSION_DENIED", "denied"}, [3]string{state.Status, state.Code, state.Reason}, text)
			require.Equal(t, p.name, state.Approval.Decision.By)
			first, _, _ := strings.Cut(text, "\n")
			require.Contains(t, state.Approval.Decision.Reason, first)
			p.await(t, "Not run: file_manager delete – denied by "+p.name)
			notice := p.await(t, "❌ Denied by "+p.name+" at ")
			require.Equal(t, strings.HasSuffix(text, "\nyes"), strings.Contains(notice.Text, "Only the first line that is not empty"), "A02, A04: help for who meant yes: %s", notice.Text)
			require.True(t, w.Exists(p.name+".csv"))
		}
	})

	t.Run("H05 A22 a bare yes is for the one question that is pending", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		p.writes(t, "hm", "yes")
		p.await(t, "There is no question open here")
		first, replaced := p.asks(t, w, "/file_manager append disk=local path=bare.txt content=1;", "⚠️ Add to the file at bare.txt")
		// Started by a program in the same conversation: it takes the place of the first one.
		second := w.API.Invoke(t, harness.File("append", "bare.txt", "content", "2;").In("email", p.address))
		require.Equal(t, "superseded", w.API.Result(t, replaced.ID).Reason)
		w.API.Question(t, second)
		p.await(t, "↪️ Replaced by a newer question")
		p.answers(t, first, "yes") // to the one that was replaced
		p.await(t, "There is no question open here")
		require.Equal(t, "waiting", w.API.State(t, second).Status, "H03: an answer to one question is none to another")
		p.writes(t, "all right", "Yes")
		require.Equal(t, "completed", w.API.Result(t, second).Status)
		require.Equal(t, "2;", w.Read(t, "bare.txt"))
	})

	t.Run("H04 a late yes does not hit the next question", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		p.writes(t, "a folder", "/file_manager mkdir disk=local path=late")
		asked := p.await(t, "⚠️ Make the folder late")
		p.await(t, "⌛ No answer until ")
		_, next := p.asks(t, w, "/file_manager append disk=local path=next.txt content=x", "⚠️ Add to the file at next.txt")
		p.answers(t, asked, "yes")
		harness.Eventually(t, "the late yes waits for its turn", func() bool { return len(mailTalk(t, w, p.address).Queue) == 1 })
		require.Equal(t, "waiting", w.API.State(t, next.ID).Status)
		p.answers(t, p.await(t, "⚠️ Add to the file at next.txt"), "yes")
		require.Equal(t, "completed", w.API.Result(t, next.ID).Status)
		p.await(t, "There is no question open here")
		require.False(t, w.Exists("late"))
	})

	t.Run("A25 a mail that comes twice has one effect", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		twice := func(letter string) {
			signed := m.domain.Sign(t, letter)
			m.box.Mailbox.Deliver(t, signed)
			m.box.Mailbox.Deliver(t, "Received: by another way\n"+signed)
		}
		twice(p.letter("Subject: twice\n", "/file_manager append disk=local path=twice.txt content=line;\n"))
		asked := p.await(t, "⚠️ Add to the file at twice.txt")
		question := pendingOf(t, w, p.address)
		twice(p.reply(asked, "yes"))
		require.Equal(t, "completed", w.API.Result(t, question.ID).Status)
		p.await(t, "✅ Done: file_manager append")
		p.writes(t, "the last one", "/help") // goes through after all of them
		p.await(t, "Write a call like this")
		require.Equal(t, "line;", w.Read(t, "twice.txt"))
		require.Len(t, p.texts(t), 4, "a question, what became of it, a reply, and help: %q", p.texts(t))
	})

	t.Run("nobody but the person answers", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		asked, question := p.asks(t, w, "/file_manager append disk=local path=alone.txt content=x", "⚠️ Add to the file at alone.txt")
		stranger := m.writer("mallory")
		attacker := emailtest.NewDomain(t, m.zone, "attacker.test")
		token := strings.Trim(asked.Get("Reply-To"), "<>")
		reply := p.reply(asked, "yes")
		report := "Return-Path: <>\nFrom: MAILER-DAEMON <" + p.address + ">\nTo: " + token + "\nIn-Reply-To: " + asked.Get("Message-ID") +
			"\nAuto-Submitted: auto-replied\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n"
		for name, raw := range map[string]string{
			"a stranger":                 m.domain.Sign(t, stranger.reply(asked, "yes")),
			"A23 spoofed, not signed":    reply,
			"A23 spoofed, other's key":   m.domain.Forger(t).Sign(t, reply),
			"A23 spoofed, other's name":  attacker.Sign(t, reply),
			"A23 the display name":       attacker.Sign(t, strings.Replace(reply, "<"+p.address+">", "<x@attacker.test>", 1)),
			"A23 two senders":            m.domain.Sign(t, p.letter("From: "+p.address+", x@attacker.test\nTo: "+token+"\n", "yes")),
			"A23 results by the sender":  "Authentication-Results: mx.example.test; dmarc=pass header.from=example.test\n" + reply,
			"A19 out of office":          m.domain.Sign(t, p.reply(asked, "yes", "Auto-Submitted: auto-replied\n")),
			"A19 out of office, no word": m.domain.Sign(t, p.reply(asked, "yes", "X-Autoreply: yes\n")),
			"A20 a bounce":               m.domain.Sign(t, p.letter(report, "--b\n\nyes\n--b--\n")),
			"A21 our own mail":           m.domain.Sign(t, p.reply(asked, "yes", "X-Countersign-Loop: bot@bot.test\n")),
		} {
			m.box.Mailbox.Deliver(t, raw)
			_ = name
		}
		// B09: a mail that is attached says nothing, and a file alone is no answer.
		p.send(t, p.letter("To: "+token+"\nContent-Type: multipart/mixed; boundary=b\n",
			"--b\n\n\n--b\nContent-Type: message/rfc822\n\nSubject: x\n\nyes\n--b--\n"))
		// What comes after all of them was handled after all of them.
		q := m.somebody(t)
		q.writes(t, "a sign", "/help")
		q.await(t, "Write a call like this")
		harness.Eventually(t, "the attached mail is stored", func() bool { return countFiles(t, w, "inbound/*/*.eml") == 1 })
		require.Equal(t, "waiting", w.API.State(t, question.ID).Status)
		require.Len(t, p.texts(t), 1, "none of them is answered: %q", p.texts(t))
		require.Empty(t, stranger.texts(t))
		_, err := w.Client.DescribeWorkflow(t.Context(), "conversation/email/"+stranger.address, "")
		require.ErrorAs(t, err, new(*serviceerror.NotFound))
		p.answers(t, asked, "yes")
		require.Equal(t, "completed", w.API.Result(t, question.ID).Status)
	})

	t.Run("H17 nobody lives there", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		m.out.Gone(p.address)
		id := w.API.Invoke(t, harness.File("append", "gone.txt", "content", "x").In("email", p.address))
		state := w.API.Result(t, id)
		require.Equal(t, [2]string{"denied", "undeliverable"}, [2]string{state.Status, state.Reason})
		require.False(t, w.Exists("gone.txt"))
	})

	t.Run("A28 no link decides, nor does a GET", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		asked, question := p.asks(t, w, "/file_manager append disk=local path=link.txt content=x", "⚠️ Add to the file at link.txt")
		require.NotContains(t, asked.Text, "http")
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			answer := w.API.Do(t, method, "/api/approvals/"+question.ID+"/decision", nil)
			require.GreaterOrEqual(t, answer.Status, 400)
		}
		require.Equal(t, "waiting", w.API.State(t, question.ID).Status)
		p.answers(t, asked, "no")
		require.Equal(t, "denied", w.API.Result(t, question.ID).Status)
	})

	t.Run("always, where it is offered, until !new", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		asked, question := p.asks(t, w, "/file_manager append disk=local path=always.txt content=1;", "⚠️ Add to the file at always.txt")
		require.Contains(t, asked.Text, "yes, no, always.")
		p.answers(t, asked, "always")
		require.Equal(t, "allow_always", w.API.Result(t, question.ID).Approval.Decision.Decision)
		p.writes(t, "more", "/file_manager append disk=local path=always.txt content=2;")
		harness.Eventually(t, "it is run without a question", func() bool { return w.Read(t, "always.txt") == "1;2;" })
		p.writes(t, "start afresh", "!new")
		p.await(t, "This is a new conversation")
		p.writes(t, "more", "/file_manager append disk=local path=always.txt content=3;")
		harness.Eventually(t, "it is asked again", func() bool { return len(w.API.Pending(t)) > 0 && pendingOf(t, w, p.address).ID != "" })
		require.Equal(t, "1;2;", w.Read(t, "always.txt"))
	})
}
