package e2e_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// overnight is one question whose deadline passes while no engine runs.
type overnight struct {
	name string
	chat int64
	// unrelated is written first, by somebody who may not answer.
	unrelated bool
	// inTime and late are answers that the gateway takes before and after the deadline.
	inTime, late func(t *testing.T, n *night, o *overnight)
	// approved tells what has to come of it, and via which way.
	approved bool
	via      string
	denied   bool
	// normal is how many of the answers are texts that answered nothing.
	normal int

	prompt   telegramtest.Message
	question contract.Approval
}

// night is a World and its Telegram.
type night struct {
	*harness.World
	telegram *telegram
}

func (o *overnight) path() string { return fmt.Sprintf("night%d.txt", -o.chat) }

func text(said string) func(*testing.T, *night, *overnight) {
	return func(_ *testing.T, n *night, o *overnight) { n.telegram.Say(group(o.chat), adaThere, said) }
}

func button(label string) func(*testing.T, *night, *overnight) {
	return func(t *testing.T, n *night, o *overnight) {
		_, _, err := n.telegram.Press(adaThere, o.prompt, label)
		require.NoError(t, err)
	}
}

func decision(what string) func(*testing.T, *night, *overnight) {
	return func(t *testing.T, n *night, o *overnight) {
		answer := n.API.Insist(t, o.question.ID, harness.Say{Decision: what, DecisionID: what})
		require.Equal(t, http.StatusAccepted, answer.Status, "it is kept with its time: %s", answer.Body)
	}
}

func nothing(*testing.T, *night, *overnight) {}

// An answer that the gateway took in time counts, whatever the engine was doing; one taken late
// never does. The engine is away from before the deadline until after it.
func TestDeadlinePassesWhileTheEngineIsDown(t *testing.T) {
	t.Parallel()
	questions := []*overnight{
		{name: "nobody answers", inTime: nothing, late: nothing},
		{name: "text in time", inTime: text("yes"), late: nothing, approved: true, via: "telegram"},
		{name: "text late", inTime: nothing, late: text("yes"), normal: 1},
		{name: "button in time", inTime: button("Yes"), late: nothing, approved: true, via: "telegram"},
		{name: "button late", inTime: nothing, late: button("Yes")},
		{name: "decision in time", inTime: decision("allow"), late: nothing, approved: true, via: "api"},
		{name: "decision late", inTime: nothing, late: decision("allow")},
		{name: "yes in time, no late", inTime: text("yes"), late: decision("deny"), approved: true, via: "telegram"},
		{name: "no in time, yes late", inTime: text("no"), late: decision("allow"), denied: true, via: "telegram"},
		{name: "no by button in time, yes by text late", inTime: button("No"), late: text("yes"), denied: true, via: "telegram", normal: 1},
	}
	for _, o := range questions[:len(questions):len(questions)] {
		after := *o
		after.name += ", after an unrelated message"
		after.unrelated = true
		after.normal++
		questions = append(questions, &after)
	}
	s := newTelegram(t)
	n := &night{telegram: s}
	n.World = s.world(t, harness.Setup{Split: true, Env: map[string]string{
		"COUNTERSIGN_POLICY":          `{file_manager.append: {confirm: true, approvers: {who: list, people: [ada]}}}`,
		"COUNTERSIGN_CONFIRM_TIMEOUT": "30s",
	}})
	for i, o := range questions {
		o.chat = int64(-1000 - i)
		s.Say(group(o.chat), adaThere, "/file_manager append disk=local content=line; path="+o.path())
	}
	for _, o := range questions {
		o.prompt = s.await(t, o.chat, "⚠️ Add to the file at "+o.path())
	}
	var last time.Time
	for _, q := range harness.Until(t, "all questions are pending", func() ([]contract.Approval, bool) {
		pending := n.API.Pending(t)
		return pending, len(pending) == len(questions)
	}) {
		for _, o := range questions {
			if fmt.Sprint(o.chat) == q.ThreadKey {
				o.question = q
			}
		}
		if q.ExpiresAt.After(last) {
			last = *q.ExpiresAt
		}
	}

	n.KillEngine()
	answers := func(of func(o *overnight) func(*testing.T, *night, *overnight)) {
		t.Helper()
		done := make(chan struct{})
		for _, o := range questions {
			go func() {
				defer func() { done <- struct{}{} }()
				of(o)(t, n, o)
			}()
		}
		for range questions {
			<-done
		}
	}
	for _, o := range questions {
		if o.unrelated {
			s.Say(group(o.chat), strangerThere, "yes")
		}
	}
	s.taken(t)
	answers(func(o *overnight) func(*testing.T, *night, *overnight) { return o.inTime })
	s.taken(t)
	require.True(t, time.Now().Before(*questions[0].question.ExpiresAt), "this machine is too slow: the deadline passed before all answers were in")
	harness.Pass(t, last)
	answers(func(o *overnight) func(*testing.T, *night, *overnight) { return o.late })
	s.taken(t)
	n.StartEngine(t)

	t.Run("afterwards", func(t *testing.T) {
		for _, o := range questions {
			t.Run(o.name, func(t *testing.T) {
				t.Parallel()
				n.judge(t, o)
			})
		}
	})
	require.Empty(t, n.API.Pending(t))
}

// judge looks what has become of a question.
func (n *night) judge(t *testing.T, o *overnight) {
	t.Helper()
	state := n.API.Result(t, o.question.ID)
	require.Equal(t, o.question.ExpiresAt, state.Approval.ExpiresAt, "the deadline stays what it was")
	switch {
	case o.approved:
		require.Equal(t, "completed", state.Status, "%+v", state)
		require.Equal(t, "line;", n.Read(t, o.path()))
		require.Len(t, n.Audit(t, o.question.ID), 1)
		require.Contains(t, n.telegram.await(t, o.chat, o.prompt.Text+"\n\n").Text, "✅ Approved by ada at ")
	case o.denied:
		require.Equal(t, [2]string{"denied", "denied"}, [2]string{state.Status, state.Reason})
		require.Contains(t, n.telegram.await(t, o.chat, o.prompt.Text+"\n\n").Text, "❌ Denied by ada at ")
	default:
		require.Equal(t, [3]string{"denied", "PERMISSION_DENIED", "timeout"}, [3]string{state.Status, state.Code, state.Reason})
		require.Contains(t, n.telegram.await(t, o.chat, o.prompt.Text+"\n\n").Text, "⌛ No answer until ")
	}
	if !o.approved {
		require.False(t, n.Exists(o.path()))
		require.Empty(t, n.Audit(t, o.question.ID))
	}
	if o.via != "" {
		require.Equal(t, [2]string{"ada", o.via}, [2]string{state.Approval.Decision.By, state.Approval.Decision.Via})
		require.True(t, state.Approval.Decision.At.Before(*state.Approval.ExpiresAt))
	}
	// What answered nothing is a normal message, which the agent answers.
	harness.Until(t, "the prompt, the turn's reply, and one for each normal message", func() ([]telegramtest.Message, bool) {
		sent := n.telegram.Sent(o.chat)
		return sent, len(sent) == 2+o.normal
	})
	require.Equal(t, 1, n.telegram.prompts(o.chat, o.prompt.Text), "one prompt")
}
