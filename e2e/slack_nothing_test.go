package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/e2e/harness"
)

func slackNothing(t *testing.T, s *slack) {
	k := s.deletion(t, "C08", harness.SlackAda, "nothing.csv")
	question, prompt := k.question(t)
	edited := map[string]any{"user": harness.SlackAda, "ts": "1700000001.000000"}
	for _, options := range [][]slacktest.Option{
		{
			slacktest.With("subtype", "message_changed"), slacktest.With("hidden", true),
			slacktest.With("message", map[string]any{"type": "message", "user": harness.SlackAda, "text": "yes", "edited": edited}),
			slacktest.With("previous_message", map[string]any{"user": harness.SlackAda, "text": "later"}),
		},
		{slacktest.With("edited", edited)},
		{slacktest.With("type", "app_mention"), slacktest.With("edited", edited)},
		{slacktest.With("subtype", "message_deleted"), slacktest.With("hidden", true)},
		{slacktest.With("bot_id", "B02")},
		{slacktest.With("subtype", "bot_message"), slacktest.With("bot_id", "B02"), slacktest.With("user", nil)},
		{slacktest.With("user", harness.SlackApp)},
		{slacktest.With("user", "USLACKBOT")},
		{slacktest.With("subtype", "channel_join")},
		{slacktest.With("type", "reaction_added"), slacktest.With("reaction", "+1")},
	} {
		k.says(harness.SlackAda, "yes", options...)
	}
	s.taken(t)
	s.open(t, question)
	require.Equal(t, prompt, k.sent()[0])
	// A file without a word is kept, and answers nothing.
	k.says(harness.SlackAda, "", slacktest.With("subtype", "file_share"),
		slacktest.With("files", []any{s.Upload("voice.ogg", "audio/ogg", []byte("OggS"))}))
	s.taken(t)
	k.says(harness.SlackBob, "yes", slacktest.With("subtype", "thread_broadcast"))
	k.closed(t, prompt, "✅ Approved by bob at ")
	k.await(t, deleted)
	require.Len(t, k.sent(), 2)
}

func slackExternal(t *testing.T, s *slack) {
	k := s.deletion(t, "C09", harness.SlackAda, "external.csv")
	question, prompt := k.question(t)
	const guest = "U09"
	elsewhere := slacktest.With("user_team", "T02")
	k.says(guest, "yes", elsewhere)
	// The same number as ada's, in another workspace.
	k.says(harness.SlackAda, "yes", elsewhere)
	k.says(guest, "<@"+harness.SlackApp+"> yes", slacktest.With("source_team", "T02"))
	s.presses(t, guest, prompt, "Yes", slacktest.With("user", map[string]any{"id": guest, "team_id": "T02"}))
	s.whispered(t, prompt, guest, "You may not answer this one")
	s.taken(t)
	s.open(t, question)
	require.True(t, s.Exists("external.csv"))
	k.says(harness.SlackBob, "yes")
	k.closed(t, prompt, "✅ Approved by bob at ")
	k.await(t, deleted)
	require.Len(t, k.sent(), 2)
}

func slackAgain(t *testing.T, s *slack) {
	const channel = "C10"
	again := func(kind slacktest.Kind, payload map[string]any) {
		t.Helper()
		for retry := range 3 {
			require.Equal(t, http.StatusOK, s.post(t, kind, payload, retry))
			require.Equal(t, http.StatusOK, s.post(t, kind, payload, 0), "without the header")
		}
	}
	mention := func(ts, text string) {
		t.Helper()
		text = "<@" + harness.SlackApp + "> " + text
		again(slacktest.Events, s.Envelope(channel, harness.SlackAda, text, ts))
		again(slacktest.Events, s.Envelope(channel, harness.SlackAda, text, ts, slacktest.With("type", "app_mention")))
	}
	s.Write(t, "again.csv", "x")
	const root = "1700000000.000100"
	k := talk{slack: s, channel: channel, root: root, author: harness.SlackAda}
	mention(root, fileCommand("append", "again.txt", "content=line;"))
	_, prompt := k.question(t)
	press, err := s.ComposePress(harness.SlackBob, prompt, "Yes")
	require.NoError(t, err)
	again(slacktest.Interactive, press)
	k.await(t, "✅ Done: file_manager append")
	k.closed(t, prompt, "✅ Approved by bob at ")

	const second = "1700000000.000200"
	k.root = second
	mention(second, fileCommand("delete", "again.csv"))
	_, prompt = k.question(t)
	again(slacktest.Events, s.Envelope(channel, harness.SlackBob, "yes", "1700000000.000300", slacktest.In(second, harness.SlackAda)))
	k.await(t, deleted)
	k.closed(t, prompt, "✅ Approved by bob at ")
	// A last message goes through after all of them: what they did is done.
	again(slacktest.Events, s.Envelope(channel, harness.SlackAda, fileCommand("exists", "again.csv"), "1700000000.000400", slacktest.In(second, harness.SlackAda)))
	k.await(t, "✅ Done: file_manager exists")
	require.Equal(t, "line;", s.Read(t, "again.txt"))
	require.Len(t, s.Sent(channel), 5, "two questions, and a reply for each of three commands")
	for _, w := range s.Whispers() {
		require.NotEqual(t, channel, w.Channel, "the same press again is told what it did: %+v", w)
	}
}

func slackTwoPresses(t *testing.T, s *slack) {
	k := s.deletion(t, "C11", harness.SlackAda, "two.csv")
	question, prompt := k.question(t)
	s.presses(t, harness.SlackBob, prompt, "Yes")
	harness.Pass(t, time.Now().Add(20*time.Millisecond))
	s.presses(t, harness.SlackCarol, prompt, "No")
	state := s.API.Result(t, question.ID)
	by, loser, outcome := "bob", harness.SlackCarol, "✅ Approved by bob at "
	if state.Approval.Decision.By == "carol" { // both were under way at the same time
		by, loser, outcome = "carol", harness.SlackBob, "❌ Denied by carol at "
	}
	require.Equal(t, by == "bob", state.Status == "completed")
	s.whispered(t, prompt, loser, "Already decided by "+by+" at ")
	k.closed(t, prompt, outcome)
	require.Equal(t, by == "carol", s.Exists("two.csv"))
}

func slackAgent(t *testing.T, s *slack) {
	k := s.deletion(t, "C12", harness.SlackAda, "agent.csv")
	question, prompt := k.question(t)
	k.says(harness.SlackRobot, "yes")
	s.presses(t, harness.SlackRobot, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackRobot, "You may not answer this one")
	require.Equal(t, http.StatusForbidden, s.As(harness.Robot).Decide(t, question.ID, harness.Say{Decision: "allow"}).Status)
	s.taken(t)
	s.open(t, question)
	k.says(harness.SlackAda, "no")
	k.closed(t, prompt, "❌ Denied by ada at ")
	require.True(t, s.Exists("agent.csv"))
}
