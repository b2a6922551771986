package slack_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func recorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

// H01: the chat of the press is where it was pressed, whatever the button says.
func TestH01PlaceOfAPress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, _ := b.asks(t, "C01:1700000000.000100")
	direct, _ := b.asks(t, ada)
	route, _ := b.asks(t, "C02")
	moved := func(channel, root string) slacktest.Option {
		return func(p map[string]any) {
			p["channel"] = map[string]any{"id": channel}
			p["container"] = map[string]any{"channel_id": channel, "message_ts": "1700000099.000100", "thread_ts": root}
			delete(p, "message")
		}
	}
	for name, c := range map[string]struct {
		user   string
		under  slacktest.Message
		change []slacktest.Option
		want   string
	}{
		"in its thread":                    {bob, question, nil, "C01:1700000000.000100"},
		"by a stranger":                    {eve, question, nil, "C01:1700000000.000100"},
		"in another channel":               {bob, question, []slacktest.Option{moved("C07", "")}, "C07"},
		"in another thread":                {bob, question, []slacktest.Option{moved(channel, "1700000001.000100")}, "C01:1700000001.000100"},
		"where the thread is not told":     {bob, question, []slacktest.Option{moved(channel, "")}, "C01:1700000000.000100"},
		"direct message":                   {ada, direct, nil, ada},
		"direct message, by whom it is":    {bob, direct, nil, bob},
		"a question on its own":            {bob, route, nil, "C02"},
		"a question others replied to":     {bob, route, []slacktest.Option{moved("C02", "1700000099.000100")}, "C02"},
		"channel only in the old property": {bob, question, []slacktest.Option{slacktest.With("container", map[string]any{})}, "C01:1700000000.000100"},
	} {
		before := len(b.desk.Clicks())
		require.Equal(t, 200, b.press(t, c.user, c.under, "Yes", c.change...), name)
		clicks := b.desk.Clicks()
		require.Len(t, clicks, before+1, name)
		require.Equal(t, thread(c.want), clicks[before].Thread, name)
		require.Equal(t, "slack:T01/"+c.user, clicks[before].By.ID, name)
	}
}

func TestPressesThatCountForNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, _ := b.asks(t, "C01:1700000000.000100")
	direct, _ := b.asks(t, ada)
	action := func(field string, value any) slacktest.Option {
		return func(p map[string]any) { p["actions"].([]any)[0].(map[string]any)[field] = value }
	}
	for name, c := range map[string]struct {
		user    string
		under   slacktest.Message
		change  slacktest.Option
		whisper string
	}{
		"a stranger in private":   {eve, direct, slacktest.With("x", nil), "You may not answer this one"},
		"a button of another app": {bob, question, action("action_id", "approve"), "This button does not work any more"},
		"an action we have not":   {bob, question, action("action_id", "countersign:maybe"), "This button does not work any more"},
		"no value":                {bob, question, action("value", ""), "This button does not work any more"},
		"no person":               {bob, question, slacktest.With("user", nil), ""},
		"no action":               {bob, question, slacktest.With("actions", []any{}), ""},
		"no place":                {bob, question, func(p map[string]any) { delete(p, "channel"); delete(p, "container") }, ""},
	} {
		before := len(b.server.Whispers())
		require.Equal(t, 200, b.press(t, c.user, c.under, "Yes", c.change), name)
		b.Wait()
		whispers := b.server.Whispers()[before:]
		if c.whisper == "" {
			require.Empty(t, whispers, name)
			continue
		}
		require.Len(t, whispers, 1, name)
		require.Equal(t, c.whisper, whispers[0].Text, name)
		require.Equal(t, c.user, whispers[0].User, name)
	}
	require.Empty(t, b.desk.Clicks())
}

func TestPressWhileNobodyRecords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, _ := b.asks(t, ada)
	b.desk.Fail(chat.ErrUnreachable, errors.New("other"))
	for n := range 2 {
		require.Equal(t, 503, b.press(t, ada, question, "Yes"))
		whispers, err := b.server.AwaitWhispers(t.Context(), n+1)
		require.NoError(t, err)
		require.Contains(t, whispers[n].Text, "could not be recorded just now; press again")
	}
	b.server.Break(connectortest.HTML(502), "chat.postEphemeral")
	b.desk.Verdict = func(chat.Click) chat.Verdict { return chat.Verdict{Standing: chat.StandingRefused} }
	require.Equal(t, 200, b.press(t, ada, question, "Yes"), "a whisper that fails changes nothing")
	b.Wait()
	require.Len(t, b.desk.Clicks(), 1)
}

// H15, H16: what became of a press is whispered, unless the question will show it.
func TestWhispers(t *testing.T) {
	t.Parallel()
	for standing, want := range map[chat.Standing]string{
		chat.StandingTaken: "", chat.StandingNoted: "Recorded; more people have to agree",
		chat.StandingClosed: "This question is closed: timeout &lt;late&gt;", chat.StandingRefused: "You may not answer this one",
		chat.StandingUnknown: "There is no such question", "": "You may not answer this one",
	} {
		b := newBench(t)
		b.desk.Verdict = func(chat.Click) chat.Verdict { return chat.Verdict{Standing: standing, Reason: "timeout <late>"} }
		question, _ := b.asks(t, ada)
		require.Equal(t, 200, b.press(t, ada, question, "No"))
		b.Wait()
		if want == "" {
			require.Empty(t, b.server.Whispers())
			continue
		}
		require.Equal(t, want, b.server.Whispers()[0].Text, standing)
	}
}

func TestOwnKeyAsInvocation(t *testing.T) {
	t.Parallel()
	for key, kept := range map[string]bool{
		"order/2029-01-01/42": true, strings.Repeat("é", 31): false, strings.Repeat("x", 2001): false,
		"a<b>&c": false, slack.DigestPrefix + "00112233445566778899aabbccddeeff": false,
	} {
		b := newBench(t)
		c := card(ada)
		c.Invocation = key
		_, err := b.Post(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, 200, b.press(t, ada, b.server.Sent(dm)[0], "Yes"))
		got := b.desk.Clicks()[0].Invocation
		if kept {
			require.Equal(t, key, got)
		} else {
			require.Regexp(t, `^sha256:[0-9a-f]{32}$`, got)
			require.NotEqual(t, key, got)
		}
	}
}
