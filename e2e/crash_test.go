package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// askToAppend makes an operation ask whose second run would show.
const askToAppend = `{file_manager.append: {confirm: true}}`

const (
	appendLine   = "/file_manager append disk=vault path=log.txt content=line;"
	appendPrompt = "⚠️ Add to the file at log.txt on disk vault? Reply 'Yes' to confirm."
)

// victim is a process that is killed, and how it comes back.
type victim struct {
	name    string
	split   bool
	own     bool // a Temporal of its own
	kill    func(t *testing.T, w *harness.World)
	restart func(t *testing.T, w *harness.World)
}

var victims = []victim{
	{
		name:    "worker",
		kill:    func(_ *testing.T, w *harness.World) { w.KillEngine() },
		restart: func(t *testing.T, w *harness.World) { w.StartEngine(t) },
	},
	{
		name: "engine", split: true,
		kill:    func(_ *testing.T, w *harness.World) { w.KillEngine() },
		restart: func(t *testing.T, w *harness.World) { w.StartEngine(t) },
	},
	{
		name: "gateway", split: true,
		kill:    func(_ *testing.T, w *harness.World) { w.KillGateway() },
		restart: func(t *testing.T, w *harness.World) { w.StartGateway(t) },
	},
	{
		name: "Temporal", own: true,
		kill:    func(t *testing.T, w *harness.World) { w.Temporal.Kill(t) },
		restart: func(t *testing.T, w *harness.World) { w.Temporal.Restart(t) },
	},
	{
		name:    "Redis",
		kill:    func(_ *testing.T, w *harness.World) { w.Redis.Kill() },
		restart: func(t *testing.T, w *harness.World) { w.Redis.Start(t) },
	},
}

// scene is a question that is out, in a private chat on Telegram.
type scene struct {
	*harness.World
	telegram *telegram
	vault    *harness.S3
	question contract.Approval
}

const sceneThread = "telegram:1001"

func (v victim) scene(t *testing.T) *scene {
	t.Helper()
	s := &scene{telegram: newTelegram(t), vault: harness.NewS3(t)}
	settings := s.vault.Settings()
	maps.Copy(settings, map[string]string{"COUNTERSIGN_POLICY": askToAppend})
	setup := harness.Setup{Redis: harness.NewRedis(t), Split: v.split, Env: settings}
	if v.own {
		setup.Temporal = harness.NewTemporal(t)
	}
	s.World = s.telegram.world(t, setup)
	s.telegram.Say(private(adaThere), adaThere, appendLine)
	s.telegram.await(t, ada, appendPrompt)
	s.question = s.theQuestion(t)
	ttl := s.Redis.Awaiting(t, sceneThread, s.question.ID)
	require.InDelta(t, 120, ttl.Seconds(), 5)
	return s
}

// theQuestion waits until exactly one question is pending, and returns it.
func (s *scene) theQuestion(t *testing.T) contract.Approval {
	t.Helper()
	s.Ready(t)
	pending := harness.Until(t, "one pending question", func() ([]contract.Approval, bool) {
		pending := s.API.Pending(t)
		return pending, len(pending) == 1 && pending[0].ExpiresAt != nil
	})
	return pending[0]
}

// done checks that it was run once, asked once, and that everybody was told once.
func (s *scene) done(t *testing.T) {
	t.Helper()
	state := s.API.Result(t, s.question.ID)
	require.Equal(t, "completed", state.Status, "%+v", state)
	require.Equal(t, s.question.ExpiresAt, state.Approval.ExpiresAt)
	s.telegram.await(t, ada, "✅ Done: file_manager append")
	s.telegram.await(t, ada, appendPrompt+"\n\n✅ Approved by ada at ")
	s.Redis.Gone(t, sceneThread)
	require.Equal(t, "line;", s.ReadVault(t, "log.txt"), "one run")
	require.Len(t, s.Audit(t, s.question.ID), 1)
	require.Equal(t, "approved", s.Audit(t, s.question.ID)[0].Kind)
	require.Equal(t, 1, s.telegram.prompts(ada, appendPrompt), "one prompt")
	require.Len(t, s.telegram.Sent(ada), 2, "one prompt and one reply")
	require.Empty(t, s.API.Pending(t))
	require.True(t, s.Engine().Running())
}

func TestKilledWhileTheQuestionIsPending(t *testing.T) {
	t.Parallel()
	for _, v := range victims {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			s := v.scene(t)
			v.kill(t, s.World)
			v.restart(t, s.World)
			again := s.theQuestion(t)
			require.Equal(t, s.question, again, "the same question with the same deadline")
			ttl := s.Redis.Awaiting(t, sceneThread, s.question.ID)
			left := time.Until(*s.question.ExpiresAt)
			require.InDelta(t, left.Seconds(), ttl.Seconds(), 3, "the time left, not a new one")
			s.telegram.Say(private(adaThere), adaThere, "YES")
			s.done(t)
		})
	}
}

// Killed after the answer has been taken, while the run still looks whether it is what was approved.
func TestKilledBetweenAnswerAndRun(t *testing.T) {
	t.Parallel()
	for _, v := range victims {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			s := v.scene(t)
			hold := s.vault.Hold()
			answer := s.API.Decide(t, s.question.ID, harness.Say{Decision: "allow"})
			require.Equal(t, http.StatusOK, answer.Status, string(answer.Body))
			hold.Await(t)
			v.kill(t, s.World)
			s.vault.Release(hold)
			v.restart(t, s.World)
			s.done(t)
		})
	}
}

// Answered while no engine runs: the gateway keeps the answer with its time.
func TestAnsweredWhileTheEngineIsDown(t *testing.T) {
	t.Parallel()
	s := victim{split: true}.scene(t)
	s.KillEngine()
	answer := s.API.Decide(t, s.question.ID, harness.Say{Decision: "allow", DecisionID: "1"})
	require.Equal(t, http.StatusAccepted, answer.Status, string(answer.Body))
	require.Less(t, answer.Took, 5*time.Second)
	s.StartEngine(t)
	s.done(t)
	answer = s.API.Decide(t, s.question.ID, harness.Say{Decision: "allow", DecisionID: "1"})
	require.Equal(t, http.StatusOK, answer.Status, "the same decision again: %s", answer.Body)
}

// Killed the moment a decision has been taken, wherever the runs are by then: none is lost, none
// is done twice, and if nobody can know, then it is said so.
func TestKilledRightAfterTheDecision(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Split: true, Env: map[string]string{"COUNTERSIGN_POLICY": askToAppend}})
	const questions = 6
	ids := map[string]string{}
	for n := range questions {
		path := fmt.Sprintf("%d.txt", n)
		ids[path] = w.API.Invoke(t, harness.File("append", path, "content", "line;").In("web", path))
	}
	for _, id := range ids {
		w.API.Question(t, id)
	}
	answers := make(chan harness.Answer, questions)
	for _, id := range ids {
		go func() { answers <- w.API.Insist(t, id, harness.Say{Decision: "allow", DecisionID: "1"}) }()
	}
	first := <-answers
	w.KillEngine()
	require.Equal(t, http.StatusOK, first.Status, string(first.Body))
	w.StartEngine(t)
	for range questions - 1 {
		answer := <-answers
		require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, answer.Status, string(answer.Body))
	}
	for path, id := range ids {
		state := w.API.Result(t, id)
		switch state.Status {
		case "completed":
			require.Equal(t, "line;", w.Read(t, path))
			require.Len(t, w.Audit(t, id), 1)
		case "unknown":
			require.Equal(t, "OUTCOME_UNKNOWN", state.Code)
			require.Contains(t, []string{"", "line;"}, w.Read(t, path))
		default:
			require.Fail(t, "neither done nor unknown", "%+v", state)
		}
	}
}

// A run whose worker dies in the middle is settled by the tool's check, or its outcome is unknown.
func TestKilledWhileItRuns(t *testing.T) {
	t.Parallel()
	remove := harness.Vault("delete", "file.txt")
	add := harness.Vault("append", "file.txt", "content", " and more")
	for name, c := range map[string]struct {
		call   harness.Call
		method string
		end    func(s *harness.S3, h *harness.Hold) // of what the dead worker had sent
		status string
		left   string
		tries  int
	}{
		"the file is still there: run again":  {remove, http.MethodDelete, (*harness.S3).Drop, "completed", "", 2},
		"the file is gone: not run again":     {remove, http.MethodDelete, (*harness.S3).Release, "completed", "", 1},
		"nobody can tell, and it was not run": {add, http.MethodPut, (*harness.S3).Drop, "unknown", "text", 1},
		"nobody can tell, and it was run":     {add, http.MethodPut, (*harness.S3).Release, "unknown", "text and more", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vault := harness.NewS3(t)
			settings := vault.Settings()
			maps.Copy(settings, map[string]string{"COUNTERSIGN_POLICY": askToAppend})
			w := harness.New(t, harness.Setup{Split: true, Env: settings})
			made := w.API.Result(t, w.API.Invoke(t, harness.Vault("write", "file.txt", "content", "text")))
			require.Equal(t, "completed", made.Status, "%+v", made)
			id := w.API.Invoke(t, c.call.In("web", "run"))
			w.API.Question(t, id)
			before := vault.Seen(c.method)
			hold := vault.Hold(c.method)
			require.Equal(t, http.StatusOK, w.API.Decide(t, id, harness.Say{Decision: "allow"}).Status)
			hold.Await(t)
			w.KillEngine()
			c.end(vault, hold)
			if c.tries > 1 {
				hold = vault.Hold(c.method)
			}
			w.StartEngine(t)
			if c.tries > 1 {
				hold.Await(t)
				require.Equal(t, "running", w.API.State(t, id).Status, "the first try is not the end")
				vault.Release(hold)
			}
			state := w.API.Result(t, id)
			require.Equal(t, c.status, state.Status, "%+v", state)
			require.Equal(t, c.left, w.ReadVault(t, "file.txt"))
			require.Equal(t, c.tries, vault.Seen(c.method)-before)
		})
	}
}
