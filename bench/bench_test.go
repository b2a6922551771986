package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

// Every measurement once, as small as it can be, on real servers. Needs `make build`.
func TestSmoke(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "numbers.json")
	s := settings{
		what: known(), bin: filepath.Join("..", "bin"), json: out, calls: 2, inflight: []int{2}, rounds: 1, batch: 4,
		pending: 5, traced: 2, repeats: 1, sampled: 2, budget: 20 * time.Second,
		rate: 10, during: time.Second, size: 1e6, streams: 3, asking: 3,
	}
	var printed strings.Builder
	require.NoError(t, run(t.Context(), s, &printed, io.Discard))

	content, err := os.ReadFile(out)
	require.NoError(t, err)
	var r report
	require.NoError(t, json.Unmarshal(content, &r))
	for _, row := range append(r.Latency.Rows, append(r.Latency.Stages, r.Latency.Minimal...)...) {
		require.Positive(t, row.N, row.Name)
		require.GreaterOrEqual(t, row.P99, row.P50, row.Name)
	}
	for _, ratio := range r.Latency.Ratios {
		require.Positive(t, ratio.Ratio, ratio.Name)
	}
	require.Len(t, r.Throughput, 1)
	require.Positive(t, r.Throughput[0].Ratio)
	require.Equal(t, 22, r.Histories[0].Counted.Events, "the minimal workflow is what it was when the aim was set")
	require.Equal(t, 4, r.Histories[0].Counted.Tasks)
	for _, h := range r.Histories[1:] {
		require.Greater(t, h.Counted.Events, h.Invocation.Events, h.Name)
		require.Positive(t, h.Inbox.Events, h.Name)
	}
	require.Equal(t, 5, r.Memory.Pending)
	require.Positive(t, r.Memory.InboxBytes)
	require.Equal(t, tally{Once: talks + 10}, r.Webhooks.Effects)
	require.Equal(t, 10, r.Webhooks.OK)
	for _, row := range append(r.Page.Seen, r.Page.Streams.Told, r.Page.Streams.Since) {
		require.Positive(t, row.N, row.Name)
	}
	require.Zero(t, r.Page.Streams.Missed)
	require.Positive(t, r.Page.Streams.N)
	require.Len(t, r.Large.Legs, 5, "each has compared every byte")
	for _, title := range []string{
		"LATENCY", "RATIOS", "WHERE THE TIME GOES", "THROUGHPUT", "HISTORIES", "MEMORY", "WEBHOOKS", "PAGE", "EVENT STREAMS", "LARGE",
	} {
		require.Contains(t, printed.String(), title)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args     string
		what     []string
		inflight []int
		wrong    bool
	}{
		{args: "", what: measurements, inflight: []int{16, 64}},
		{args: "-quick memory", what: []string{"memory"}, inflight: []int{16}},
		{args: "-quick -inflight 8,4 latency histories", what: []string{"latency", "histories"}, inflight: []int{8, 4}},
		{args: "large", what: []string{"large"}, inflight: []int{16, 64}},
		{args: "-rate 0", wrong: true},
		{args: "-size 0 large", wrong: true},
		{args: "-inflight 0", wrong: true},
		{args: "-inflight many", wrong: true},
		{args: "speed", wrong: true},
		{args: "-fast", wrong: true},
	} {
		s, err := parse(strings.Fields(tt.args), io.Discard)
		if tt.wrong {
			require.Error(t, err, tt.args)
			continue
		}
		require.NoError(t, err, tt.args)
		require.Equal(t, tt.what, s.what)
		require.Equal(t, tt.inflight, s.inflight)
	}
}

func TestNearestRank(t *testing.T) {
	t.Parallel()
	var s series
	for n := 200; n > 0; n-- {
		s = append(s, time.Duration(n)*time.Millisecond)
	}
	require.Equal(t, 100*time.Millisecond, s.at(0.5))
	require.Equal(t, 198*time.Millisecond, s.at(0.99))
	require.Equal(t, time.Millisecond, s[199:].at(0.99))
	require.Zero(t, series(nil).at(0.5))
	require.InDelta(t, 1.5, median([]float64{9, 1.5, 1}), 0)
	require.InDelta(t, 0, over(1, 0), 0)
}

// Neighbours are compared with each other, so that a slow spell weighs on both.
func TestCompare(t *testing.T) {
	t.Parallel()
	var s samples
	began := time.Now()
	for n := range 9 {
		took := time.Duration(n+1) * time.Millisecond
		s.ours = append(s.ours, timing{answered: began, effect: began.Add(2 * took)})
		s.minimal = append(s.minimal, timing{answered: began, acknowledged: began.Add(took)})
	}
	require.Equal(t, ratio{Name: "x", Ratio: 2, Pairs: 2, Aim: 1.5}, compare("x", s, toEffect, toAcknowledged, 1.5))
}

// A trail takes what follows the answer, in order, and nothing of what came before it.
func TestTrail(t *testing.T) {
	t.Parallel()
	began := time.Now().UTC()
	at := func(n int) time.Time { return began.Add(time.Duration(n) * time.Millisecond) }
	history := func(kinds ...enumspb.EventType) (events []*historypb.HistoryEvent) {
		for n, kind := range kinds {
			events = append(events, &historypb.HistoryEvent{EventType: kind, EventTime: timestamppb.New(at(n))})
		}
		return events
	}
	const (
		signaled  = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
		task      = enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED
		scheduled = enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
		started   = enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED
	)
	whole := &trail{events: history(signaled, task, signaled, task, scheduled, started)}
	require.True(t, whole.answered(at(1)))
	require.Equal(t, []time.Time{at(2), at(3), at(4), at(5)}, whole.times)
	require.False(t, (&trail{events: history(signaled, task, scheduled)}).answered(at(0)), "it never started")
	require.False(t, (&trail{events: history(scheduled, started, signaled, task)}).answered(at(0)), "the run came before the answer")
}

// The smoke test shows that this is how the connector writes it.
func TestDecides(t *testing.T) {
	t.Parallel()
	require.Equal(t, "01J", decides(`{"inline_keyboard":[[{"text":"Yes","callback_data":"y:01J"},{"text":"No","callback_data":"n:01J"}]]}`))
	require.Empty(t, decides(`{"inline_keyboard":[]}`))
	require.Empty(t, decides(`{"inline_keyboard":[[{"text":"No","callback_data":"n:01J"}]]}`))
}

func TestTalkIsTheConversationOfAChat(t *testing.T) {
	t.Parallel()
	require.Equal(t, "conversation/telegram/-2", talk(-2))
	require.Equal(t, "conversation/"+chat.Telegram+"/1001", talk(telegramtest.Private(ada).ID))
}
