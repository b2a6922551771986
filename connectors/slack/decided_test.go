package slack_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func TestC11TwoPresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Date(2029, 1, 1, 12, 3, 4, 0, time.UTC)
	var once sync.Once
	b.desk.Verdict = func(chat.Click) chat.Verdict {
		verdict := chat.Verdict{Standing: chat.StandingDecided, Decision: &chat.Decision{Decision: chat.Allow, By: "ada", At: at}}
		once.Do(func() { verdict = chat.Verdict{Standing: chat.StandingTaken} })
		return verdict
	}
	question, receipt := b.asks(t, "C01:1700000000.000100")
	require.Equal(t, 200, b.press(t, ada, question, "Yes"))
	b.Wait()
	require.Empty(t, b.server.Whispers(), "the question itself will say it")
	require.Equal(t, 200, b.press(t, bob, question, "No"))
	whispers, err := b.server.AwaitWhispers(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, []slacktest.Whisper{{
		Channel: channel, User: bob, Thread: "1700000000.000100", Text: "Already decided by ada at 12:03:04 UTC",
	}}, whispers)

	closed := card("C01:1700000000.000100")
	closed.Closed = "✅ Approved by ada at 12:03:04 UTC."
	require.NoError(t, b.Edit(t.Context(), receipt, closed))
	require.Empty(t, b.server.Sent(channel)[0].Buttons)
	require.Equal(t, closed.Text+"\n"+closed.Closed, b.server.Sent(channel)[0].Shown())
}

// The button says which question it is: nothing is kept in memory.
func TestC12PressAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, _ := b.asks(t, "C01:1700000000.000100")
	restarted := benchFor(t, b.desk)
	require.Equal(t, 200, restarted.press(t, bob, question, "Always allow"))
	clicks := b.desk.Clicks()
	require.Len(t, clicks, 1)
	require.Equal(t, card("").Invocation, clicks[0].Invocation)
	require.Equal(t, chat.ActionAlways, clicks[0].Action)
	require.Equal(t, thread("C01:1700000000.000100"), clicks[0].Thread)
	require.Equal(t, chat.Person{ID: "slack:T01/U02", Name: "bob", Display: "u02"}, clicks[0].By)
}

// Slack's response_url works for half an hour: it is never called.
func TestC13NoResponseURL(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var calls []string
	stale := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.URL.Path)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(stale.Close)
	question, receipt := b.asks(t, ada)
	require.Equal(t, 200, b.press(t, ada, question, "Yes", slacktest.With("response_url", stale.URL)))
	require.Len(t, b.desk.Clicks(), 1, "recorded before and without the message")
	closed := card(ada)
	closed.Closed = "✅ Approved by ada."
	require.NoError(t, b.Edit(t.Context(), receipt, closed))
	require.Equal(t, question.TS, b.server.Calls("chat.update")[0].Params["ts"])
	b.Wait()
	require.Empty(t, calls)
}
