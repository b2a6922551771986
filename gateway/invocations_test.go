package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

func TestStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	answer := b.do(RoleAgent, http.MethodPost, "/api/invocations", `{"tool":"file_manager","operation":"delete","parameters":{"a":1, "a":2}}`)
	require.Equal(t, 202, answer.status)
	id := answer.body["id"].(string)
	_, err := ulid.ParseStrict(id)
	require.NoError(t, err)
	require.Equal(t, "invocation/"+id, answer.body["workflow_id"])
	require.Equal(t, "/api/invocations/"+id, answer.header.Get("Location"))
	started := b.engine.started[0]
	require.Equal(t, chat.API, started.Thread.Connector)
	require.NotEmpty(t, started.Thread.Key)
	require.Equal(t, "robot", started.Requester.Name)
	require.Equal(t, `{"a":1, "a":2}`, string(started.Parameters), "duplicates are for the invocation to refuse, so they must reach it")

	answer = b.do(RoleOwner, http.MethodPost, "/api/invocations",
		`{"id":"order 7/a%2F?ü","tool":"t","operation":"o","connector":"web","thread_key":"demo","requester":"telegram:1001"}`)
	require.Equal(t, 202, answer.status)
	require.Equal(t, contract.Invocation{
		ID: "order 7/a%2F?ü", Tool: "t", Operation: "o", Parameters: []byte("{}"),
		Thread: chat.Thread{Connector: "web", Key: "demo"}, Requester: chat.Person{ID: "telegram:1001", Name: "ada"},
	}, b.engine.started[1])

	b.engine.states["order 7/a%2F?ü"] = contract.State{Result: contract.Result{ID: "order 7/a%2F?ü", Status: "waiting"}}
	require.Equal(t, "waiting", b.do(RoleOwner, http.MethodGet, answer.header.Get("Location"), "").body["status"])
}

func TestIDsInPaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, id := range []string{"a", "a/b", "a%2Fb", "a b", "..", ".", "a?b#c", "ü/✓", "a//b/", "%", "a+b", "a;b"} {
		b.engine.states = map[string]contract.State{id: {Result: contract.Result{ID: id, Status: "running"}}}
		b.engine.asked = nil
		path := "/api/invocations/" + escape(id)
		answer := b.do(RoleOwner, http.MethodGet, path, "")
		require.Equal(t, 200, answer.status, "%q at %s", id, path)
		require.Equal(t, id, answer.body["id"])
		require.Equal(t, []string{id}, b.engine.asked)
	}
}

// escape is url.PathEscape that also hides dots, which clients would resolve.
func escape(id string) string {
	if id == "." || id == ".." {
		return map[string]string{".": "%2E", "..": "%2E%2E"}[id]
	}
	return url.PathEscape(id)
}

func TestBadInvocations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, status := range map[string]int{
		``:                  422,
		`{"tool":"t"}`:      422,
		`{"operation":"o"}`: 422,
		`{"tool":"t","operation":"o","paramters":{}}`:          422,
		`{"tool":"t","operation":"o","connector":"x"}`:         422,
		`{"tool":"t","operation":"o","requester":"eve"}`:       422,
		`{"tool":"t","operation":"o","requester":"telegram:"}`: 422,
		`{"tool":"t","operation":"o","requester":"irc:7"}`:     422,
		`{"tool":"t","operation":"o","id":"a\nb"}`:             422,
		`{"tool":"t","operation":"o","id":7}`:                  422,
		`{"tool":"t","operation":"o",}`:                        400,
		`{"tool":"t","operation":"o"}{}`:                       400,
	} {
		answer := b.do(RoleOwner, http.MethodPost, "/api/invocations", body)
		require.Equal(t, status, answer.status, "%s: %s", body, answer.raw)
	}
	require.Empty(t, b.engine.started)
}

func TestWhoMayNameARequester(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		role, requester string
		status          int
	}{
		{RoleOwner, "bob", 202}, {RoleAgent, "ada", 202}, {RoleAgent, "telegram:7", 202},
		{RoleApprover, "bob", 202}, {RoleApprover, "", 202},
		{RoleApprover, "ada", 403}, {RoleApprover, "telegram:7", 403},
	} {
		answer := b.do(c.role, http.MethodPost, "/api/invocations", `{"tool":"t","operation":"o","requester":"`+c.requester+`"}`)
		require.Equal(t, c.status, answer.status, "%+v", c)
	}
	require.Equal(t, chat.Person{ID: "telegram:7"}, b.engine.started[2].Requester)
}

func TestShowAndList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.JSONEq(t, `{"invocations":[]}`, b.do(RoleOwner, http.MethodGet, "/api/invocations", "").raw)
	require.Equal(t, 404, b.do(RoleOwner, http.MethodGet, "/api/invocations/none", "").status)
	b.engine.states["1"] = contract.State{Result: contract.Result{ID: "1", Status: "denied", Code: "PERMISSION_DENIED", Reason: "timeout"}}
	for query, wait := range map[string]time.Duration{"": 0, "?wait=30s": 30 * time.Second, "?wait=1h": time.Minute} {
		b.engine.waits = nil
		require.Equal(t, 200, b.do(RoleOwner, http.MethodGet, "/api/invocations/1"+query, "").status)
		require.Equal(t, []time.Duration{wait}, b.engine.waits)
	}
	for _, query := range []string{"/1?wait=30", "/1?wait=-1s", "?limit=0", "?limit=x", "?limit=1001"} {
		require.Equal(t, 422, b.do(RoleOwner, http.MethodGet, "/api/invocations"+query, "").status, query)
	}
	require.Equal(t, 200, b.do(RoleOwner, http.MethodGet, "/api/invocations?limit=7", "").status)
	b.engine.err = ErrNoEngine
	require.Equal(t, 503, b.do(RoleOwner, http.MethodGet, "/api/invocations/1", "").status)
}

func TestListApprovals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for id, status := range map[string]string{"1": "pending", "2": "denied"} {
		b.engine.states[id] = contract.State{Result: contract.Result{ID: id, Approval: &contract.Approval{ID: id, Status: status, Prompt: "⚠️ <b>"}}}
	}
	b.engine.states["3"] = contract.State{Result: contract.Result{ID: "3"}}
	ids := func(query string) (ids []any) {
		for _, a := range b.do(RoleOwner, http.MethodGet, "/api/approvals"+query, "").body["approvals"].([]any) {
			ids = append(ids, a.(map[string]any)["id"])
		}
		return ids
	}
	require.Equal(t, []any{"1"}, ids("?status=pending"))
	require.Equal(t, []any{"2"}, ids("?status=denied"))
	require.ElementsMatch(t, []any{"1", "2"}, ids(""))
	require.Empty(t, ids("?status=timeout"))
	require.Equal(t, 422, b.do(RoleOwner, http.MethodGet, "/api/approvals?status=open", "").status)
	require.Equal(t, "⚠️ <b>", b.do(RoleOwner, http.MethodGet, "/api/approvals/1", "").body["prompt"])
	require.Equal(t, 404, b.do(RoleOwner, http.MethodGet, "/api/approvals/3", "").status)
	require.Equal(t, 404, b.do(RoleOwner, http.MethodGet, "/api/approvals/4", "").status)
}

func TestDecision(t *testing.T) {
	t.Parallel()
	at := time.Date(2029, 1, 2, 3, 4, 6, 0, time.FixedZone("x", 3600))
	stands := &chat.Decision{Decision: chat.Deny, By: "bob", Via: "telegram", At: at, Reason: "not today"}
	object := map[string]any{"decision": "deny", "by": "bob", "via": "telegram", "at": "2029-01-02T02:04:06Z", "reason": "not today"}
	for name, c := range map[string]struct {
		verdict chat.Verdict
		err     error
		status  int
		stands  any // of the problem
	}{
		"taken":     {verdict: chat.Verdict{Standing: chat.StandingTaken, Decision: stands}, status: 200},
		"decided":   {verdict: chat.Verdict{Standing: chat.StandingDecided, Decision: stands}, status: 409, stands: object},
		"closed":    {verdict: chat.Verdict{Standing: chat.StandingClosed, Reason: "timeout"}, status: 410},
		"invalid":   {verdict: chat.Verdict{Standing: chat.StandingInvalid}, status: 422},
		"refused":   {verdict: chat.Verdict{Standing: chat.StandingRefused}, status: 403},
		"unknown":   {verdict: chat.Verdict{Standing: chat.StandingUnknown}, status: 404},
		"noted":     {verdict: chat.Verdict{Standing: chat.StandingNoted}, status: 202},
		"kept":      {verdict: chat.Verdict{Standing: chat.StandingKept}, status: 202},
		"no engine": {err: ErrNoEngine, status: 202},
		"not found": {err: ErrNotFound, status: 404},
		"away":      {err: chat.ErrUnreachable, status: 503},
		"broken":    {err: errors.New("broken"), status: 500},
		"zero":      {status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.engine.verdict, b.engine.err = c.verdict, c.err
			answer := b.do(RoleApprover, http.MethodPost, "/api/approvals/a%2Fb/decision", `{"decision":"allow","reason":"fine","decision_id":"7"}`)
			require.Equal(t, c.status, answer.status)
			require.Equal(t, []contract.Answer{{
				ID: "api:bob:7", Decision: "allow", Reason: "fine", Via: "api", ReceivedAt: b.now,
				By: chat.Person{ID: "api:bob", Name: "bob"},
			}}, b.engine.answers)
			require.Equal(t, []string{"a/b"}, b.engine.asked)
			switch {
			case c.status == 200:
				require.Equal(t, object, answer.body)
			case c.status == 202:
				require.Contains(t, []any{"kept", "noted"}, answer.body["status"])
			default:
				require.Equal(t, c.stands, answer.body["decision"])
				require.Equal(t, c.verdict.Reason != "", answer.body["reason"] != nil)
			}
		})
	}
}

func TestWhoDecides(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.verdict = chat.Verdict{Standing: chat.StandingNoted}
	paths := []string{"/api/approvals/1/decision", "/api/handoffs/1/complete", "/api/handoffs/1/cancel"}
	for i, path := range paths {
		body := ""
		if i == 0 {
			body = `{"decision":"allow_always"}`
		}
		require.Equal(t, 403, b.do(RoleAgent, http.MethodPost, path, body).status) // H02
		require.Len(t, b.engine.answers, i*2)
		require.Equal(t, 202, b.do(RoleApprover, http.MethodPost, path, body).status)
		require.Equal(t, 202, b.do(RoleOwner, http.MethodPost, path, body).status)
	}
	for i, want := range []string{"allow_always", "done", "cancel"} {
		approver, owner := b.engine.answers[i*2], b.engine.answers[i*2+1]
		require.Equal(t, want, approver.Decision)
		require.Equal(t, want, owner.Decision)
		require.False(t, approver.Entitled)
		require.True(t, owner.Entitled)
		require.NotEmpty(t, owner.ID)
		require.NotEqual(t, approver.ID, owner.ID)
		require.Empty(t, owner.Thread)
	}
}

func TestBadDecisions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, status := range map[string]int{
		``: 422, `{}`: 422, `{"decision":"yes"}`: 422, `{"decision":"Allow"}`: 422, `{"decision":"done"}`: 422,
		`{"decision":true}`: 422, `{"decision":"deny","decision":"allow"}`: 422, `{"decision":"deny","Decision":"allow"}`: 422,
		`{"decision":"allow","by":"ada"}`: 422, `{"decision":"allow","decision_id":"\u202e"}`: 422, `allow`: 400, `null`: 422,
	} {
		answer := b.do(RoleOwner, http.MethodPost, "/api/approvals/1/decision", body)
		require.Equal(t, status, answer.status, "%s: %s", body, answer.raw)
	}
	require.Equal(t, 422, b.do(RoleOwner, http.MethodPost, "/api/handoffs/1/complete", `{"decision":"allow"}`).status)
	require.Equal(t, 400, b.do(RoleOwner, http.MethodPost, "/api/approvals/1/decision", "decision=allow", "Content-Type", "application/x-www-form-urlencoded").status)
	require.Empty(t, b.engine.answers)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"decision":"allow"}`, `{"decision":"allow","decision":"deny"}`, `{"DECISION":"allow"}`, `{`, ``, `[]`, `null`, `{"reason":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var sent decisionRequest
		err := parse(body, &sent)
		if err != nil {
			require.ErrorAs(t, err, new(*Problem))
			return
		}
		if sent.Decision != "" { // what is accepted reads the same for everybody
			require.Equal(t, 1, countName(body, "decision"))
		}
	})
}
