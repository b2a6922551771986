package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
)

// What a person reads is what the tool gets: all of it, nothing unseen, nothing that is taken
// for something else.
func TestParameters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", foldedAfter+1)
	require.Equal(t, []parameter{
		{Name: "path", Pieces: []piece{{Text: `a\u{202E}`}, {Text: `\u{202E}`, Escaped: true}, {Text: "b"}}, Text: true},
		{Name: "count", Pieces: []piece{{Text: "1.50"}}},
		{Name: "list", Pieces: []piece{{Text: "[\n  \"a\"\n]"}}, Block: true},
		{Name: `n\u{200B}`, Pieces: []piece{{Text: `\t`, Escaped: true}, {Text: "two\nlines"}}, Block: true, Text: true},
		{Name: "empty", Text: true},
		{Name: "none"},
		{Name: "long", Pieces: []piece{{Text: long}}, Block: true, Folded: true, Summary: "241 characters", Text: true},
	}, parameters(words.English, json.RawMessage(`{"path":"a\\u{202E}`+"\u202e"+`b","count":1.50,"list":["a"],"n`+"\u200b"+`":"\ttwo\nlines","empty":"","none":null,"long":"`+long+`"}`)))
	require.Empty(t, parameters(words.English, nil))
	require.Empty(t, parameters(words.English, json.RawMessage("null")))
	require.Len(t, parameters(words.English, json.RawMessage(`{"cut`)), 1, "what cannot be read is shown as it is")
}

func FuzzPieces(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "\u202e", "\xff\xfe", "\ufffd", "e\u0301", "\U000E0001"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := 0
		for _, p := range pieces(text) {
			require.NotEmpty(t, p.Text)
			for _, r := range p.Text {
				require.True(t, shown(r), "%q of %q", r, text)
			}
			if !p.Escaped {
				require.Contains(t, text, p.Text)
				plain += len(p.Text)
			}
		}
		require.LessOrEqual(t, plain, len(text))
	})
}

// The page's own script stays where it is and is told by a status; a form is led on.
func TestAnswersToScripts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.signedIn(t, "owner")
	csrf := visitor.csrf()
	for standing, want := range map[chat.Standing]int{
		chat.StandingTaken: 200, chat.StandingNoted: 200, chat.StandingKept: 200, chat.StandingDecided: 409, chat.StandingClosed: 410,
		chat.StandingRefused: 403, chat.StandingInvalid: 422, chat.StandingUnknown: 404,
	} {
		b.engine.verdict = chat.Verdict{Standing: standing, Reason: "timeout"}
		form := url.Values{"csrf": {csrf}, "invocation": {"1"}, "action": {"no"}, "reason": {" not now "}}
		visitor.post("/decisions", form, "Accept", "application/json")
		require.Equal(t, want, visitor.status, standing)
		require.Equal(t, "application/json", visitor.header.Get("Content-Type"))
		kind, line := say(b.engine.verdict)
		var said flash
		require.NoError(t, json.Unmarshal([]byte(visitor.body), &said))
		require.Equal(t, flash{kind, words.Say(words.English, line)}, said)
		require.Equal(t, "not now", b.engine.answers[len(b.engine.answers)-1].Reason)
		visitor.post("/decisions", form)
		require.Equal(t, want, visitor.status, standing)
		require.Contains(t, visitor.header.Get("Content-Type"), "text/html")
	}
	visitor.post("/decisions", url.Values{"csrf": {csrf}, "invocation": {"1"}, "action": {"yes"}, "reason": {"because"}})
	require.Empty(t, b.engine.answers[len(b.engine.answers)-1].Reason, "a reason is a no's")
}

func TestGrantsPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	owner, approver := b.signedIn(t, "owner"), b.signedIn(t, "approver")
	approver.send(approver.csrf(), "n", "hello", nil)
	g := contract.Grant{ID: "g1", Tool: "workspace", Operation: "save_workspace_name", By: "approver", For: "approver", Since: b.now}
	far := g
	far.ID, far.By = "g2", "carol"
	b.engine.grants = []contract.ListedGrant{
		{Grant: g, Thread: b.engine.delivered[0].Thread}, {Grant: far, Thread: chat.Thread{Connector: chat.Telegram, Key: "7"}},
	}
	approver.get("/grants")
	require.Contains(t, approver.body, "in this conversation")
	require.NotContains(t, approver.body, "carol")
	approver.post("/grants", url.Values{"csrf": {approver.csrf()}, "grant": {"g2"}})
	require.Contains(t, approver.body, "This grant has ended already.")
	approver.post("/grants", url.Values{"csrf": {"x"}, "grant": {"g1"}})
	require.Equal(t, 403, approver.status)
	require.Empty(t, b.engine.revoked)
	approver.get("/grants")
	approver.post("/grants", url.Values{"csrf": {approver.csrf()}, "grant": {"g1"}})
	require.Contains(t, approver.body, "Revoked. The next workspace.save_workspace_name asks again.")
	owner.get("/grants")
	require.Contains(t, owner.body, "telegram:7")
	owner.post("/grants", url.Values{"csrf": {owner.csrf()}, "grant": {"g2"}})
	require.Equal(t, []string{"g1 by approver", "g2 by owner"}, b.engine.revoked)
}

func TestHistoryTellsWhoAndHow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Date(2029, 1, 2, 3, 4, 5, 0, time.UTC)
	done := asked("1", chat.Thread{Connector: chat.Telegram, Key: "1001"})
	done.Status, done.Approval.Status, done.Approval.AskedAt = "completed", "approved", &at
	done.Approval.Decision = &chat.Decision{Decision: chat.Allow, By: "approver", Via: chat.Telegram, At: at.Add(2500 * time.Millisecond)}
	gone := asked("2", chat.Thread{Connector: chat.Telegram, Key: "1001"})
	gone.Status, gone.Approval.Status = "denied", "timeout"
	handed := contract.State{
		Result: contract.Result{ID: "3", Status: "completed", Handoff: &contract.HandoffState{Status: "completed", Verified: true, DecidedBy: "owner", Via: chat.Web}},
		Tool:   "workspace", Operation: "publish_changes",
	}
	b.engine.states = []contract.State{done, gone, handed}
	owner, approver := b.signedIn(t, "owner"), b.signedIn(t, "approver")
	owner.get("/history")
	require.Contains(t, owner.body, `yes by <bdi>approver</bdi> <span class="meta">(telegram)</span><br><time class="meta" datetime="2029-01-02T03:04:07.5Z">2029-01-02 03:04:07 UTC</time> <span class="meta">after 2.5 s</span>`)
	require.Contains(t, owner.body, `data-label="Decided">timeout</td>`)
	require.Contains(t, owner.body, `done, and checked by <bdi>owner</bdi>`)
	require.Contains(t, owner.body, "/namespaces/default/workflows/invocation%2F1")
	approver.get("/history")
	require.Equal(t, 1, strings.Count(approver.body, `data-label="Call"`), "what they decided, and no more")
}

func TestWhoMayAnswerInWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, "anyone in the conversation", approvers(words.English, tool.Approvers{}))
	require.Equal(t, "ada, bob; 2 people must agree", approvers(words.English, tool.Approvers{Who: tool.WhoList, People: []string{"ada", "bob"}, Quorum: 2}))
	require.Equal(t, "nobody", approvers(words.English, tool.Approvers{Who: "new"}))
	require.Equal(t, "nobody", approvers(words.English, tool.Approvers{Who: tool.WhoList}))
}

// fakeWorkspace is published by the code 1234.
type fakeWorkspace struct {
	state WorkspaceState
	by    []string
}

func (f *fakeWorkspace) State(context.Context) (WorkspaceState, error) { return f.state, nil }

func (f *fakeWorkspace) Publish(_ context.Context, code, revision, by string) error {
	switch {
	case code != "1234":
		return ErrWorkspaceCode
	case revision != f.state.Revision:
		return ErrWorkspaceChanged
	}
	f.state.Published, f.by = true, append(f.by, by)
	return nil
}

func TestWorkspacePage(t *testing.T) {
	t.Parallel()
	workspace := &fakeWorkspace{state: WorkspaceState{Name: "<Atlas>", Revision: "r1"}}
	b := newBench(t, func(p *Params) {
		p.Workspace, p.Guides = workspace, map[string]string{"workspace.publish_changes": "/workspace"}
	})
	visitor := b.signedIn(t, "approver")
	b.engine.states = []contract.State{{
		Result: contract.Result{ID: "h", Status: "waiting", Handoff: &contract.HandoffState{
			Status: "pending", Reason: "Confirm", Steps: []tool.Step{{Text: "Enter it", Highlight: "verification_code"}, {Text: "Look"}},
		}},
		Tool: "workspace", Operation: "publish_changes", Requester: "approver",
	}}
	visitor.get("/")
	require.Contains(t, visitor.body, `<li dir="auto" data-highlight="verification_code">Enter it <a href="/workspace#verification_code">`)
	require.Contains(t, visitor.body, "I&#39;ve done it")
	visitor.get("/workspace")
	require.Contains(t, visitor.body, "&lt;Atlas&gt;")
	for _, target := range []string{"verification_code", "publish_changes"} {
		require.Contains(t, visitor.body, `data-guide-target="`+target+`"`)
	}
	csrf := visitor.csrf()
	visitor.get("/workspace?csrf=" + csrf + "&code=1234&revision=r1")
	require.False(t, workspace.state.Published, "a GET publishes nothing")
	for name, test := range map[string]struct {
		form   url.Values
		status int
	}{
		"no token":     {url.Values{"code": {"1234"}, "revision": {"r1"}}, 403},
		"wrong code":   {url.Values{"csrf": {csrf}, "code": {"4321"}, "revision": {"r1"}}, 422},
		"an old sight": {url.Values{"csrf": {csrf}, "code": {"1234"}, "revision": {"r0"}}, 409},
	} {
		visitor.post("/workspace", test.form)
		require.Equal(t, test.status, visitor.status, name)
		require.False(t, workspace.state.Published, name)
	}
	visitor.post("/workspace", url.Values{"csrf": {csrf}, "code": {"1234"}, "revision": {"r1"}})
	require.Contains(t, visitor.body, "The changes are published.")
	require.Equal(t, []string{"approver"}, workspace.by)

	without := newBench(t).signedIn(t, "owner")
	without.get("/workspace")
	require.Equal(t, 404, without.status)
}

func TestDock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	stranger := b.browser(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.server.URL+"/dock", nil)
	require.NoError(t, err)
	r.Header.Set("Sec-Fetch-Dest", "empty") // as a script's
	stranger.do(r, nil)
	require.Equal(t, 401, stranger.status)
	stranger.get("/dock.js")
	require.Equal(t, 200, stranger.status)
	require.Contains(t, stranger.header.Get("Content-Type"), "javascript")

	visitor := b.signedIn(t, "owner")
	visitor.send(visitor.csrf(), "n", "hello", nil)
	b.engine.states = []contract.State{asked("own", b.engine.delivered[0].Thread), asked("far", chat.Thread{Connector: chat.Telegram, Key: "1"})}
	_, err = b.sender.Post(t.Context(), chat.Card{Invocation: "own", Thread: b.engine.delivered[0].Thread, Text: "Delete own?"})
	require.NoError(t, err)
	visitor.get("/dock")
	require.Contains(t, visitor.body, "hello")
	require.Contains(t, visitor.body, "Delete own?")
	require.NotContains(t, visitor.body, "Delete far?")
	require.NotContains(t, visitor.body, "<html")
	require.Empty(t, visitor.header.Get("Access-Control-Allow-Origin"))
}

// Everything that a browser loads for the page, with a question on it.
func TestPageWeight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.signedIn(t, "owner")
	visitor.send(visitor.csrf(), "n", "hello", nil)
	b.engine.states = []contract.State{asked("own", b.engine.delivered[0].Thread)}
	visitor.get("/")
	weight := len(visitor.body)
	files, err := os.ReadDir("assets")
	require.NoError(t, err)
	for _, file := range files {
		visitor.get("/assets/" + file.Name())
		require.Equal(t, 200, visitor.status)
		weight += len(visitor.body)
	}
	require.Less(t, weight, 100_000)
	t.Logf("%d bytes", weight)
}
