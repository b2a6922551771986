package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// newSlackSocket starts an installation that nothing can call.
func newSlackSocket(t *testing.T) *slack {
	t.Helper()
	server := slacktest.New()
	t.Cleanup(server.Close)
	s := &slack{Server: server, World: harness.New(t, harness.Setup{Env: slackSettings(server, map[string]string{
		"COUNTERSIGN_SLACK_MODE": "socket", "LARACLAW_SLACK_APP_TOKEN": server.AppToken, "LARACLAW_SLACK_SIGNING_SECRET": "",
		"COUNTERSIGN_POLICY": askToAppend,
	})})}
	t.Cleanup(func() { s.noSecrets(t) })
	require.NoError(t, s.AwaitSocket(bounded(t)))
	return s
}

// Socket mode: nothing can call us, and all of it works, also over a lost socket.
func TestSlackSocket(t *testing.T) {
	t.Parallel()
	s := newSlackSocket(t)
	k := s.deletion(t, "C81", harness.SlackAda, "button.csv")
	_, prompt := k.question(t)
	s.presses(t, harness.SlackBob, prompt, "Yes")
	k.await(t, deleted)
	k.closed(t, prompt, allowed+"bob at ")
	s.presses(t, harness.SlackCarol, prompt, "No")
	s.whispered(t, prompt, harness.SlackCarol, "Already decided by bob at ")

	s.Hangup()
	s.Write(t, "dm.csv", "x")
	private := s.write(harness.SlackBob, fileCommand("delete", "dm.csv"))
	_, prompt = private.question(t)
	private.says(harness.SlackBob, "yes")
	private.await(t, deleted)
	private.closed(t, prompt, allowed+"bob at ")
	s.taken(t)

	// A file in, and one out.
	shared := s.asksWith("C83", saving("a.txt", "a.txt"), s.shared("a.txt", "text/plain", []byte("content")))
	shared.await(t, "✅ Done: file_manager save_attachment")
	shared.says(harness.SlackAda, fileCommand("attach_to_reply", "a.txt"))
	require.Equal(t, "content", string(shared.awaitFile(t, "a.txt").Content))
}

// The socket's holder is killed while a question is pending: the next one takes the socket over.
func TestSlackSocketTakenOver(t *testing.T) {
	t.Parallel()
	s := newSlackSocket(t)
	k := s.appending("C82", "log.txt")
	question, _ := k.question(t)
	s.KillEngine()
	s.StartEngine(t)
	require.NoError(t, s.AwaitSocket(bounded(t)))
	k.says(harness.SlackBob, "yes")
	k.once(t, question.ID, "log.txt", "bob")
	s.taken(t)
}
