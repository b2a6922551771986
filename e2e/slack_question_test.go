package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/e2e/harness"
)

const (
	deleted    = "✅ Done: file_manager delete"
	notDeleted = "Not run: file_manager delete – denied by "
)

// deletion asks for a file to be deleted that is there.
func (s *slack) deletion(t *testing.T, channel, user, path string) talk {
	t.Helper()
	s.Write(t, path, "x")
	return s.mention(channel, user, fileCommand("delete", path))
}

// A team in a channel and in private, as it comes out of the box.
func TestSlack(t *testing.T) {
	t.Parallel()
	s := newSlack(t, harness.Setup{Redis: harness.NewRedis(t), Env: map[string]string{"COUNTERSIGN_POLICY": askToAppend}})
	t.Cleanup(func() { s.noSecrets(t) })

	for name, run := range map[string]func(*testing.T, *slack){
		"a button in the thread":               slackButton,
		"yes in the thread, not above it":      slackText,
		"no, with a reason":                    slackNo,
		"in private":                           slackPrivate,
		"a stranger in private":                slackStranger,
		"always allow":                         slackAlways,
		"never always for danger":              slackNeverAlways,
		"C04 C05 edits, apps, joins are none":  slackNothing,
		"H01 people of other workspaces":       slackExternal,
		"C01 C03 redeliveries have one effect": slackAgain,
		"C11 two presses 20 ms apart":          slackTwoPresses,
		"H02 the agent's own account":          slackAgent,
		"H16 Slack and HTTP at once":           slackAtOnce,
		"H03 one question at a time":           slackSuperseded,
		"!new withdraws it":                    slackAfresh,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, s)
		})
	}
}

func slackButton(t *testing.T, s *slack) {
	k := s.deletion(t, "C01", harness.SlackAda, "reports/button.csv")
	question, prompt := k.question(t)
	require.Equal(t, "⚠️ Delete the file at reports/button.csv on disk local? Reply 'Yes' to confirm.", prompt.Shown())
	require.Equal(t, prompt.Shown(), question.Prompt)
	require.Equal(t, [2]string{"Yes", "No"}, [2]string{prompt.Buttons[0].Label, prompt.Buttons[1].Label})
	require.Len(t, prompt.Buttons, 2, "always is not offered for danger")
	ttl := s.Redis.Awaiting(t, "slack:"+k.key(), question.ID)
	require.InDelta(t, 120, ttl.Seconds(), 5)
	require.True(t, s.Exists("reports/button.csv"))

	s.presses(t, harness.SlackBob, prompt, "Yes")
	k.await(t, deleted)
	require.False(t, s.Exists("reports/button.csv"))
	k.closed(t, prompt, "✅ Approved by bob at ")
	state := s.API.Result(t, question.ID)
	require.Equal(t, [2]string{"bob", "slack"}, [2]string{state.Approval.Decision.By, state.Approval.Decision.Via})
	require.Equal(t, "ada", state.Approval.Requester)
	s.Redis.Gone(t, "slack:"+k.key())
	s.taken(t)
	harness.Eventually(t, "it was seen that the mention is looked at", func() bool {
		return strings.Contains(strings.Join(s.Reactions(), "\n"), k.channel+"/"+k.root+" eyes")
	})
	// Whoever comes too late is told so, and nothing changes.
	s.presses(t, harness.SlackCarol, prompt, "No")
	s.whispered(t, prompt, harness.SlackCarol, "Already decided by bob at ")
	require.Len(t, k.sent(), 2, "the question and the reply")
}

func slackText(t *testing.T, s *slack) {
	k := s.deletion(t, "C02", harness.SlackAda, "text.csv")
	question, prompt := k.question(t)
	s.Say("C02", harness.SlackAda, "yes")
	other := s.mention("C02", harness.SlackAda, "yes")
	other.await(t, "There is no question open here")
	s.taken(t)
	s.open(t, question)
	require.True(t, s.Exists("text.csv"))

	k.says(harness.SlackBob, "yes\nbut next time ask me first")
	k.await(t, deleted)
	k.closed(t, prompt, "✅ Approved by bob at ")
	require.False(t, s.Exists("text.csv"))
	require.Len(t, k.sent(), 2)
}

func slackNo(t *testing.T, s *slack) {
	k := s.deletion(t, "C03", harness.SlackAda, "no.csv")
	question, prompt := k.question(t)
	k.says(harness.SlackBob, "no, we need it <@U03> &amp; soon")
	k.await(t, notDeleted+"bob.")
	k.closed(t, prompt, "❌ Denied by bob at ")
	state := s.API.Result(t, question.ID)
	require.Equal(t, [2]string{"PERMISSION_DENIED", "denied"}, [2]string{state.Code, state.Reason})
	require.Equal(t, "no, we need it <@U03> & soon", state.Approval.Decision.Reason)
	require.True(t, s.Exists("no.csv"))

	k = s.deletion(t, "C03", harness.SlackAda, "no-button.csv")
	_, prompt = k.question(t)
	s.presses(t, harness.SlackBob, prompt, "No")
	k.await(t, notDeleted+"bob.")
	k.closed(t, prompt, "❌ Denied by bob at ")
	require.True(t, s.Exists("no-button.csv"))
}

func slackPrivate(t *testing.T, s *slack) {
	s.Write(t, "dm.csv", "x")
	// Slack's clients keep a line that begins with a slash for themselves, so people begin with a blank.
	k := s.write(harness.SlackBob, " "+fileCommand("delete", "dm.csv"))
	question, prompt := k.question(t)
	require.Equal(t, harness.SlackBob, question.ThreadKey)
	s.presses(t, harness.SlackBob, prompt, "Yes")
	k.await(t, deleted)
	k.closed(t, prompt, "✅ Approved by bob at ")

	// Under a question that is over, a yes answers nothing; under the open one it does.
	s.Write(t, "dm2.csv", "x")
	s.write(harness.SlackBob, fileCommand("delete", "dm2.csv"))
	question, next := k.question(t)
	k.says(harness.SlackBob, "yes", s.Under(prompt))
	s.taken(t)
	s.open(t, question)
	k.says(harness.SlackBob, "no", s.Under(next))
	k.closed(t, next, "❌ Denied by bob at ")
	require.True(t, s.Exists("dm2.csv"))

	s.write(harness.SlackBob, fileCommand("delete", "dm2.csv"))
	_, prompt = k.question(t)
	k.says(harness.SlackBob, "YES")
	k.closed(t, prompt, "✅ Approved by bob at ")
	harness.Eventually(t, "the file is gone", func() bool { return !s.Exists("dm2.csv") })
}

func slackStranger(t *testing.T, s *slack) {
	s.write(harness.SlackStranger, fileCommand("write", "mallory.txt", "content=x"))
	// In a channel anybody of the workspace may write.
	k := s.mention("C05", harness.SlackStranger, fileCommand("write", "channel.txt", "content=x"))
	k.await(t, "✅ Done: file_manager write")
	s.taken(t)
	_, err := s.Client.DescribeWorkflow(t.Context(), "conversation/slack/"+harness.SlackStranger, "")
	require.ErrorAs(t, err, new(*serviceerror.NotFound))
	require.False(t, s.Exists("mallory.txt"))
	require.Empty(t, s.Sent(s.DM(harness.SlackStranger)))
}

func slackAlways(t *testing.T, s *slack) {
	appending := func(n string) string { return fileCommand("append", "always.txt", "content="+n+";") }
	done := func(n string) func() bool { return func() bool { return s.Read(t, "always.txt") == n } }
	k := s.mention("C06", harness.SlackAda, appending("1"))
	_, prompt := k.question(t)
	require.Equal(t, "Always allow", prompt.Buttons[2].Label)
	s.presses(t, harness.SlackBob, prompt, "Always allow")
	k.closed(t, prompt, "✅ Always allowed in this conversation by bob at ")
	harness.Eventually(t, "the first is done", done("1;"))

	k.says(harness.SlackAda, appending("2"))
	harness.Eventually(t, "the second is done without a question", done("1;2;"))
	require.Equal(t, 1, k.prompts())
	// It covers calls for the same person, in this conversation.
	k.says(harness.SlackBob, appending("3"))
	_, prompt = k.question(t)
	k.says(harness.SlackAda, "no")
	k.closed(t, prompt, "❌ Denied by ada at ")
	elsewhere := s.mention("C06", harness.SlackAda, appending("4"))
	_, prompt = elsewhere.question(t)
	elsewhere.says(harness.SlackAda, "no")
	elsewhere.closed(t, prompt, "❌ Denied by ada at ")
	require.Equal(t, "1;2;", s.Read(t, "always.txt"))
}

func slackNeverAlways(t *testing.T, s *slack) {
	k := s.deletion(t, "C07", harness.SlackAda, "never.csv")
	question, prompt := k.question(t)
	// A button that was never there, as somebody with a tool of their own may send it.
	forged := prompt
	forged.Buttons = append([]slacktest.Button{{
		Label: "Always allow", ActionID: "countersign:always", BlockID: prompt.Buttons[0].BlockID, Value: question.ID,
	}}, prompt.Buttons...)
	s.presses(t, harness.SlackAda, forged, "Always allow")
	s.whispered(t, prompt, harness.SlackAda, "That answer is not offered here")
	s.open(t, question)
	k.says(harness.SlackAda, "always")
	k.closed(t, prompt, "❌ Denied by ada at ")
	k.await(t, notDeleted+"ada.")
	require.True(t, s.Exists("never.csv"))
}

func slackAfresh(t *testing.T, s *slack) {
	k := s.deletion(t, "C13", harness.SlackAda, "afresh.csv")
	question, prompt := k.question(t)
	k.says(harness.SlackBob, "<@"+harness.SlackApp+"> !new")
	k.closed(t, prompt, "↩️ Withdrawn. It was not run.")
	require.Equal(t, "withdrawn", s.API.Result(t, question.ID).Reason)
	k.await(t, "This is a new conversation.")
	s.presses(t, harness.SlackBob, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackBob, "This question is closed")
	require.True(t, s.Exists("afresh.csv"))
}

// A second question takes the place of the first: a bare yes can only mean one.
func slackSuperseded(t *testing.T, s *slack) {
	k := s.deletion(t, "C14", harness.SlackAda, "first.csv")
	first, old := k.question(t)
	s.Write(t, "second.csv", "x")
	second := s.API.Invoke(t, harness.File("delete", "second.csv").In("slack", k.key()))
	k.closed(t, old, "↪️ Replaced by a newer question. It was not run.")
	s.presses(t, harness.SlackBob, old, "Yes")
	s.whispered(t, old, harness.SlackBob, "This question is closed: superseded")
	question, prompt := k.question(t)
	require.Equal(t, second, question.ID)
	k.says(harness.SlackBob, "yes")
	k.closed(t, prompt, "✅ Approved by bob at ")
	require.Equal(t, "completed", s.API.Result(t, second).Status)
	require.Equal(t, "superseded", s.API.Result(t, first.ID).Reason)
	require.True(t, s.Exists("first.csv"))
	require.False(t, s.Exists("second.csv"))
}

// A press and a decision over HTTP at the same time: one of them stands, and both hear which.
func slackAtOnce(t *testing.T, s *slack) {
	k := s.deletion(t, "C15", harness.SlackAda, "at-once.csv")
	question, prompt := k.question(t)
	s.presses(t, harness.SlackBob, prompt, "Yes")
	answer := s.As(harness.Carol).Insist(t, question.ID, harness.Say{Decision: "deny", DecisionID: "carol"})
	s.taken(t)
	decision := s.API.Result(t, question.ID).Approval.Decision
	if decision.By == "bob" {
		require.Equal(t, "bob", answer.Problem(t).Decision.By)
		k.closed(t, prompt, "✅ Approved by bob at ")
		require.False(t, s.Exists("at-once.csv"))
		require.Len(t, s.Audit(t, question.ID), 1)
	} else {
		require.Equal(t, http.StatusOK, answer.Status)
		s.whispered(t, prompt, harness.SlackBob, "Already decided by carol at ")
		k.closed(t, prompt, "❌ Denied by carol at ")
		require.True(t, s.Exists("at-once.csv"))
	}
}
