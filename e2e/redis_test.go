package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// shared is a World with a Redis, whose conversations the cases divide between them.
type shared struct {
	*harness.World
	telegram *telegram
}

const redisPolicy = `{
	file_manager.append: {confirm: true},
	file_manager.mkdir: {confirm: true, timeout: 2s},
	file_manager.move: {confirm: true, approvers: {who: list, people: [ada]}},
}`

func newShared(t *testing.T) *shared {
	t.Helper()
	s := &shared{telegram: newTelegram(t)}
	s.World = s.telegram.world(t, harness.Setup{Redis: harness.NewRedis(t), Env: map[string]string{"COUNTERSIGN_POLICY": redisPolicy}})
	return s
}

// ask puts a question about a line for a file of the chat's own into a group, and returns its id
// once it is out.
func (s *shared) ask(t *testing.T, chat int64) string {
	t.Helper()
	id := s.API.Invoke(t, harness.File("append", path(chat), "content", "line;").In("telegram", fmt.Sprint(chat)))
	s.API.Question(t, id)
	return id
}

func path(chat int64) string     { return fmt.Sprintf("%d.txt", -chat) }
func awaiting(chat int64) string { return fmt.Sprintf("awaiting_confirm:telegram:%d", chat) }
func confirm(chat int64) string  { return fmt.Sprintf("confirm:telegram:%d", chat) }
func thread(chat int64) string   { return fmt.Sprintf("telegram:%d", chat) }

func (s *shared) push(t *testing.T, chat int64, text string) {
	t.Helper()
	require.NoError(t, s.Redis.RPush(t.Context(), confirm(chat), text).Err())
}

func TestRedisAnotherProgramAnswers(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for _, c := range []struct {
		name, pushed, status string
		chat                 int64
	}{
		{"yes", "Yes", "completed", -401},
		{"yes on the first line", "  \u200bYES \r\nreally", "completed", -402},
		{"no", "no", "denied", -403},
		{"anything else", "Yes.", "denied", -404},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// What was pushed before the question is stale: it answers nothing.
			s.push(t, c.chat, "yes")
			id := s.ask(t, c.chat)
			ttl := s.Redis.Awaiting(t, thread(c.chat), id)
			require.InDelta(t, 120, ttl.Seconds(), 5)
			require.Zero(t, s.Redis.Exists(t.Context(), confirm(c.chat)).Val())
			require.Equal(t, "waiting", s.API.State(t, id).Status)
			s.push(t, c.chat, c.pushed)
			state := s.API.Result(t, id)
			require.Equal(t, c.status, state.Status, "%+v", state)
			require.Equal(t, [2]string{"redis", ""}, [2]string{state.Approval.Decision.Via, state.Approval.Decision.By})
			require.Equal(t, c.status == "completed", s.Exists(path(c.chat)))
			s.Redis.Gone(t, thread(c.chat))
			edited := s.telegram.await(t, c.chat, state.Approval.Prompt+"\n\n")
			require.Contains(t, edited.Text, "by another program at ")
		})
	}

	t.Run("a key of another type is ignored", func(t *testing.T) {
		t.Parallel()
		const chat = -405
		id := s.ask(t, chat)
		require.NoError(t, s.Redis.Set(t.Context(), confirm(chat), "yes", 0).Err())
		require.Equal(t, "waiting", s.API.State(t, id).Status)
		require.NoError(t, s.Redis.Del(t.Context(), confirm(chat)).Err())
		s.push(t, chat, "yes")
		require.Equal(t, "completed", s.API.Result(t, id).Status)
		s.Redis.Gone(t, thread(chat))
	})

	t.Run("where the policy names people it does not count", func(t *testing.T) {
		t.Parallel()
		const chat = -406
		s.Write(t, "named.txt", "x")
		id := s.API.Invoke(t, harness.File("move", "named.txt", "destination", "moved.txt").In("telegram", fmt.Sprint(chat)))
		s.API.Question(t, id)
		s.Redis.Awaiting(t, thread(chat), id)
		s.push(t, chat, "yes")
		s.push(t, chat, "no")
		harness.Eventually(t, "both are taken from the list", func() bool {
			return s.Redis.Exists(t.Context(), confirm(chat)).Val() == 0
		})
		require.Equal(t, "pending", s.API.Question(t, id).Status)
		s.telegram.Say(group(chat), bobThere, "yes")
		s.telegram.await(t, chat, "There is no question open here")
		require.Equal(t, "pending", s.API.Question(t, id).Status)
		s.telegram.Say(group(chat), adaThere, "yes")
		require.Equal(t, "completed", s.API.Result(t, id).Status)
		s.Redis.Gone(t, thread(chat))
	})
}

func TestRedisAnotherProgramIsAnswered(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	const chat = -501
	say := func(update int, text string, options ...telegramtest.Option) {
		t.Helper()
		message := s.telegram.Compose(group(chat), adaThere, text, options...)
		for range 2 { // Telegram sends it again: one push
			status, _ := hook(t, s.World, secret, map[string]any{"update_id": 700000 + update, "message": message})
			require.Equal(t, http.StatusOK, status)
		}
	}
	document := telegramtest.With("document", map[string]any{"file_id": s.telegram.Upload("a.csv", []byte("x")), "file_name": "a.csv"})
	require.NoError(t, s.Redis.Set(t.Context(), awaiting(chat), "laravel-job-42", time.Minute).Err())
	say(1, "  Yes, please\n")
	say(2, "@countersign_test_bot yes")
	say(3, "", document, telegramtest.With("caption", "here it is"))
	say(4, "", document) // consumed, and not pushed
	say(5, "/file_manager write disk=local path=never.txt content=x")
	say(6, "!new")
	want := []string{"  Yes, please\n", "@countersign_test_bot yes", "here it is", "/file_manager write disk=local path=never.txt content=x"}
	harness.Until(t, "the texts are pushed", func() ([]string, bool) {
		got := s.Redis.LRange(t.Context(), confirm(chat), 0, -1).Val()
		return got, len(got) > len(want)
	})
	require.Equal(t, append(want, "!new"), s.Redis.LRange(t.Context(), confirm(chat), 0, -1).Val(), "as received, in order, once each")
	require.Equal(t, "laravel-job-42", s.Redis.Get(t.Context(), awaiting(chat)).Val())
	// The other program has its answer. From now on messages are ours again.
	require.NoError(t, s.Redis.Del(t.Context(), awaiting(chat), confirm(chat)).Err())
	say(7, "/file_manager write disk=local path=now.txt content=x")
	s.telegram.await(t, chat, "✅ Done: file_manager write")
	// A redelivery of what was given away is not pushed, nor processed here, afterwards either.
	say(5, "/file_manager write disk=local path=never.txt content=x")
	say(8, "/file_manager exists disk=local path=never.txt")
	s.telegram.await(t, chat, "✅ Done: file_manager exists")
	require.False(t, s.Exists("never.txt"))
	require.Zero(t, s.Redis.Exists(t.Context(), confirm(chat)).Val())
	require.Len(t, s.telegram.Sent(chat), 2)
	// A question of ours takes the place of a program that went away without tidying up.
	require.NoError(t, s.Redis.Set(t.Context(), awaiting(chat), "laravel-job-43", time.Minute).Err())
	id := s.ask(t, chat)
	s.Redis.Awaiting(t, thread(chat), id)
	say(9, "yes")
	require.Equal(t, "completed", s.API.Result(t, id).Status)
	s.Redis.Gone(t, thread(chat))
}

// However a question ends, nothing of it is left.
func TestRedisNothingIsLeft(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for _, c := range []struct {
		name   string
		chat   int64
		end    func(t *testing.T, chat int64, id string)
		reason string
	}{
		{"yes", -601, func(_ *testing.T, chat int64, _ string) { s.telegram.Say(group(chat), adaThere, "yes") }, ""},
		{"no", -602, func(_ *testing.T, chat int64, _ string) { s.telegram.Say(group(chat), adaThere, "no") }, "denied"},
		{"button", -603, func(t *testing.T, chat int64, _ string) {
			_, _, err := s.telegram.Press(adaThere, s.telegram.await(t, chat, "⚠️ Add"), "No")
			require.NoError(t, err)
		}, "denied"},
		{"decision", -604, func(t *testing.T, _ int64, id string) {
			require.Equal(t, http.StatusOK, s.API.Decide(t, id, harness.Say{Decision: "allow"}).Status)
		}, ""},
		{"cancelled in Temporal", -605, func(t *testing.T, _ int64, id string) {
			require.NoError(t, s.Client.CancelWorkflow(t.Context(), "invocation/"+id, ""))
		}, "withdrawn"},
		{"!new", -606, func(_ *testing.T, chat int64, _ string) { s.telegram.Say(group(chat), adaThere, "!NEW ") }, "withdrawn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			id := s.ask(t, c.chat)
			s.Redis.Awaiting(t, thread(c.chat), id)
			c.end(t, c.chat, id)
			state := s.API.Result(t, id)
			require.Equal(t, c.reason, state.Reason, "%+v", state)
			require.Equal(t, c.reason == "", s.Exists(path(c.chat)))
			s.Redis.Gone(t, thread(c.chat))
		})
	}

	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		const chat = -607
		id := s.API.Invoke(t, harness.File("mkdir", "folder").In("telegram", fmt.Sprint(chat)))
		s.API.Question(t, id)
		require.LessOrEqual(t, s.Redis.Awaiting(t, thread(chat), id), 2*time.Second)
		state := s.API.Result(t, id)
		require.Equal(t, [2]string{"denied", "timeout"}, [2]string{state.Status, state.Reason})
		s.Redis.Gone(t, thread(chat))
		require.False(t, s.Exists("folder"))
	})

	t.Run("supersession", func(t *testing.T) {
		t.Parallel()
		const chat = -608
		first := s.ask(t, chat)
		s.Redis.Awaiting(t, thread(chat), first)
		second := s.ask(t, chat)
		state := s.API.Result(t, first)
		require.Equal(t, [3]string{"denied", "PERMISSION_DENIED", "superseded"}, [3]string{state.Status, state.Code, state.Reason})
		s.telegram.await(t, chat, state.Approval.Prompt+"\n\n↪️ Replaced by a newer question.")
		s.Redis.Awaiting(t, thread(chat), second)
		s.push(t, chat, "yes")
		require.Equal(t, "completed", s.API.Result(t, second).Status)
		require.Equal(t, "line;", s.Read(t, path(chat)))
		s.Redis.Gone(t, thread(chat))
	})
}

// All of it works without Redis, with a warning.
func TestRedisIsAway(t *testing.T) {
	t.Parallel()
	telegram := newTelegram(t)
	w := telegram.world(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_POLICY": redisPolicy, "REDIS_URL": harness.DeadRedis(t)}})
	s := &shared{World: w, telegram: telegram}
	for chat, answer := range map[int64]string{-701: "yes", -702: "no"} {
		id := s.ask(t, chat)
		telegram.Say(group(chat), adaThere, answer)
		state := s.API.Result(t, id)
		require.Equal(t, answer == "yes", state.Status == "completed", "%+v", state)
		require.Equal(t, answer == "yes", s.Exists(path(chat)))
	}
	id := s.API.Invoke(t, harness.File("mkdir", "folder").In("telegram", "-703"))
	s.API.Question(t, id)
	require.Equal(t, "timeout", s.API.Result(t, id).Reason)
	require.False(t, s.Exists("folder"))
	require.Contains(t, w.Engine().Log(), "redis is away")
	require.True(t, w.Engine().Running())
}

// A question that was asked without Redis is mirrored once that is there, with the time left.
func TestRedisReturns(t *testing.T) {
	t.Parallel()
	redis := harness.NewRedis(t)
	redis.Kill()
	telegram := newTelegram(t)
	settings := map[string]string{"COUNTERSIGN_POLICY": redisPolicy, "COUNTERSIGN_REDIS_PREFIX": "laravel_database_"}
	s := &shared{telegram: telegram, World: telegram.world(t, harness.Setup{Redis: redis, Env: maps.Clone(settings)})}
	const chat = -801
	id := s.ask(t, chat)
	question := s.API.Question(t, id)
	s.Engine().AwaitLog(t, "redis is away")
	redis.Start(t)
	back := time.Now()
	key := "laravel_database_" + awaiting(chat)
	harness.Eventually(t, "the mirror is rebuilt", func() bool { return redis.Get(t.Context(), key).Val() == id })
	require.Less(t, time.Since(back), 10*time.Second)
	require.InDelta(t, time.Until(*question.ExpiresAt).Seconds(), redis.PTTL(t.Context(), key).Val().Seconds(), 2)
	require.NoError(t, redis.RPush(t.Context(), "laravel_database_"+confirm(chat), "yes").Err())
	require.Equal(t, "completed", s.API.Result(t, id).Status)
	harness.Eventually(t, "the keys are deleted", func() bool {
		return redis.Exists(t.Context(), key, "laravel_database_"+confirm(chat)).Val() == 0
	})
}
