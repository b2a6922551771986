package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What comes next does not wait for what came before.
func TestArrivalsAreAnOpenLoop(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var due []time.Time
	all := make(chan struct{})
	arrivals(t.Context(), 100, 100*time.Millisecond, func(_ context.Context, _ int, at time.Time) {
		mu.Lock()
		due = append(due, at)
		if len(due) == 10 {
			close(all)
		}
		mu.Unlock()
		<-all // none ends before the last has begun
	})
	require.Len(t, due, 10)
	first, last := due[0], due[0]
	for _, at := range due {
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	require.Equal(t, 90*time.Millisecond, last.Sub(first))
}

func TestCount(t *testing.T) {
	t.Parallel()
	to := func(n int) string { return fmt.Sprintf("There is no tool \"bench%d\". Write /help", n) }
	for name, tt := range map[string]struct {
		replies []string
		waiting queue
		want    tally
	}{
		"all replied":      {[]string{to(1), "hello", to(2), to(30)}, queue{}, tally{Once: 3}},
		"two wait":         {[]string{to(1)}, queue{texts: []string{"/bench2 now", "/bench30 now"}}, tally{Once: 1, Waiting: 2}},
		"one has its turn": {[]string{to(1)}, queue{texts: []string{"/bench30 now"}, turn: true}, tally{Once: 1, Waiting: 2}},
		"one is nowhere":   {[]string{to(1)}, queue{texts: []string{"/bench30 now"}}, tally{Once: 1, Waiting: 1, Missing: 1}},
		"only one has it":  {nil, queue{turn: true}, tally{Waiting: 1, Missing: 2}},
		"replied twice":    {[]string{to(1), to(2), to(1), to(30)}, queue{}, tally{Once: 2, Repeated: 1}},
		"waits twice":      {[]string{to(1), to(2)}, queue{texts: []string{"/bench30 now", "/bench30 now"}}, tally{Once: 2, Repeated: 1}},
		"replied meanwhile": {
			[]string{to(1), to(2), to(30)}, queue{texts: []string{"/bench2 now", "/bench30 now"}}, tally{Once: 3},
		},
	} {
		require.Equal(t, tt.want, count([]int{1, 2, 30}, tt.replies, tt.waiting), name)
	}
}

func TestShows(t *testing.T) {
	t.Parallel()
	const open = `<article class="question open" id="q-1"><p>Delete bench/1.csv?</p></article>`
	const closed = `<article class="question closed" id="q-1"><p>Delete bench/1.csv?</p></article>`
	const said = `<article class="said"><p>delete bench/1.csv</p></article>`
	const reply = `<article class="reply"><p>Done: bench/1.csv</p></article>`
	for html, want := range map[string][2]bool{
		said + open:           {false, false},
		said + closed:         {true, false},
		said + closed + reply: {true, true},
		said + strings.ReplaceAll(closed+reply, "1.csv", "11.csv"): {false, false},
	} {
		decided, replied := shows(html, "bench/1.csv")
		require.Equal(t, want, [2]bool{decided, replied}, html)
	}
	require.Equal(t, "bench/17.csv", fileOf("⚠️ Delete the file at bench/17.csv on disk local? Reply 'Yes' to confirm."))
}

// A mail as the connector's is taken apart as it comes, and so is one of ours.
func TestMailsAreWeighed(t *testing.T) {
	t.Parallel()
	const size = 100_001
	var file bytes.Buffer
	lines := base64.NewEncoder(base64.StdEncoding, &wrapped{w: &file})
	_, err := io.Copy(lines, content(size))
	require.NoError(t, err)
	require.NoError(t, lines.Close())
	for line := range strings.Lines(file.String()) {
		require.LessOrEqual(t, len(line), 78)
	}
	m := &mailSide{taken: make(chan letter, 1)}
	visit := &drain{m}
	raw := "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n" +
		"--b\r\nContent-Disposition: attachment; filename=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n" + file.String() + "\r\n--b--\r\n"
	require.NoError(t, visit.Data(strings.NewReader(raw)))
	taken := <-m.taken
	require.Equal(t, int64(len(raw)), taken.bytes)
	require.Equal(t, "a.bin", taken.file.name)
	require.NoError(t, same(taken.file, size))
	require.Error(t, same(taken.file, size+1))
	require.Error(t, visit.Data(strings.NewReader(raw[:len(raw)/2])), "half a mail")
}

func TestStreamsAreCounted(t *testing.T) {
	t.Parallel()
	began := time.Date(2029, 1, 2, 3, 4, 5, 0, time.UTC)
	hears := func(events ...string) *stream {
		s := &stream{ended: make(chan struct{})}
		close(s.ended)
		for n, e := range events {
			kind, id, _ := strings.Cut(e, " ")
			at := began.Add(time.Duration(n+1) * 10 * time.Millisecond)
			s.events = append(s.events, received{at: at.Add(time.Millisecond), data: fmt.Appendf(nil, `{"kind":%q,"invocation":%q,"at":%q}`, kind, id, at.Format(time.RFC3339Nano))})
		}
		return s
	}
	st := &streams{}
	require.NoError(t, st.sum([]*stream{
		hears("asked A", "asked A", "edited A", "asked B", "closed B", "asked C"), // C is not ours
		hears("asked A", "lost ", "closed B"),
	}, map[string]time.Time{"A": began, "B": began}))
	require.Equal(t, 2, st.Missed, "the second has heard of no end of A and no begin of B")
	require.Equal(t, 1, st.Dropped)
	require.Equal(t, 3, st.Told.N)
	require.InDelta(t, 1, st.Told.P99, 0.01)
	require.InDelta(t, 41, st.Since.P99, 0.01)
}
