package transcript_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/transcript"
)

var start = time.Date(2029, 1, 1, 9, 0, 0, 0, time.UTC)

// clock moves on with each look.
func clock() func() time.Time {
	var mu sync.Mutex
	at := start
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}
}

func folder(t *testing.T, dir string) *blob.Bucket {
	t.Helper()
	bucket, err := fileblob.OpenBucket(dir, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	return bucket
}

func onEachKind(t *testing.T, test func(t *testing.T, bucket *blob.Bucket)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		bucket := memblob.OpenBucket(nil)
		t.Cleanup(func() { require.NoError(t, bucket.Close()) })
		test(t, bucket)
	})
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		test(t, folder(t, t.TempDir()))
	})
}

var thread = chat.Thread{Connector: chat.Telegram, Key: "-100:7"}

// message n came n minutes after the start.
func message(n int, text string) chat.Message {
	return chat.Message{
		UUID: fmt.Sprintf("uuid-%d", n), EventID: fmt.Sprint(n), Thread: thread, Text: text,
		ReceivedAt: start.Add(time.Duration(n) * time.Minute),
	}
}

func texts(history []agent.Exchange) []string {
	said := make([]string, 0, len(history))
	for _, e := range history {
		said = append(said, e.Message.Text)
	}
	return said
}

func TestRecordAndClose(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, bucket *blob.Bucket) {
		t.Helper()
		s := transcript.New(bucket, clock())
		ctx := t.Context()
		empty, err := s.History(ctx, message(1, "first"))
		require.NoError(t, err)
		require.Empty(t, empty)

		require.NoError(t, s.Record(ctx, message(1, "first")))
		results := []contract.ToolResult{{Call: contract.ToolCall{ID: "01J"}, Result: contract.Result{Status: "completed", Output: []byte(`{"path":"a"}`)}}}
		require.NoError(t, s.Close(ctx, message(1, "first"), results, "done"))
		require.NoError(t, s.Record(ctx, message(2, "second")))
		require.NoError(t, s.Record(ctx, message(2, "second")), "a retry")

		history, err := s.History(ctx, message(3, "third"))
		require.NoError(t, err)
		require.Equal(t, []agent.Exchange{
			{Message: message(1, "first"), Results: results, Reply: "done"},
			{Message: message(2, "second")},
		}, history)

		own, err := s.History(ctx, message(2, "second"))
		require.NoError(t, err)
		require.Equal(t, []string{"first"}, texts(own), "a message is not its own history")
		before, err := s.History(ctx, message(1, "first"))
		require.NoError(t, err)
		require.Empty(t, before, "nor is what came later")
	})
}

func TestOrderIsTheGateways(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, bucket *blob.Bucket) {
		t.Helper()
		s := transcript.New(bucket, clock())
		for _, n := range []int{10, 2, 100, 1} {
			m := message(n, fmt.Sprint(n))
			if n == 2 {
				m.ReceivedAt = m.ReceivedAt.In(time.FixedZone("there", 5*60*60)) // the same moment
			}
			require.NoError(t, s.Record(t.Context(), m))
		}
		history, err := s.History(t.Context(), message(1000, ""))
		require.NoError(t, err)
		require.Equal(t, []string{"1", "2", "10", "100"}, texts(history))
		newest, err := s.Messages(t.Context(), thread.Connector, thread.Key)
		require.NoError(t, err)
		require.Equal(t, []string{"uuid-100", "uuid-10", "uuid-2", "uuid-1"}, newest)
	})
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	s := transcript.New(folder(t, t.TempDir()), clock())
	for n := range 60 {
		require.NoError(t, s.Record(t.Context(), message(n, fmt.Sprint(n))))
	}
	history, err := s.History(t.Context(), message(60, ""))
	require.NoError(t, err)
	require.Len(t, history, 50)
	require.Equal(t, "10", history[0].Message.Text, "the newest are kept")
	all, err := s.Messages(t.Context(), thread.Connector, thread.Key)
	require.NoError(t, err)
	require.Len(t, all, 60, "files of all messages can be saved")
}

func TestAfresh(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, bucket *blob.Bucket) {
		t.Helper()
		s := transcript.New(bucket, clock())
		ctx := t.Context()
		require.NoError(t, s.Record(ctx, message(1, "old")))
		require.NoError(t, s.Afresh(ctx, thread))
		require.NoError(t, s.Close(ctx, message(2, " !NEW\n"), nil, "a new conversation"), "the command is no exchange")
		messages, err := s.Messages(ctx, thread.Connector, thread.Key)
		require.NoError(t, err)
		require.Empty(t, messages)
		require.NoError(t, s.Record(ctx, message(3, "new")))
		require.NoError(t, s.Afresh(ctx, chat.Thread{Connector: chat.Slack, Key: thread.Key}), "another conversation")
		history, err := s.History(ctx, message(4, ""))
		require.NoError(t, err)
		require.Equal(t, []string{"new"}, texts(history))

		another := transcript.New(bucket, clock()) // another engine
		history, err = another.History(ctx, message(4, ""))
		require.NoError(t, err)
		require.Equal(t, []string{"new"}, texts(history))
	})
}

func TestOddKeysNeverMeet(t *testing.T) {
	t.Parallel()
	keys := []string{
		"", ".", "..", "../x", "a/b", "a", "A", "a ", "ada@example.test", "C01:1700000000.000100", "-100:7", "first", "current",
		"in\u200bvisible", "a\x00b", `a\b`, "%2e%2e", strings.Repeat("k", 5000),
	}
	onEachKind(t, func(t *testing.T, bucket *blob.Bucket) {
		t.Helper()
		s := transcript.New(bucket, clock())
		for n, key := range keys {
			m := message(n, key)
			m.Thread.Key = key
			require.NoError(t, s.Record(t.Context(), m))
		}
		for n, key := range keys {
			have, err := s.Messages(t.Context(), thread.Connector, key)
			require.NoError(t, err)
			require.Equal(t, []string{fmt.Sprintf("uuid-%d", n)}, have, "%q", key)
		}
	})
}

func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stores := []*transcript.Store{transcript.New(folder(t, dir), nil), transcript.New(folder(t, dir), nil)}
	const writers = 20
	var wg sync.WaitGroup
	faults := make(chan error, 3*writers)
	for n := range writers {
		wg.Go(func() {
			m := message(n, strings.Repeat("x", 1<<12))
			s := stores[n%len(stores)]
			faults <- s.Record(t.Context(), m)
			faults <- s.Close(t.Context(), m, nil, "done")
			_, err := s.History(t.Context(), message(writers, "")) // among half-written ones
			faults <- err
		})
	}
	wg.Wait()
	close(faults)
	for err := range faults {
		require.NoError(t, err)
	}
	history, err := stores[0].History(t.Context(), message(writers, ""))
	require.NoError(t, err)
	require.Len(t, history, writers)
	for _, e := range history {
		require.Equal(t, "done", e.Reply)
	}
}

// A file that a crash left half-written must not end the conversation.
func TestACrashLeavesAHalfWrittenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := transcript.New(folder(t, dir), nil)
	require.NoError(t, s.Record(t.Context(), message(1, "whole")))
	written, err := filepath.Glob(filepath.Join(dir, "transcripts/telegram/*/first/*.json"))
	require.NoError(t, err)
	require.Len(t, written, 1)
	require.NoError(t, os.WriteFile(written[0]+".1a2b.tmp", []byte(`{"mess`), 0o600))
	history, err := s.History(t.Context(), message(2, ""))
	require.NoError(t, err)
	require.Equal(t, []string{"whole"}, texts(history))
	messages, err := s.Messages(t.Context(), thread.Connector, thread.Key)
	require.NoError(t, err)
	require.Equal(t, []string{"uuid-1"}, messages)
}

func TestADiskThatFails(t *testing.T) {
	t.Parallel()
	bucket := memblob.OpenBucket(nil)
	s := transcript.New(bucket, nil)
	require.NoError(t, bucket.Close())
	require.Error(t, s.Record(t.Context(), message(1, "")))
	require.Error(t, s.Afresh(t.Context(), thread))
	_, err := s.History(t.Context(), message(1, ""))
	require.ErrorContains(t, err, thread.String())
	_, err = s.Messages(t.Context(), thread.Connector, thread.Key)
	require.Error(t, err)
}

func ExampleStore() {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	s := transcript.New(bucket, time.Now)
	thread := chat.Thread{Connector: chat.Web, Key: "session"}
	first := chat.Message{UUID: "1", Thread: thread, Text: "hello", ReceivedAt: time.Unix(1, 0)}
	if err := s.Close(context.Background(), first, nil, "good morning"); err != nil {
		panic(err)
	}
	history, err := s.History(context.Background(), chat.Message{UUID: "2", Thread: thread, ReceivedAt: time.Unix(2, 0)})
	if err != nil {
		panic(err)
	}
	fmt.Println(history[0].Message.Text, "–", history[0].Reply)
	// Output: hello – good morning
}
