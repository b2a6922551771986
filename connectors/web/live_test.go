package web

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
)

// Live: one's own conversation, and of others the questions that one may decide; each of them is
// looked up once, however many listen.
func TestLiveEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, second, owner := b.signedIn(t, "approver"), b.signedIn(t, "approver"), b.signedIn(t, "owner")
	first.send(first.csrf(), "n", "hello", nil)
	thread, far := b.engine.delivered[0].Thread, chat.Thread{Connector: chat.Telegram, Key: "7"}
	theirs, listed, handed := asked("theirs", far), asked("listed", far), asked("handed", far)
	listed.Approval.Approvers = tool.Approvers{Who: tool.WhoList, People: []string{"carol"}}
	handed.Approval, handed.Handoff = nil, &contract.HandoffState{Status: "pending", Approvers: tool.Approvers{Who: tool.WhoRequester}}
	handed.Requester = "carol"
	b.engine.states = []contract.State{theirs, listed, handed}
	streams := map[string]*bufio.Scanner{"first": first.listen(), "second": second.listen(), "owner": owner.listen()}

	for _, event := range []gateway.Event{
		{Kind: "reply", Thread: far, Text: "said elsewhere"},
		{Kind: "asked", Thread: far, Invocation: "listed", Text: "for carol"},
		{Kind: "asked", Thread: far, Invocation: "handed", Text: "carol's step"},
		{Kind: "asked", Thread: far, Invocation: "gone", Text: "nobody knows it"},
		{Kind: "asked", Thread: far, Invocation: "theirs", Text: "may decide"},
		{Kind: "edited", Thread: far, Invocation: "theirs", Text: "was decided"},
		{Kind: "reply", Thread: thread, Text: "in first's"},
		{Kind: "lost"},
	} {
		b.bus.Publish(event)
	}
	heard := map[string]string{}
	for name, stream := range streams {
		for !strings.Contains(heard[name], "event: lost") {
			require.True(t, stream.Scan(), name)
			heard[name] += stream.Text() + "\n"
		}
	}
	for text, who := range map[string]string{
		"said elsewhere": "owner", "for carol": "owner", "carol's step": "owner", "nobody knows it": "owner",
		"may decide": "first second owner", "was decided": "first second owner", "in first's": "first owner",
	} {
		for name := range streams {
			require.Equal(t, strings.Contains(who, name), strings.Contains(heard[name], text), "%s hears %q", name, text)
		}
	}
	require.Equal(t, int64(1), b.engine.looked("theirs"))
	require.LessOrEqual(t, b.engine.looked("gone"), int64(2), "unknown ones are not remembered")
}

// listen opens the live feed; on return it is subscribed.
func (b *browser) listen() *bufio.Scanner {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+"/events", nil)
	require.NoError(b.t, err)
	response, err := b.client.Do(r)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	require.True(b.t, lines.Scan())
	return lines
}

func TestAudienceForgets(t *testing.T) {
	t.Parallel()
	engine := &fakeEngine{}
	a := newAudience(engine)
	for n := range remembered + 1 {
		engine.states = append(engine.states, asked(strconv.Itoa(n), chat.Thread{}))
		_, known := a.asked(t.Context(), strconv.Itoa(n))
		require.True(t, known)
	}
	require.Len(t, a.known, remembered)
	require.NotContains(t, a.known, "0", "the oldest goes first")
	require.Nil(t, a.known["1"].Approval.Parameters)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	engine.err = chat.ErrUnreachable
	_, known := a.asked(over, "elsewhere")
	require.False(t, known)
	_, known = a.asked(t.Context(), "0")
	require.False(t, known, "nobody hears what cannot be looked up")
}

func TestSay(t *testing.T) {
	t.Parallel()
	for standing, want := range map[chat.Standing]string{
		chat.StandingTaken: "good", chat.StandingNoted: "note", chat.StandingKept: "note", chat.StandingDecided: "note",
		chat.StandingClosed: "bad", chat.StandingRefused: "bad", chat.StandingInvalid: "bad", chat.StandingUnknown: "bad", "": "bad",
	} {
		kind, line := say(chat.Verdict{Standing: standing})
		require.Equal(t, want, kind, standing)
		require.NotEmpty(t, words.Say(words.English, line))
	}
	_, line := say(chat.Verdict{Standing: chat.StandingDecided, Decision: &chat.Decision{Decision: chat.Deny, By: "bob", At: time.Unix(0, 0)}})
	require.Equal(t, "Changed: already decided by bob at 00:00:00 UTC: deny.", words.Say(words.English, line))
}
