package e2e_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email/emailtest"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// everywhere is an installation with a Slack, a mailbox and a Telegram, whose policies put a
// question to people where they are.
type everywhere struct {
	*slack
	mail  *mail
	phone *telegram
}

const askedAlso = `{
	file_manager.move: {confirm: true, approvers: {who: other}, ask_also: [bob, "email:carol@example.test"]},
	file_manager.append: {confirm: true, approvers: {who: other, quorum: 2}, ask_also: [ada, bob, "email:carol@example.test"]},
	file_manager.write: {confirm: true, approvers: {who: list, people: [bob]}, ask_also: [bob]},
	file_manager.mkdir: {confirm: true, ask_also: ["telegram:1002", "slack:C49"]},
	file_manager.copy: {confirm: true, approvers: {who: other}, ask_also: [bob, "email:carol@example.test"]},
}`

func newEverywhere(t *testing.T, split bool) everywhere {
	t.Helper()
	m, phone, server := newMail(t), newTelegram(t), slacktest.New()
	t.Cleanup(server.Close)
	settings := phone.settings(m.settings(nil))
	maps.Copy(settings, slackSettings(server, map[string]string{"COUNTERSIGN_POLICY": askedAlso}))
	s := &slack{Server: server, World: phone.world(t, harness.Setup{Env: settings, Split: split})}
	server.Gateway(s.World.URL())
	s.Engine().AwaitLog(t, `msg="listening to the mailbox"`)
	return everywhere{slack: s, mail: m, phone: phone}
}

// private is a person's own conversation with the app in Slack.
func (e everywhere) private(user string) talk {
	return talk{slack: e.slack, channel: e.DM(user), author: user}
}

// copied waits for a copy of a question: a message with buttons in somebody's own conversation.
func (k talk) copied(t *testing.T, text string) slacktest.Message {
	t.Helper()
	m := k.await(t, text)
	require.Len(t, m.Buttons, 2, "%+v", m.Buttons)
	return m
}

// hears waits for the mail that says below a question what became of it.
func (p writer) hears(t *testing.T, asked emailtest.Seen, text string) {
	t.Helper()
	_, ok := p.m.out.Await(bounded(t), func(m emailtest.Mail) bool {
		seen := m.Read(t)
		return m.To[0] == p.address && seen.Get("In-Reply-To") == asked.Get("Message-ID") && strings.HasPrefix(seen.Text, text)
	})
	require.True(t, ok, "%s is not told %q: %q", p.address, text, p.texts(t))
}

// A question goes to people where they are: whoever may answer it does it there, and every copy
// says what became of it.
func TestAskAlso(t *testing.T) {
	t.Parallel()
	e := newEverywhere(t, false)
	for name, run := range map[string]func(*testing.T, everywhere){
		"four eyes: asked by mail, agreed to in Slack":  alsoFourEyes,
		"quorum: a reply by mail and a button in Slack": alsoQuorum,
		"only what points at a copy answers it":         alsoPointing,
		"asked in Slack, refused in Telegram":           alsoTelegram,
		"a channel of approvers":                        alsoChannel,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, e)
		})
	}
}

func alsoFourEyes(t *testing.T, e everywhere) {
	e.Write(t, "eyes.txt", "x")
	ada := e.mail.writer(harness.Ada)
	asked, question := ada.asks(t, e.World, "/file_manager move disk=local path=eyes.txt destination=seen.txt", "⚠️ Move eyes.txt to seen.txt")
	bob := e.private(harness.SlackBob)
	prompt := bob.copied(t, "⚠️ Move eyes.txt to seen.txt")
	require.Contains(t, prompt.Shown(), "For ada, in email.")
	carol := e.mail.writer(harness.Carol)
	carols := carol.await(t, "⚠️ Move eyes.txt to seen.txt")

	// Whoever asked has a say nowhere, also where the copy was passed on to her.
	ada.answers(t, asked, "yes")
	ada.answers(t, carols, "yes")
	e.presses(t, harness.SlackAda, prompt, "Yes")
	harness.Eventually(t, "both are normal messages", func() bool { return len(mailTalk(t, e.World, ada.address).Queue) == 2 })
	require.Equal(t, "waiting", e.API.State(t, question.ID).Status)

	e.presses(t, harness.SlackBob, prompt, "Yes")
	bob.closed(t, prompt, allowed+"bob at ")
	ada.await(t, allowed+"bob at ")
	carol.hears(t, carols, allowed+"bob at ")
	state := e.API.Result(t, question.ID)
	require.Equal(t, "completed", state.Status, "%+v", state)
	require.Equal(t, [2]string{"bob", "slack"}, [2]string{state.Approval.Decision.By, state.Approval.Decision.Via})
	require.Len(t, state.Approval.Copies, 2)
	require.True(t, e.Exists("seen.txt"))
}

func alsoQuorum(t *testing.T, e everywhere) {
	k := e.mention("C41", harness.SlackAda, fileCommand("append", "agreed.txt", "content=x"))
	question, _ := k.question(t)
	carol := e.mail.writer(harness.Carol)
	carols := carol.await(t, "⚠️ Add to the file at agreed.txt")
	require.Contains(t, carols.Text, "For ada, in slack.")
	bob := e.private(harness.SlackBob)
	prompt := bob.copied(t, "⚠️ Add to the file at agreed.txt")

	carol.answers(t, carols, "yes")
	carol.await(t, "Recorded. More people have to agree before it runs.")
	carol.answers(t, carols, "yes") // once more: still one person
	require.Equal(t, http.StatusAccepted, e.decides(t, harness.Carol, question.ID, "allow"))
	require.Equal(t, "waiting", e.API.State(t, question.ID).Status)
	require.False(t, e.Exists("agreed.txt"))

	e.presses(t, harness.SlackBob, prompt, "Yes")
	bob.closed(t, prompt, allowed+"bob at ")
	carol.hears(t, carols, allowed+"bob at ")
	k.await(t, "✅ Done: file_manager append")
	state := e.API.Result(t, question.ID)
	require.Len(t, state.Approval.Votes, 2)
	require.Equal(t, "email", state.Approval.Votes[0].Via)
	require.Equal(t, "x", e.Read(t, "agreed.txt"), "once")
	// Ada asked for it: she has no copy.
	for _, m := range e.private(harness.SlackAda).sent() {
		require.NotContains(t, m.Shown(), "agreed.txt")
	}
}

func alsoPointing(t *testing.T, e everywhere) {
	k := e.mention("C42", harness.SlackCarol, fileCommand("write", "pointed.txt", "content=x"))
	question, _ := k.question(t)
	bob := e.private(harness.SlackBob)
	prompt := bob.copied(t, "⚠️ Write the file at pointed.txt")
	bob.says(harness.SlackBob, "yes")
	bob.await(t, "There is no question open here")
	require.Equal(t, "waiting", e.API.State(t, question.ID).Status)
	// A reply in the thread below it.
	e.Say(bob.channel, harness.SlackBob, "yes", slacktest.In(prompt.TS, harness.SlackApp))
	bob.closed(t, prompt, allowed+"bob at ")
	k.await(t, "✅ Done: file_manager write")
	require.Equal(t, "x", e.Read(t, "pointed.txt"))
	require.Equal(t, "slack", e.API.Result(t, question.ID).Approval.Decision.Via)
}

func alsoTelegram(t *testing.T, e everywhere) {
	k := e.mention("C43", harness.SlackCarol, fileCommand("mkdir", "far"))
	question, _ := k.question(t)
	prompt := e.phone.await(t, bob, "⚠️ Make the folder far")
	_, _, err := e.phone.Press(bobThere, prompt, "No")
	require.NoError(t, err)
	k.await(t, "Not run: file_manager mkdir – denied by bob.")
	require.Equal(t, "telegram", e.API.Result(t, question.ID).Approval.Decision.Via)
}

// A copy in a channel begins a thread, in which it is talked about and answered.
func alsoChannel(t *testing.T, e everywhere) {
	k := e.mention("C45", harness.SlackBob, fileCommand("mkdir", "channel"))
	question, _ := k.question(t)
	prompt, err := e.Await(bounded(t), "C49", func(m slacktest.Message) bool {
		return strings.HasPrefix(m.Shown(), "⚠️ Make the folder channel") && len(m.Buttons) == 2
	})
	require.NoError(t, err)
	require.Empty(t, prompt.Thread)
	require.Contains(t, prompt.Shown(), "For bob, in slack.")
	below := talk{slack: e.slack, channel: "C49", root: prompt.TS, author: harness.SlackApp}
	below.says(harness.SlackCarol, "yes")
	k.await(t, "✅ Done: file_manager mkdir")
	state := e.API.Result(t, question.ID)
	require.Equal(t, [2]string{"carol", "slack"}, [2]string{state.Approval.Decision.By, state.Approval.Decision.Via})
	require.True(t, e.Exists("channel"))
	_, err = e.Await(bounded(t), "C49", func(m slacktest.Message) bool {
		return m.TS == prompt.TS && len(m.Buttons) == 0 && strings.Contains(m.Shown(), allowed+"carol at ")
	})
	require.NoError(t, err)
}

// Decided while no engine ran: every copy says so afterwards, and whoever is late hears who it was.
func TestAskAlsoOverARestart(t *testing.T) {
	t.Parallel()
	e := newEverywhere(t, true)
	e.Write(t, "late.txt", "x")
	k := e.mention("C44", harness.SlackAda, fileCommand("copy", "late.txt", "destination=later.txt"))
	question, shown := k.question(t)
	bob := e.private(harness.SlackBob)
	prompt := bob.copied(t, "⚠️ Copy late.txt to later.txt")
	carol := e.mail.writer(harness.Carol)
	carols := carol.await(t, "⚠️ Copy late.txt to later.txt")
	e.KillEngine()
	require.Equal(t, http.StatusAccepted, e.decides(t, harness.Carol, question.ID, "deny"))
	e.StartEngine(t)
	bob.closed(t, prompt, "❌ Denied by carol at ")
	k.closed(t, shown, "❌ Denied by carol at ")
	carol.hears(t, carols, "❌ Denied by carol at ")
	e.presses(t, harness.SlackBob, prompt, "Yes")
	e.whispered(t, prompt, harness.SlackBob, "Already decided by carol at ")
	carol.answers(t, carols, "yes")
	carol.await(t, "There is no question open here")
	require.False(t, e.Exists("later.txt"))
}
