package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

func polling(p *telegram.Params) { p.Mode, p.WebhookSecret = telegram.Polling, "" }

// poll runs Poll until the test ends, or stop is called; offsets are its heartbeats.
func (b *bench) poll(t *testing.T, offset int64) (offsets chan int64, stop func() error) {
	t.Helper()
	b.Hasten()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	offsets = make(chan int64, 10_000)
	ended := make(chan error, 1)
	go func() {
		ended <- b.Poll(ctx, offset, func(o int64) {
			select {
			case offsets <- o:
			default:
			}
		})
	}()
	done := false
	stop = func() error {
		if done {
			return nil
		}
		done = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() { _ = stop() })
	return offsets, stop
}

func until(t *testing.T, offsets chan int64, want int64) {
	t.Helper()
	for {
		select {
		case got := <-offsets:
			if got == want {
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("the offset never became %d", want)
		}
	}
}

func TestPollInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, polling)
	b.server.Webhook("http://127.0.0.1:1/left-over", "x")
	var last int64
	for _, text := range []string{"one", "two", "three"} {
		last = b.server.Say(telegramtest.Private(ada), ada, text)
	}
	offsets, stop := b.poll(t, 0)
	until(t, offsets, last+1)
	last = b.server.Say(telegramtest.Private(ada), ada, "four")
	until(t, offsets, last+1)
	require.ErrorIs(t, stop(), context.Canceled)
	var texts []string
	for _, m := range b.desk.Messages() {
		texts = append(texts, m.Text)
	}
	require.Equal(t, []string{"one", "two", "three", "four"}, texts)
	require.NotEmpty(t, b.server.Calls("deleteWebhook"), "D05: a webhook left over is cleared")
}

func TestD03OffsetMovesAfterDelivery(t *testing.T) {
	t.Parallel()
	b := newBench(t, polling)
	first := b.server.Say(telegramtest.Private(ada), ada, "one")
	second := b.server.Say(telegramtest.Private(ada), ada, "two")
	b.desk.Fail(chat.ErrUnreachable, chat.ErrUnreachable, chat.ErrUnreachable, chat.ErrUnreachable, chat.ErrUnreachable, chat.ErrUnreachable, chat.ErrUnreachable)
	offsets, stop := b.poll(t, first)
	for o := range offsets {
		if b.desk.Pending() > 0 {
			require.LessOrEqual(t, o, first, "nothing is acknowledged that the desk has not")
		}
		if o == second+1 {
			break
		}
	}
	require.ErrorIs(t, stop(), context.Canceled)
	require.Len(t, b.desk.Messages(), 2)

	again := newBench(t, polling)
	again.server.PushJSON(first, []byte(`{"update_id":`+strconv.FormatInt(first, 10)+`,"message":{"message_id":1,"from":{"id":1001},"chat":{"id":1001,"type":"private"},"text":"one"}}`), 1001)
	offsets, _ = again.poll(t, 0)
	until(t, offsets, first+1)
	require.Equal(t, b.desk.Messages()[0].EventID, again.desk.Messages()[0].EventID, "the next poller names it the same")
}

func TestPollSurvivesEverything(t *testing.T) {
	t.Parallel()
	b := newBench(t, polling)
	for _, fault := range []connectortest.Fault{
		{Kind: connectortest.Refused}, {Kind: connectortest.Cut}, connectortest.HTML(502), connectortest.HTML(200),
		{Kind: connectortest.RateLimited}, {Kind: connectortest.Lost},
		{Kind: connectortest.Answer, Status: 409, Type: "application/json", Body: `{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request"}`},
		{Kind: connectortest.Answer, Status: 200, Type: "application/json", Body: `{"ok":true,"result":[{"message":{}},5]}`},
	} {
		b.server.Break(fault, "getUpdates")
	}
	id := b.server.Say(telegramtest.Private(ada), ada, "yes")
	offsets, _ := b.poll(t, 0)
	until(t, offsets, id+1)
	require.Len(t, b.desk.Messages(), 1)
	require.Zero(t, b.server.Faults.Left())
	require.Contains(t, b.log.String(), "another program polls this bot")
	require.NotContains(t, b.log.String(), b.server.Token)
}

func TestPollPoison(t *testing.T) {
	t.Parallel()
	b := newBench(t, polling)
	b.server.PushJSON(100, []byte(`{"update_id":100,"message":{"text":5}}`), 1)
	b.server.PushJSON(101, []byte(`{"update_id":101,"edited_message":{}}`), 1)
	for range 5 {
		b.desk.Fail(errors.New("the desk refuses this one"))
	}
	b.server.Say(telegramtest.Private(ada), ada, "refused five times")
	last := b.server.Say(telegramtest.Private(ada), ada, "good")
	offsets, _ := b.poll(t, 0)
	until(t, offsets, last+1)
	got := b.desk.Messages()
	require.Len(t, got, 1)
	require.Equal(t, "good", got[0].Text)
}

func TestPollEndsOnAWrongToken(t *testing.T) {
	t.Parallel()
	b := newBench(t, polling, func(p *telegram.Params) { p.Token = "7000001:wrong-wrong-wrong" })
	b.Hasten()
	var classified *chat.Error
	require.ErrorAs(t, b.Poll(t.Context(), 0, nil), &classified)
	require.False(t, classified.Temporary)
}

func TestPollBeatsWhileNothingHappens(t *testing.T) {
	t.Parallel()
	b := newBench(t, polling)
	offsets, _ := b.poll(t, 77)
	for range 5 {
		require.EqualValues(t, 77, <-offsets)
	}
}

func TestPollDropsWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	asked := 0
	b := newBench(t, polling, func(p *telegram.Params) {
		p.RateLimit = func(string) bool { asked++; return asked != 2 }
	})
	b.desk.Fail(chat.ErrUnreachable, chat.ErrUnreachable)
	b.server.Say(telegramtest.Private(ada), ada, "one")
	b.server.Say(telegramtest.Private(ada), ada, "two")
	last := b.server.Say(telegramtest.Private(ada), ada, "three")
	offsets, stop := b.poll(t, 0)
	until(t, offsets, last+1)
	require.Error(t, stop())
	require.Equal(t, 3, asked, "a retry is no new message")
	require.Len(t, b.desk.Messages(), 2)
}

// Some servers do not hold getUpdates, and echo what they were sent in place of a message.
func TestSloppyServer(t *testing.T) {
	t.Parallel()
	var polls atomic.Int32
	sloppy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "getUpdates":
			polls.Add(1)
			fmt.Fprint(w, `{"ok":true,"result":[]}`)
		case "sendMessage":
			fmt.Fprint(w, `{"ok":true,"result":{"message_id":3,"message_thread_id":"42","text":5}}`)
		default:
			fmt.Fprint(w, `{"ok":true,"result":null}`)
		}
	}))
	t.Cleanup(sloppy.Close)
	b := newBench(t, polling, func(p *telegram.Params) { p.APIURL = sloppy.URL })
	receipt, err := b.Post(t.Context(), card("-100200:42"))
	require.NoError(t, err)
	require.Equal(t, "-100200/3", receipt.Ref)
	require.NoError(t, b.Edit(t.Context(), receipt, card("-100200:42")))

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, b.Poll(ctx, 0, nil), context.DeadlineExceeded)
	require.LessOrEqual(t, polls.Load(), int32(5), "it is not asked without a break")
}
