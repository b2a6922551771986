package activities_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/agent/agenttest"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

func workerOptions(ctx context.Context) worker.Options {
	return worker.Options{BackgroundActivityContext: ctx}
}

func indexOf(list []string, what string) int { return slices.Index(list, what) }

func message(text string) chat.Message {
	return chat.Message{UUID: "0198", EventID: "7", Thread: telegram, From: ada, Text: text, Ref: "44", ReceivedAt: start}
}

func step(m chat.Message, results ...contract.ToolResult) contract.StepInput {
	return contract.StepInput{Turn: contract.Turn{Message: m}, Results: results}
}

func TestStep(t *testing.T) {
	t.Parallel()
	call := agenttest.Call(contract.ToolCall{ID: "01J", Tool: "t", Operation: "o", Parameters: []byte(`{"path":"a"}`)})
	w := newWorld(t, nil, func(w *world) {
		w.agent.Steps = map[string][]contract.Step{"delete a": {call, agenttest.Say("done")}}
		w.history = []agent.Exchange{{Reply: "before"}}
	})
	m := message("delete a")
	m.Files = []chat.File{{Name: "a.txt", Path: "inbound/0198/a.txt"}}
	first, err := run[contract.Step](t, w, contract.ActivityStep, step(m))
	require.NoError(t, err)
	require.Equal(t, call, first)
	require.Equal(t, []string{"record", "history"}, w.done(), "a message is kept before the agent sees it")
	require.Equal(t, m.Files, w.said[0].Files)

	result := contract.ToolResult{Call: call.Calls[0], Result: contract.Result{Status: "completed", Output: []byte("{}")}}
	second, err := run[contract.Step](t, w, contract.ActivityStep, step(m, result))
	require.NoError(t, err)
	require.Equal(t, "done", second.Reply)
	require.Len(t, w.said, 1, "recorded once")
	asked := w.agent.Asked()
	require.Equal(t, []agent.Exchange{{Reply: "before"}}, asked[1].History)
	require.Equal(t, []contract.ToolResult{result}, asked[1].Results)
}

func TestNewStartsAfresh(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"!new", " !NEW \n"} {
		w := newWorld(t, nil)
		s, err := run[contract.Step](t, w, contract.ActivityStep, step(message(text)))
		require.NoError(t, err)
		require.Contains(t, s.Reply, "new conversation")
		require.Equal(t, []string{"afresh"}, w.done(), "the agent never sees it")
		require.Empty(t, w.agent.Asked())
	}
	for _, text := range []string{"!new please", "new", "!!new"} { // exact match
		w := newWorld(t, nil, func(w *world) { w.agent.Steps = map[string][]contract.Step{text: {agenttest.Say("hm")}} })
		s, err := run[contract.Step](t, w, contract.ActivityStep, step(message(text)))
		require.NoError(t, err)
		require.Equal(t, "hm", s.Reply)
	}
}

func TestStepsThatFail(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{"record": "keep the message", "history": "read the conversation"} {
		w := newWorld(t, nil, func(w *world) { w.faults[fault] = errAway })
		_, err := run[contract.Step](t, w, contract.ActivityStep, step(message("x")))
		require.ErrorContains(t, err, want+": away")
	}
	w := newWorld(t, nil, func(w *world) { w.faults["afresh"] = errAway })
	_, err := run[contract.Step](t, w, contract.ActivityStep, step(message("!new")))
	require.ErrorContains(t, err, "away")
	w = newWorld(t, nil, func(w *world) { w.agent.Err = errAway })
	_, err = run[contract.Step](t, w, contract.ActivityStep, step(message("x")))
	require.ErrorContains(t, err, "ask the agent: away")
}

func (w *world) staged(t *testing.T) []string {
	t.Helper()
	files, err := w.attachments.Outbound("0198").List(t.Context())
	require.NoError(t, err)
	names := []string{}
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

func (w *world) stage(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := w.attachments.Outbound("0198").Set(t.Context(), name, strings.NewReader(name))
		require.NoError(t, err)
	}
}

func replying() contract.ReplyInput {
	return contract.ReplyInput{Turn: contract.Turn{Message: message("send it")}, Text: "here"}
}

func TestReply(t *testing.T) {
	t.Parallel()
	for _, deletes := range []bool{true, false} {
		w := newWorld(t, nil, func(w *world) { w.traits.DeletesOutbound = deletes })
		w.stage(t, "a.txt", "b.txt")
		var sent chat.Reply
		w.reply = func(r chat.Reply, _ chat.Progress) error {
			sent = r
			require.Len(t, w.staged(t), 2, "cleared only after the platform has everything")
			return nil
		}
		result, err := run[contract.TurnResult](t, w, contract.ActivityReply, replying())
		require.NoError(t, err)
		require.Equal(t, "here", sent.Text)
		require.Equal(t, "44", sent.To)
		require.Len(t, sent.Files, 2)
		require.Equal(t, "outbound/0198/a.txt", sent.Files[0].Path)
		require.Equal(t, sent.Files, result.Files)
		require.Equal(t, []string{"here"}, w.closed)
		if deletes {
			require.Empty(t, w.staged(t))
		} else {
			require.Len(t, w.staged(t), 2, "CONTRACT §8: this connector does not delete")
		}
	}
}

func TestAReplyThatFailsKeepsItsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(w *world) { w.faults["reply"] = &chat.Error{Temporary: true, Err: errors.New("502")} })
	w.stage(t, "a.txt")
	_, err := run[contract.TurnResult](t, w, contract.ActivityReply, replying())
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, contract.ErrorTemporary, failure.Type())
	require.Equal(t, []string{"a.txt"}, w.staged(t))
	require.Empty(t, w.closed)

	in := replying()
	in.Turn.Message.Thread.Connector = chat.Slack
	_, err = run[contract.TurnResult](t, w, contract.ActivityReply, in)
	require.ErrorAs(t, err, &failure)
	require.Equal(t, contract.ErrorFinal, failure.Type())

	w = newWorld(t, nil, func(w *world) { w.faults["transcript close"] = errAway })
	_, err = run[contract.TurnResult](t, w, contract.ActivityReply, replying())
	require.NoError(t, err, "the person has the reply; sending it again would be worse")
}

// What an earlier attempt has sent is not sent again.
func TestAReplyIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.env.SetHeartbeatDetails([]string{"text", "file:a.txt"})
	var beats []string
	w.env.SetOnActivityHeartbeatListener(func(_ *sdkactivity.Info, details converter.EncodedValues) {
		if err := details.Get(&beats); err != nil {
			panic(err)
		}
	})
	sent := []string{}
	w.reply = func(_ chat.Reply, p chat.Progress) error {
		for _, part := range []string{"text", "file:a.txt", "file:b.txt"} {
			if p.Done(part) {
				continue
			}
			sent = append(sent, part)
			p.Mark(part)
			require.True(t, p.Done(part))
		}
		return nil
	}
	_, err := run[contract.TurnResult](t, w, contract.ActivityReply, replying())
	require.NoError(t, err)
	require.Equal(t, []string{"file:b.txt"}, sent)
	require.Equal(t, []string{"text", "file:a.txt", "file:b.txt"}, beats)
}

func TestRoute(t *testing.T) {
	t.Parallel()
	file := []chat.File{{Name: "a"}}
	for name, test := range map[string]struct {
		message chat.Message
		forward bool
		taken   bool
		fault   error
		want    contract.Routed
		did     []string
		err     string
	}{
		"a normal message":      {message: message("hello"), did: []string{"intercept"}},
		"an answer":             {message: message("yes"), forward: true, want: contract.Routed{Forwarded: true}, did: []string{"intercept", "reply 01J"}},
		"another program's":     {message: message("yes"), forward: true, taken: true, want: contract.Routed{Taken: true}, did: []string{"intercept"}},
		"it has ended":          {message: message("yes"), forward: true, fault: contract.ErrGone, want: contract.Routed{Gone: true}, did: []string{"intercept", "reply 01J"}},
		"Temporal is away":      {message: message("yes"), forward: true, fault: errAway, err: "away"},
		"a file without text":   {message: chat.Message{Thread: telegram, Files: file}, forward: true, did: []string{"intercept", "record"}},
		"a file with a caption": {message: chat.Message{Thread: telegram, Files: file, Text: "yes"}, forward: true, want: contract.Routed{Forwarded: true}, did: []string{"intercept", "record", "reply 01J"}},
		"only what is unseen":   {message: message("\u200b \n"), forward: true, did: []string{"intercept"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, func(w *world) { w.taken, w.faults["reply 01J"] = test.taken, test.fault })
			routed, err := run[contract.Routed](t, w, contract.ActivityRoute, contract.RouteInput{Message: test.message, Pending: "01J", Forward: test.forward})
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, routed)
			require.Equal(t, test.did, w.done())
		})
	}
}

func TestRouteGivesOtherProgramsTheTextAsReceived(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := message("yes")
	for _, raw := range []string{"@my_bot yes", ""} {
		m.Raw = raw
		_, err := run[contract.Routed](t, w, contract.ActivityRoute, contract.RouteInput{Message: m})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"@my_bot yes", "yes"}, w.texts)
}

func TestSignal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(w *world) { w.faults["word invocation/gone"] = contract.ErrGone })
	word, note := &contract.Word{Kind: contract.WordGo}, &contract.Note{Closing: &contract.Closing{Invocation: "01J"}}
	for _, test := range []struct {
		in   contract.SignalInput
		want contract.Routed
	}{
		{contract.SignalInput{Workflow: "invocation/01J", Word: word}, contract.Routed{}},
		{contract.SignalInput{Workflow: "invocation/gone", Word: word}, contract.Routed{Gone: true}},
		{contract.SignalInput{Thread: telegram, Note: note}, contract.Routed{}},
	} {
		routed, err := run[contract.Routed](t, w, contract.ActivitySignal, test.in)
		require.NoError(t, err)
		require.Equal(t, test.want, routed)
	}
	require.Equal(t, []string{"word invocation/01J", "word invocation/gone", "note telegram:1001"}, w.done())
	require.Equal(t, *note, w.notes[0])

	w.alive = true
	alive, err := run[bool](t, w, contract.ActivityAlive, "invocation/01J")
	require.NoError(t, err)
	require.True(t, alive)
}

// poller calls back with what it fetched, as a connector's long polling does.
type poller struct {
	from    string
	endless bool
	err     error
}

func (p *poller) Poll(ctx context.Context, offset string, heartbeat func(string)) error {
	p.from = offset
	heartbeat("8")
	heartbeat("9")
	if p.endless {
		<-ctx.Done()
		return ctx.Err()
	}
	return p.err
}

func TestListen(t *testing.T) {
	t.Parallel()
	p := &poller{}
	w := newWorld(t, nil, func(w *world) { w.params.Pollers = map[string]activities.Poller{chat.Telegram: p} })
	next, err := run[contract.Listen](t, w, contract.ActivityListen, contract.Listen{Connector: chat.Telegram, Offset: "5"})
	require.NoError(t, err)
	require.Equal(t, "5", p.from)
	require.Equal(t, contract.Listen{Connector: chat.Telegram, Offset: "9"}, next, "whoever comes next goes on there")

	w.env.SetHeartbeatDetails("7") // of the worker that died
	_, err = run[contract.Listen](t, w, contract.ActivityListen, contract.Listen{Connector: chat.Telegram, Offset: "5"})
	require.NoError(t, err)
	require.Equal(t, "7", p.from)

	p.err = &chat.Error{Op: "telegram getUpdates", Err: errors.New("401")}
	_, err = run[contract.Listen](t, w, contract.ActivityListen, contract.Listen{Connector: chat.Telegram})
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, contract.ErrorFinal, failure.Type())

	_, err = run[contract.Listen](t, w, contract.ActivityListen, contract.Listen{Connector: chat.Slack})
	require.ErrorContains(t, err, `the connector "slack" does not poll here`)
}

func TestAWorkerThatStopsEndsItsPoller(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(w *world) {
		w.params.Pollers = map[string]activities.Poller{chat.Telegram: &poller{endless: true}}
	})
	stopping := make(chan struct{})
	close(stopping)
	w.env.SetWorkerStopChannel(stopping)
	_, err := run[contract.Listen](t, w, contract.ActivityListen, contract.Listen{Connector: chat.Telegram})
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.False(t, failure.NonRetryable(), "another worker goes on")
}

func TestNewFillsInWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	a := activities.New(activities.Params{})
	require.NotNil(t, a.Logger)
	require.False(t, a.Now().IsZero())
	a.Publish("asked", "01J", telegram, "") // nobody listens
}
