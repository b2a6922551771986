package activities_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

func asking() contract.AskInput {
	return contract.AskInput{
		Open:    contract.Open{Invocation: "01J", Requester: "ada"},
		Card:    chat.Card{Invocation: "01J", Thread: telegram, Text: "⚠️ Delete a? Reply 'Yes' to confirm."},
		Timeout: time.Minute,
	}
}

func closing() contract.CloseInput {
	card := asking().Card
	card.Closed = "✅ Approved by ada."
	return contract.CloseInput{
		Close: contract.Close{Invocation: "01J", Ref: "55"}, Receipt: chat.Receipt{Ref: "55"}, Card: card,
	}
}

// DESIGN, mechanism 1: the conversation knows before the keys are set, and these before the prompt is sent.
func TestAskInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	asked, err := run[contract.Asked](t, w, contract.ActivityAsk, asking())
	require.NoError(t, err)
	require.Equal(t, []string{"note telegram:1001", "asked", "mirror open", "post", "mirror renew", "publish asked"}, w.done())
	require.Equal(t, &contract.Open{Invocation: "01J", Requester: "ada"}, w.notes[0].Open)
	require.Equal(t, chat.Receipt{Ref: "55"}, asked.Receipt)
	require.True(t, asked.Began.Before(asked.Delivered))
	require.Equal(t, []time.Duration{time.Minute, time.Minute}, w.ttls, "renewed whole at delivery")
	require.Equal(t, time.Minute-time.Second, w.pending[0].Expires.Sub(w.pending[0].AskedAt), "the clock moved a second between the two looks")
	require.Equal(t, w.pending[0].Expires, w.cards[0].Expires.UTC())
}

func TestAskStopsWhereTheQuestionIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"note telegram:1001", "asked"} {
		w := newWorld(t, nil, func(w *world) { w.faults[step] = errAway })
		_, err := run[contract.Asked](t, w, contract.ActivityAsk, asking())
		require.ErrorContains(t, err, "away")
		require.NotContains(t, w.done(), "post", "the record exists before the prompt is sent")
	}
}

// CONTRACT §5: Redis is a mirror.
func TestRedisDownIsOnlyAWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(w *world) {
		w.faults["mirror open"], w.faults["mirror renew"], w.faults["mirror close"], w.faults["intercept"] = errAway, errAway, errAway, errAway
	})
	_, err := run[contract.Asked](t, w, contract.ActivityAsk, asking())
	require.NoError(t, err)
	closed, err := run[contract.Closed](t, w, contract.ActivityClose, closing())
	require.NoError(t, err)
	require.True(t, closed.Edited)
	routed, err := run[contract.Routed](t, w, contract.ActivityRoute, contract.RouteInput{
		Message: chat.Message{Thread: telegram, Text: "yes"}, Pending: "01J", Forward: true,
	})
	require.NoError(t, err)
	require.True(t, routed.Forwarded)

	without := newWorld(t, nil, func(w *world) { w.params.Mirror = nil })
	_, err = run[contract.Asked](t, without, contract.ActivityAsk, asking())
	require.NoError(t, err)
	require.NotContains(t, without.done(), "mirror open")
}

func TestConnectorErrorsAreClassifiedOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		kind  string
		final bool
		delay time.Duration
	}{
		"final":     {&chat.Error{Op: "telegram sendMessage", Err: errors.New("403 blocked")}, contract.ErrorFinal, true, 0},
		"temporary": {&chat.Error{Op: "telegram sendMessage", Temporary: true, Err: errors.New("502")}, contract.ErrorTemporary, false, 0},
		"put off":   {&chat.Error{Temporary: true, RetryAfter: 7 * time.Second, Err: errors.New("429")}, contract.ErrorTemporary, false, 7 * time.Second},
		"unknown":   {errAway, "", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for activity, step := range map[string]string{contract.ActivityAsk: "post", contract.ActivityEdit: "edit", contract.ActivityTell: "reply"} {
				w := newWorld(t, nil, func(w *world) { w.faults[step] = test.err })
				input := map[string]any{
					contract.ActivityAsk: asking(), contract.ActivityEdit: closing(),
					contract.ActivityTell: contract.TellInput{Thread: telegram, Text: "x", Key: "k"},
				}[activity]
				_, err := w.env.ExecuteActivity(activity, input)
				var failure *temporal.ApplicationError
				require.ErrorAs(t, err, &failure)
				require.Equal(t, test.kind, failure.Type())
				require.Equal(t, test.final, failure.NonRetryable())
				require.Equal(t, test.delay, failure.NextRetryDelay())
				require.Contains(t, failure.Message(), test.err.Error())
			}
		})
	}
}

func TestAConnectorThatIsNotConfigured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	in := asking()
	in.Card.Thread.Connector = chat.Slack
	_, err := run[contract.Asked](t, w, contract.ActivityAsk, in)
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, contract.ErrorFinal, failure.Type())
	require.Empty(t, w.done(), "nobody is told of a question that cannot be asked")

	end := closing()
	end.Card.Thread.Connector = chat.Slack
	closed, err := run[contract.Closed](t, w, contract.ActivityClose, end)
	require.NoError(t, err)
	require.True(t, closed.Edited, "there is no card")
	_, err = run[struct{}](t, w, contract.ActivityTell, contract.TellInput{Thread: in.Card.Thread, Text: "x"})
	require.NoError(t, err)
}

func TestCloseInTheReverseOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	closed, err := run[contract.Closed](t, w, contract.ActivityClose, closing())
	require.NoError(t, err)
	require.Equal(t, contract.Closed{Edited: true}, closed)
	require.Equal(t, []string{"edit", "publish edited", "mirror close", "ended 01J", "note telegram:1001", "publish closed"}, w.done())
	require.Equal(t, "01J", w.notes[0].Close.Invocation)
	require.Equal(t, "✅ Approved by ada.", w.cards[0].Closed)

	undelivered := newWorld(t, nil)
	in := closing()
	in.Receipt, in.Close.Ref = chat.Receipt{}, ""
	closed, err = run[contract.Closed](t, undelivered, contract.ActivityClose, in)
	require.NoError(t, err)
	require.True(t, closed.Edited)
	require.NotContains(t, undelivered.done(), "edit")
	require.Contains(t, undelivered.done(), "mirror close")
}

// A platform that puts an edit off does not keep the conversation waiting.
func TestAnEditThatIsPutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(w *world) {
		w.faults["edit"] = &chat.Error{Temporary: true, RetryAfter: 9 * time.Second, Err: errors.New("429")}
	})
	closed, err := run[contract.Closed](t, w, contract.ActivityClose, closing())
	require.NoError(t, err)
	require.Equal(t, contract.Closed{RetryAfter: 9 * time.Second}, closed)
	require.Contains(t, w.done(), "note telegram:1001")
	require.NotContains(t, w.done(), "publish edited")
}

func TestCloseIsRepeatedWhereTheConversationDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"ended 01J", "note telegram:1001"} {
		w := newWorld(t, nil, func(w *world) { w.faults[step] = errAway })
		_, err := run[contract.Closed](t, w, contract.ActivityClose, closing())
		require.ErrorContains(t, err, "away")
	}
}

func TestTell(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var told chat.Reply
	w.reply = func(r chat.Reply, _ chat.Progress) error { told = r; return nil }
	_, err := run[struct{}](t, w, contract.ActivityTell, contract.TellInput{Thread: telegram, Text: "It was not run.", Key: "k"})
	require.NoError(t, err)
	require.Equal(t, chat.Reply{Thread: telegram, UUID: "k", Text: "It was not run."}, told)
}
