package web

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/tool"
)

// send posts the message form as a browser does: fields in the order of the page.
func (b *browser) send(csrf, nonce, text string, files map[string]string) {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, field := range [][2]string{{"csrf", csrf}, {"nonce", nonce}, {"text", text}} {
		require.NoError(b.t, form.WriteField(field[0], field[1]))
	}
	for name, content := range files {
		part, err := form.CreateFormFile("files", name)
		require.NoError(b.t, err)
		_, err = part.Write([]byte(content))
		require.NoError(b.t, err)
	}
	require.NoError(b.t, form.Close())
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+"/messages", &body)
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", form.FormDataContentType())
	b.do(r, nil)
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.browser(t)
	visitor.get("/")
	require.Contains(t, visitor.body, "Your token", "a stranger is led to the sign-in")
	visitor.get("/?token=owner-token")
	require.Contains(t, visitor.body, "Your token", "a token in the address is nothing")
	visitor.post("/signin", url.Values{"csrf": {"x"}, "token": {"owner-token"}})
	require.Equal(t, 403, visitor.status)
	for _, token := range []string{"", "wrong", "agent-token"} {
		visitor.get("/signin")
		visitor.post("/signin", url.Values{"csrf": {visitor.csrf()}, "token": {token}})
		require.Equal(t, 403, visitor.status, token)
	}
	before := visitor.client.Jar.Cookies(must(t, b.server.URL))
	visitor.get("/signin")
	visitor.post("/signin", url.Values{"csrf": {visitor.csrf()}, "token": {" owner-token\n"}})
	require.Equal(t, 200, visitor.status)
	require.Contains(t, visitor.body, "Signed in as owner")
	require.NotEqual(t, before, visitor.client.Jar.Cookies(must(t, b.server.URL)), "a new session at sign-in")

	visitor.post("/signout", url.Values{"csrf": {"x"}})
	require.Equal(t, 403, visitor.status)
	visitor.get("/")
	visitor.post("/signout", url.Values{"csrf": {visitor.csrf()}})
	visitor.get("/")
	require.Contains(t, visitor.body, "Your token")
}

// A link in a chat leads to what it names, also where one has to sign in first.
func TestAfterTheSignIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	landed := func(visitor *browser, to ...string) string {
		form := url.Values{"csrf": {visitor.csrf()}, "token": {"owner-token"}, "to": to}
		visitor.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		visitor.post("/signin", form)
		require.Equal(t, http.StatusSeeOther, visitor.status)
		return visitor.header.Get("Location")
	}
	visitor := b.browser(t)
	visitor.get("/history?a=1&b=%2F")
	require.Contains(t, visitor.body, `name="to" value="/history?a=1&amp;b=%2F"`)
	visitor.post("/signin", url.Values{"csrf": {visitor.csrf()}, "token": {"wrong"}, "to": {"/history?a=1&b=%2F"}})
	require.Contains(t, visitor.body, `name="to" value="/history?a=1&amp;b=%2F"`, "also after a slip")
	require.Equal(t, "/history?a=1&b=%2F", landed(visitor, "/history?a=1&b=%2F"))

	for _, hostile := range []string{
		"//evil.example.test", `/\evil.example.test`, "https://evil.example.test", "javascript:alert(1)", "/\t/evil.example.test", "/signin?to=/", "",
	} {
		visitor := b.browser(t)
		visitor.get("/signin?" + url.Values{"to": {hostile}}.Encode())
		require.Contains(t, visitor.body, `name="to" value="/"`, hostile)
		require.Equal(t, "/", landed(visitor, hostile), hostile)
		visitor.get("/signin?" + url.Values{"to": {hostile}}.Encode()) // who is signed in already
		require.Equal(t, "/", visitor.header.Get("Location"), hostile)
	}
	visitor = b.browser(t)
	visitor.get("/signin")
	require.Equal(t, "/", landed(visitor))
}

func must(t *testing.T, raw string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(raw)
	require.NoError(t, err)
	return parsed
}

func TestCookiesAndHeaders(t *testing.T) {
	t.Parallel()
	for public, secure := range map[string]bool{"": false, "https://bot.example.test": true} {
		b := newBench(t, func(p *Params) { p.PublicURL = public })
		visitor := b.browser(t)
		visitor.get("/signin")
		cookie := visitor.header.Get("Set-Cookie")
		require.Contains(t, cookie, "HttpOnly")
		require.Contains(t, cookie, "SameSite=Strict")
		require.Equal(t, secure, strings.Contains(cookie, "Secure"))
		policy := visitor.header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "no-store", visitor.header.Get("Cache-Control"))
		require.NotRegexp(t, `<script(>| [^s])|<style| style=| on[a-z]+=`, visitor.body, "nothing inline")
	}
}

func TestTakenTokenEndsItsSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.signedIn(t, "owner")
	delete(b.identity, gateway.TokenHash("owner-token"))
	visitor.get("/")
	require.Contains(t, visitor.body, "Your token")
	visitor.post("/decisions", url.Values{"action": {"yes"}, "invocation": {"1"}})
	require.Equal(t, 401, visitor.status)
	require.Empty(t, b.engine.answers)
}

func TestConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.signedIn(t, "owner")
	csrf, nonce := visitor.csrf(), visitor.hidden("nonce")
	visitor.send(csrf, nonce, "hello\r\n<b>you</b>", map[string]string{"a b.csv": "1;2"})
	require.Equal(t, 200, visitor.status)
	require.Contains(t, visitor.body, "hello\n&lt;b&gt;you&lt;/b&gt;")
	require.Contains(t, visitor.body, "a b.csv")
	message := b.engine.delivered[0]
	require.Equal(t, "hello\n<b>you</b>", message.Text)
	require.Equal(t, chat.Web, message.Thread.Connector)
	require.Equal(t, "owner", message.From.Name)
	require.True(t, message.From.Owner)
	require.Equal(t, message.UUID, message.EventID)
	require.Contains(t, b.disk, "inbound/"+message.UUID+"/a b.csv")

	visitor.send(csrf, nonce, "hello", nil) // the same form again is the same message
	require.Equal(t, message.EventID, b.engine.delivered[1].EventID)
	require.Equal(t, 1, strings.Count(visitor.body, `class="said"`))

	b.disk["outbound/"+message.UUID+"/report.csv"] = "3;4"
	reply := chat.Reply{Thread: message.Thread, UUID: message.UUID, Text: "here it is", Files: []chat.File{
		{Name: "report.csv", Path: "outbound/" + message.UUID + "/report.csv", Size: 3},
	}}
	progress := parts{}
	require.NoError(t, b.sender.Reply(t.Context(), reply, progress))
	delete(b.disk, "outbound/"+message.UUID+"/report.csv") // as after every reply
	require.NoError(t, b.sender.Reply(t.Context(), reply, progress))
	visitor.get("/live")
	require.Equal(t, 1, strings.Count(visitor.body, "here it is"))
	link := "/files/" + message.UUID + "/report.csv"
	require.Contains(t, visitor.body, link)
	visitor.get(link)
	require.Equal(t, "3;4", visitor.body)
	require.Contains(t, visitor.header.Get("Content-Disposition"), "attachment")

	other := b.signedIn(t, "owner") // another session is another conversation
	require.NotContains(t, other.body, "here it is")
	other.get(link)
	require.Equal(t, 404, other.status)
}

func TestMessagesThatAreNotTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.signedIn(t, "owner")
	csrf, nonce := visitor.csrf(), visitor.hidden("nonce")
	visitor.send("forged", nonce, "hello", map[string]string{"x": "y"})
	require.Equal(t, 403, visitor.status)
	require.Empty(t, b.disk, "nothing is stored for a forged form")
	visitor.send(csrf, nonce, " \r\n", nil)
	require.Contains(t, visitor.body, "Write something")
	visitor.send(csrf, nonce, strings.Repeat("a", maxText+1), nil)
	require.Contains(t, visitor.body, "send it as a file")
	b.engine.err = chat.ErrUnreachable
	visitor.send(csrf, nonce, "hello", nil)
	require.Contains(t, visitor.body, "Temporal cannot be reached. Nothing was taken")
	require.NotContains(t, visitor.body, `class="said"`)
	require.Empty(t, b.engine.delivered)
}

// asked is a state whose question waits in a thread.
func asked(id string, thread chat.Thread) contract.State {
	expires := time.Date(2029, 1, 2, 3, 6, 5, 0, time.UTC)
	return contract.State{
		Result: contract.Result{ID: id, Status: "waiting", Approval: &contract.Approval{
			ID: id, Status: "pending", Prompt: "⚠️ Delete " + id + "? Reply 'Yes' to confirm.", Connector: thread.Connector, ThreadKey: thread.Key,
			Parameters: []byte(`{"path":"reports/old.csv"}`), ExpiresAt: &expires, Always: true,
		}},
		Tool: "file_manager", Operation: "delete", Thread: thread,
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	owner, approver := b.signedIn(t, "owner"), b.signedIn(t, "approver")
	approver.send(approver.csrf(), "n", "hello", nil)
	thread := b.engine.delivered[0].Thread
	card := chat.Card{
		Invocation: "own/1", Thread: thread, Text: "⚠️ Delete <x>? Reply 'Yes' to confirm.",
		Buttons: []chat.Button{{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo}},
	}
	receipt, err := b.sender.Post(t.Context(), card)
	require.NoError(t, err)
	again, err := b.sender.Post(t.Context(), card) // a retry after a lost answer
	require.NoError(t, err)
	require.NotEqual(t, receipt, again)
	far := asked("far", chat.Thread{Connector: chat.Telegram, Key: "1001"})
	far.Approval.Approvers = tool.Approvers{Who: tool.WhoList, People: []string{"carol"}}
	near := asked("near", chat.Thread{Connector: chat.Telegram, Key: "1002"})
	near.Requester, near.Approval.Approvers = "carol", tool.Approvers{Who: tool.WhoOther, Quorum: 2}
	near.Approval.Votes = []chat.Decision{{By: "dan"}}
	b.engine.states = []contract.State{asked("own/1", thread), far, near}

	approver.get("/")
	require.Equal(t, 1, strings.Count(approver.body, "Delete &lt;x&gt;?"))
	require.NotContains(t, approver.body, "Delete far?", "what is not theirs to decide is not shown")
	require.Contains(t, approver.body, "Delete near?", "what the policy lets them decide is")
	require.Contains(t, approver.body, "1 of 2 people agree: <bdi>dan</bdi>")
	owner.get("/")
	require.Contains(t, owner.body, "Delete far?")
	require.Contains(t, owner.body, "telegram:1001")
	require.Contains(t, owner.body, "Always allow")
	require.Contains(t, owner.body, `datetime="2029-01-02T03:06:05Z"`)

	b.engine.verdict = chat.Verdict{Standing: chat.StandingTaken, Decision: &chat.Decision{Decision: chat.Allow}}
	approver.post("/decisions", url.Values{"csrf": {approver.csrf()}, "nonce": {"n1"}, "invocation": {"own/1"}, "action": {"yes"}, "here": {"1"}})
	require.Equal(t, 200, approver.status)
	require.Contains(t, approver.body, "Taken.")
	answer := b.engine.answers[0]
	require.Equal(t, "own/1", b.engine.decided[0])
	require.Equal(t, chat.Allow, answer.Decision)
	require.Equal(t, chat.Web, answer.Via)
	require.Equal(t, thread, answer.Thread, "a button in the conversation")
	require.False(t, answer.Entitled)
	approver.get("/")
	require.NotContains(t, approver.body, "Taken.", "said once")

	b.engine.verdict = chat.Verdict{Standing: chat.StandingClosed, Reason: "timeout"}
	owner.post("/decisions", url.Values{"csrf": {owner.csrf()}, "nonce": {"n1"}, "invocation": {"far"}, "action": {"always"}})
	require.Equal(t, http.StatusGone, owner.status)
	require.Contains(t, owner.body, "Changed: the question ended before (timeout)")
	require.Contains(t, owner.body, "Delete near?", "with the conversation as it is now")
	require.Equal(t, chat.AllowAlways, b.engine.answers[1].Decision)
	require.True(t, b.engine.answers[1].Entitled)
	require.Empty(t, b.engine.answers[1].Thread)
	require.NotEqual(t, b.engine.answers[0].ID, b.engine.answers[1].ID)

	card.Closed, card.Buttons = "✅ Approved by approver.", nil
	require.NoError(t, b.sender.Edit(t.Context(), again, card))
	require.NoError(t, b.sender.Edit(t.Context(), chat.Receipt{Ref: "web/feeds/gone"}, card))
	require.NoError(t, b.sender.Edit(t.Context(), chat.Receipt{Ref: "../elsewhere"}, card))
	b.engine.states = nil
	approver.get("/")
	require.Contains(t, approver.body, "✅ Approved by approver.")
	require.NotContains(t, approver.body, `name="action"`)
}

// A28: nothing is decided by a GET, by a form of another site or by one without its token.
func TestOnlyOurFormsDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.signedIn(t, "owner")
	good := url.Values{"csrf": {visitor.csrf()}, "invocation": {"1"}, "action": {"yes"}}
	visitor.get("/decisions?" + good.Encode())
	require.Equal(t, 405, visitor.status)
	for name, form := range map[string]url.Values{
		"no token":         {"invocation": {"1"}, "action": {"yes"}},
		"another's token":  {"csrf": {b.signedIn(t, "owner").csrf()}, "invocation": {"1"}, "action": {"yes"}},
		"no action":        {"csrf": good["csrf"], "invocation": {"1"}},
		"an unknown one":   {"csrf": good["csrf"], "invocation": {"1"}, "action": {"approve"}},
		"no invocation":    {"csrf": good["csrf"], "action": {"yes"}},
		"token in address": nil,
	} {
		path := "/decisions"
		if form == nil {
			path += "?" + good.Encode()
		}
		visitor.post(path, form)
		require.Equal(t, 403, visitor.status, name)
	}
	visitor.post("/decisions", good, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, 403, visitor.status)
	visitor.post("/decisions", good, "Origin", "https://evil.example.test")
	require.Equal(t, 403, visitor.status)
	b.browser(t).post("/decisions", good)
	require.Empty(t, b.engine.answers)
	b.engine.verdict = chat.Verdict{Standing: chat.StandingTaken}
	visitor.post("/decisions", good, "Origin", b.server.URL, "Sec-Fetch-Site", "same-origin")
	require.Len(t, b.engine.answers, 1)
}

func TestWholeCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	far := asked("a/b ü", chat.Thread{Connector: chat.Slack, Key: "C1"})
	far.Approval.Approvers = tool.Approvers{Who: tool.WhoOther, Quorum: 2} // nobody knows for whom it is
	far.Approval.Parameters = []byte(`{"path":"` + strings.Repeat("long/", 1000) + "\u202e" + `end"}`)
	b.engine.states = []contract.State{far}
	owner, approver := b.signedIn(t, "owner"), b.signedIn(t, "approver")
	path := "/invocations/" + url.PathEscape("a/b ü")
	owner.get(path)
	require.Equal(t, 200, owner.status)
	require.Contains(t, owner.body, strings.Repeat("long/", 1000)+`<mark class="escaped">\u{202E}</mark>end`)
	require.Contains(t, owner.body, "http://127.0.0.1:8233/namespaces/default/workflows/invocation%2Fa%2Fb%20%C3%BC")
	approver.get(path)
	require.Equal(t, 404, approver.status)
	owner.get("/history")
	require.Contains(t, owner.body, "file_manager.delete")
	approver.get("/history")
	require.NotContains(t, approver.body, "file_manager.delete")
	b.engine.err = chat.ErrUnreachable
	owner.get("/")
	require.Equal(t, 200, owner.status, "the conversation is there without Temporal")
	require.Contains(t, owner.body, "Temporal cannot be reached")
}

func TestHandoff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.signedIn(t, "owner")
	b.engine.states = []contract.State{{
		Result: contract.Result{ID: "h", Status: "waiting", Handoff: &contract.HandoffState{Status: "pending", Reason: "Sign the contract", Missing: "the signature"}},
	}}
	visitor.get("/")
	require.Contains(t, visitor.body, "Still missing: the signature")
	for action, want := range map[string]string{"done": "done", "cancel": "cancel"} {
		visitor.post("/decisions", url.Values{"csrf": {visitor.csrf()}, "invocation": {"h"}, "action": {action}})
		require.Equal(t, want, b.engine.answers[len(b.engine.answers)-1].Decision)
	}
}

func TestEnsureSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/data"
	first, err := EnsureSecret(dir)
	require.NoError(t, err)
	second, err := EnsureSecret(dir)
	require.NoError(t, err)
	require.Equal(t, first, second)
	info, err := os.Stat(dir + "/web.key")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, os.WriteFile(dir+"/web.key", nil, 0o600))
	_, err = EnsureSecret(dir)
	require.ErrorContains(t, err, "delete the file")
}
