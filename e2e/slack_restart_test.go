package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// once checks that a call was run, asked and told once.
func (k talk) once(t *testing.T, id, file, by string) {
	t.Helper()
	require.Equal(t, "completed", k.API.Result(t, id).Status)
	k.await(t, "✅ Done: file_manager append")
	prompt := k.await(t, "⚠️")
	require.Contains(t, prompt.Shown(), "✅ Approved by "+by+" at ")
	require.Empty(t, prompt.Buttons)
	require.Equal(t, "line;", k.Read(t, file))
	require.Len(t, k.sent(), 2, "one question and one reply")
	require.Len(t, k.Audit(t, id), 1)
	require.Empty(t, k.API.Pending(t))
}

func (s *slack) appending(channel, file string) talk {
	return s.mention(channel, harness.SlackAda, fileCommand("append", file, "content=line;"))
}

// H11, C12: kill -9 of the one worker while a question is pending. Nobody takes a press then, and
// Slack does not send it again; the button works as before once the worker is back.
func TestSlackKilledWorker(t *testing.T) {
	t.Parallel()
	s := newSlack(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_POLICY": askToAppend}})
	k := s.appending("C71", "log.txt")
	question, prompt := k.question(t)
	s.KillEngine()
	s.presses(t, harness.SlackBob, prompt, "Yes")
	s.taken(t)
	deliveries := s.Deliveries()
	require.Equal(t, slacktest.Delivery{Kind: slacktest.Interactive}, deliveries[len(deliveries)-1], "no answer at all")
	s.StartEngine(t)
	require.Equal(t, question.ExpiresAt, s.API.Question(t, question.ID).ExpiresAt, "the same question, with its deadline")
	s.presses(t, harness.SlackBob, prompt, "Yes")
	k.once(t, question.ID, "log.txt", "bob")
}

// The gateway lives, the engine is killed: a press is kept with its time, a word is kept too.
func TestSlackKilledEngine(t *testing.T) {
	t.Parallel()
	s := newSlack(t, harness.Setup{Split: true, Env: map[string]string{"COUNTERSIGN_POLICY": askToAppend}})
	pressed, written := s.appending("C72", "pressed.txt"), s.appending("C73", "written.txt")
	first, prompt := pressed.question(t)
	second, _ := written.question(t)
	s.KillEngine()
	s.presses(t, harness.SlackBob, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackBob, "Kept; it counts from the moment you pressed")
	written.says(harness.SlackBob, "yes")
	s.taken(t)
	for _, d := range s.Deliveries() {
		require.Equal(t, http.StatusOK, d.Status, "%+v", d)
	}
	s.StartEngine(t)
	require.Equal(t, "completed", s.API.Result(t, second.ID).Status)
	require.Equal(t, "completed", s.API.Result(t, first.ID).Status)
	pressed.once(t, first.ID, "pressed.txt", "bob")
	written.once(t, second.ID, "written.txt", "bob")
}

// The gateway is killed: what Slack sends again arrives, and nothing of it twice.
func TestSlackKilledGateway(t *testing.T) {
	t.Parallel()
	s := newSlack(t, harness.Setup{Split: true, Env: map[string]string{"COUNTERSIGN_POLICY": askToAppend}})
	k := s.appending("C74", "log.txt")
	question, _ := k.question(t)
	s.KillGateway()
	answer := s.Compose(k.channel, harness.SlackBob, "yes", slacktest.In(k.root, harness.SlackAda))
	_, err := s.try(t, slacktest.Events, answer, 0)
	require.Error(t, err, "nobody is there")
	s.StartGateway(t)
	s.Ready(t)
	for retry := 1; retry <= 2; retry++ {
		require.Equal(t, http.StatusOK, s.post(t, slacktest.Events, answer, retry))
	}
	k.once(t, question.ID, "log.txt", "bob")
}

// Temporal is away: Slack is asked to send a word again, and who pressed to press again.
func TestSlackWithoutTemporal(t *testing.T) {
	t.Parallel()
	s := newSlack(t, harness.Setup{Temporal: harness.NewTemporal(t), Env: map[string]string{"COUNTERSIGN_POLICY": askToAppend}})
	k := s.appending("C75", "log.txt")
	question, prompt := k.question(t)
	s.Temporal.Kill(t)
	press, err := s.ComposePress(harness.SlackBob, prompt, "Yes")
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, s.post(t, slacktest.Interactive, press, 0))
	s.whispered(t, prompt, harness.SlackBob, "Your answer could not be recorded just now; press again in a moment")
	mention := s.Compose("C76", harness.SlackAda, "<@"+harness.SlackApp+"> "+fileCommand("append", "other.txt", "content=line;"))
	require.Equal(t, http.StatusServiceUnavailable, s.post(t, slacktest.Events, mention, 0))

	s.Temporal.Restart(t)
	s.Ready(t)
	for retry := 1; retry <= 3; retry++ {
		require.Equal(t, http.StatusOK, s.post(t, slacktest.Events, mention, retry))
	}
	s.presses(t, harness.SlackBob, prompt, "Yes")
	require.Equal(t, "completed", s.API.Result(t, question.ID).Status)
	event, _ := mention["event"].(map[string]any)
	root, _ := event["ts"].(string)
	other := talk{slack: s, channel: "C76", root: root, author: harness.SlackAda}
	second, _ := other.question(t)
	require.Equal(t, http.StatusOK, s.decides(t, harness.Bob, second.ID, "allow"))
	k.once(t, question.ID, "log.txt", "bob")
	other.once(t, second.ID, "other.txt", "bob")
}
