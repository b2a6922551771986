package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func TestC04EditsAreNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.know("C01:1.1")
	edited := map[string]any{"user": ada, "ts": "1700000001.000000"}
	for name, options := range map[string][]slacktest.Option{
		"no to yes": {
			slacktest.With("subtype", "message_changed"), slacktest.With("hidden", true),
			slacktest.With("message", map[string]any{"type": "message", "user": ada, "text": "yes", "edited": edited}),
			slacktest.With("previous_message", map[string]any{"user": ada, "text": "no"}),
		},
		"changed without hidden":                 {slacktest.With("subtype", "message_changed")},
		"a mention added by an edit (H12)":       {slacktest.With("type", "app_mention"), slacktest.With("edited", edited)},
		"a message that says it was edited":      {slacktest.With("edited", edited)},
		"deleted":                                {slacktest.With("subtype", "message_deleted")},
		"replied":                                {slacktest.With("subtype", "message_replied")},
		"hidden":                                 {slacktest.With("hidden", true)},
		"a reaction (H13)":                       {slacktest.With("type", "reaction_added"), slacktest.With("reaction", "+1")},
		"an event whose user is an object":       {slacktest.With("type", "team_join"), slacktest.With("user", map[string]any{"id": ada})},
		"a subtype with fields of another shape": {slacktest.With("subtype", "bot_add"), slacktest.With("files", "none")},
	} {
		require.Equal(t, 200, b.say(t, dm, ada, "yes", options...), name)
		require.Equal(t, 200, b.say(t, channel, ada, "<@U0BOT> yes", options...), name)
	}
	require.Empty(t, b.desk.Messages())
}

func TestC05BotsAndJoinsAreNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, options := range map[string][]slacktest.Option{
		"our own by bot_id":    {slacktest.With("bot_id", "B0BOT")},
		"our own by user":      {slacktest.With("user", "U0BOT")},
		"another app":          {slacktest.With("subtype", "bot_message"), slacktest.With("bot_id", "B02"), slacktest.With("user", nil)},
		"another app as user":  {slacktest.With("bot_profile", map[string]any{"id": "B02"})},
		"an app's user token":  {slacktest.With("app_id", "A02")},
		"slackbot":             {slacktest.With("user", "USLACKBOT")},
		"join":                 {slacktest.With("subtype", "channel_join")},
		"topic":                {slacktest.With("subtype", "channel_topic")},
		"nobody":               {slacktest.With("user", nil)},
		"a user of no form":    {slacktest.With("user", "U01/../x")},
		"a ts that is no time": {slacktest.With("ts", "now")},
		"nothing in it":        {slacktest.With("text", "")},
		"mention by a bot":     {slacktest.With("type", "app_mention"), slacktest.With("bot_id", "B02")},
	} {
		require.Equal(t, 200, b.say(t, channel, ada, "<@U0BOT> yes", options...), name)
	}
	require.Empty(t, b.desk.Messages())
	require.Empty(t, b.asked)
}

func TestC06FilesAreInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := b.server.Upload("report.pdf", "application/pdf", []byte("%PDF"))
	require.Equal(t, 200, b.say(t, dm, ada, "yes", slacktest.With("subtype", "file_share"), slacktest.With("files", []any{file})))
	got := b.only(t)
	require.Equal(t, "yes", got.Text)
	require.Equal(t, "inbound/uuid-1/report.pdf", got.Files[0].Path)
	require.Equal(t, "%PDF", b.files.read(got.Files[0].Path))

	require.Equal(t, 200, b.say(t, channel, bob, "<@U0BOT> yes", slacktest.With("subtype", "thread_broadcast"), slacktest.In("1700000000.000100", ada)))
	require.Len(t, b.desk.Messages(), 2, "a reply that is also shown in the channel")
}

// Whom the configuration calls an agent stays one, whatever account it writes or presses with.
func TestH02AgentsStayAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *slack.Params) {
		p.Identify = func(id string) chat.Person { return chat.Person{ID: id, Name: "robot", Bot: true} }
	})
	require.Equal(t, 200, b.say(t, channel, bob, "<@U0BOT> yes"))
	require.True(t, b.only(t).From.Bot)
	question, _ := b.asks(t, "C01:1700000000.000100")
	require.Equal(t, 200, b.press(t, bob, question, "Yes"))
	require.True(t, b.desk.Clicks()[0].By.Bot, "the desk refuses it")
}
