package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// A Slack that says no, says later, or says nothing; and people who say nothing.
func TestSlackFaults(t *testing.T) {
	t.Parallel()
	s := newSlack(t, harness.Setup{Env: map[string]string{
		"COUNTERSIGN_POLICY": `{file_manager.mkdir: {confirm: true, timeout: 1s}, file_manager.append: {confirm: true}}`,
	}})
	t.Cleanup(func() { s.noSecrets(t) })
	for name, run := range map[string]func(*testing.T, *slack){
		"H15 nobody answers":                   slackTimeout,
		"H17 the prompt is refused":            slackUndeliverable,
		"H17 the channel is gone":              slackGone,
		"C19 the prompt is put off":            slackLimited,
		"C19 the edit is put off":              slackEditLimited,
		"the answer to the prompt is lost":     slackLost,
		"C14 a long reply comes in parts":      slackLong,
		"C15 nothing in a name becomes markup": slackMarkup,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, s)
		})
	}
}

func slackTimeout(t *testing.T, s *slack) {
	k := s.mention("C41", harness.SlackAda, fileCommand("mkdir", "late"))
	prompt := k.await(t, "⚠️ Make the folder late")
	k.await(t, "Not run: file_manager mkdir – nobody answered in time.")
	k.closed(t, prompt, "⌛ No answer until ")
	for _, label := range []string{"Yes", "No"} {
		s.presses(t, harness.SlackBob, prompt, label)
	}
	s.taken(t)
	s.whispered(t, prompt, harness.SlackBob, "This question is closed: timeout")
	k.says(harness.SlackBob, "yes")
	k.await(t, "There is no question open here")
	k.closed(t, prompt, "⌛ No answer until ")
	require.False(t, s.Exists("late"))
}

func slackUndeliverable(t *testing.T, s *slack) {
	const channel = "C42"
	s.BreakIn(channel, connectortest.Fault{
		Kind: connectortest.Answer, Status: http.StatusOK, Type: "application/json", Body: `{"ok":false,"error":"restricted_action"}`,
	}, "chat.postMessage")
	k := s.deletion(t, channel, harness.SlackAda, "undeliverable.csv")
	k.await(t, "Not run: file_manager delete – the question could not be delivered.")
	require.True(t, s.Exists("undeliverable.csv"))
	require.Len(t, k.sent(), 1)
	k.says(harness.SlackAda, "yes")
	k.await(t, "There is no question open here")
}

func slackGone(t *testing.T, s *slack) {
	const channel = "C43"
	s.Refuse(channel, "channel_not_found")
	s.Write(t, "gone.csv", "x")
	state := s.API.Result(t, s.API.Invoke(t, harness.File("delete", "gone.csv").In("slack", channel+":1700000000.000100")))
	require.Equal(t, [3]string{"denied", "PERMISSION_DENIED", "undeliverable"}, [3]string{state.Status, state.Code, state.Reason})
	require.True(t, s.Exists("gone.csv"))
	require.Len(t, s.callsIn("chat.postMessage", channel), 1, "Slack's word is final")
}

// callsIn counts the calls of a method that were about a channel.
func (s *slack) callsIn(method, channel string) (errors []string) {
	for _, call := range s.Calls(method) {
		if call.Params["channel"] == channel {
			errors = append(errors, call.Error)
		}
	}
	return errors
}

func slackLimited(t *testing.T, s *slack) {
	const channel, wait = "C44", 2 * time.Second
	s.BreakIn(channel, connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: wait}, "chat.postMessage")
	began := time.Now()
	k := s.deletion(t, channel, harness.SlackAda, "limited.csv")
	question, prompt := k.question(t)
	require.GreaterOrEqual(t, time.Since(began), wait, "not before Slack wants it")
	require.GreaterOrEqual(t, question.AskedAt.Sub(began), wait, "the clock starts when Slack has the question")
	require.Equal(t, 2*time.Minute, question.ExpiresAt.Sub(*question.AskedAt))
	k.says(harness.SlackAda, "yes")
	k.closed(t, prompt, allowed+"ada at ")
	k.await(t, deleted)
	require.Equal(t, 1, k.prompts())
}

func slackEditLimited(t *testing.T, s *slack) {
	const channel = "C45"
	s.BreakIn(channel, connectortest.Fault{Kind: connectortest.RateLimited, RetryAfter: time.Second}, "chat.update")
	k := s.deletion(t, channel, harness.SlackAda, "edit.csv")
	_, prompt := k.question(t)
	s.presses(t, harness.SlackBob, prompt, "Yes")
	k.await(t, deleted)
	k.closed(t, prompt, allowed+"bob at ")
	require.False(t, s.Exists("edit.csv"))
}

// Slack knows no idempotency: the question stands there twice. Both ask about the same call.
func slackLost(t *testing.T, s *slack) {
	const channel = "C46"
	s.BreakIn(channel, connectortest.Fault{Kind: connectortest.Lost}, "chat.postMessage")
	k := s.mention(channel, harness.SlackAda, fileCommand("append", "lost.txt", "content=x"))
	question, _ := k.question(t)
	harness.Eventually(t, "the question stands there twice", func() bool { return k.prompts() == 2 })
	copies := k.sent()
	require.Equal(t, copies[0].Buttons, copies[1].Buttons)
	s.presses(t, harness.SlackBob, copies[0], "Yes")
	k.await(t, "✅ Done: file_manager append")
	k.closed(t, copies[1], allowed+"bob at ")
	s.presses(t, harness.SlackCarol, copies[0], "No")
	s.whispered(t, copies[0], harness.SlackCarol, "Already decided by bob at ")
	require.Equal(t, "x", s.Read(t, "lost.txt"))
	require.Len(t, s.Audit(t, question.ID), 1)
}

func slackLong(t *testing.T, s *slack) {
	var content strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&content, "%04d <&>\n", n)
	}
	s.Write(t, "long.txt", content.String())
	k := s.mention("C47", harness.SlackAda, fileCommand("read", "long.txt"))
	_, err := k.Await(bounded(t), k.channel, func(m slacktest.Message) bool { return strings.Contains(m.Text, "0999") })
	require.NoError(t, err)
	var shown []string
	for _, m := range k.sent() {
		require.LessOrEqual(t, len(m.Text), 4000)
		require.False(t, m.Markup)
		shown = append(shown, m.Shown())
	}
	require.Greater(t, len(shown), 3)
	require.Equal(t, "✅ Done: file_manager read\n"+strings.TrimSuffix(content.String(), "\n"), strings.TrimSuffix(strings.Join(shown, "\n"), "\n"))
}

func slackMarkup(t *testing.T, s *slack) {
	// What a person types comes escaped, as Slack does it.
	k := s.mention("C48", harness.SlackAda, `/file_manager append disk=local content=x path="&lt;!channel&gt; *a* &lt;https:x.test|y&gt; &amp; b.csv"`)
	question, prompt := k.question(t)
	require.Contains(t, prompt.Shown(), "Add to the file at <!channel> *a* <https:x.test|y> & b.csv on disk local?")
	require.Equal(t, question.Prompt, prompt.Shown())
	require.NotRegexp(t, "[<>]", prompt.Text)
	k.says(harness.SlackAda, "yes")
	k.closed(t, prompt, allowed+"ada at ")
	k.await(t, "✅ Done: file_manager append")
}
