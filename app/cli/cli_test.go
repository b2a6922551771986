package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, args := range []string{
		"nonsense", "invoke", "invoke file_manager", "invoke a b --nonsense", "invoke a b c", "invoke a b c=1 c=2", "invoke a b c:=x",
		"invoke a b --parameters {", "invoke a b x=1 --parameters {}", "approvals", "approvals nonsense", "approvals show", "approvals allow a b",
		"chat now", "demo --answer maybe", "demo", "tokens create x", "invocations list --output xml", "attachments prune --older-than 0s", "send",
	} {
		require.Equal(t, Usage, b.run(t, strings.Fields(args)...), args)
		require.NotEmpty(t, b.stderr.String(), args)
		require.Empty(t, b.stdout.String(), args)
	}
	require.Empty(t, b.engine.calls)
	require.Equal(t, Done, b.run(t, "--help"))
	require.Contains(t, b.stdout.String(), "Exit codes: 0 done, 1 failed, 2 usage, 3 denied, 4 timed out, 5 outcome unknown.")
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for status, want := range map[string]int{
		"completed": Done, "failed": Failed, "denied": Denied, "cancelled": Denied, "timed_out": TimedOut, "unknown": Unknown, "strange": Failed,
	} {
		require.Equal(t, want, b.run(t, "invoke", "t", status, "a=b"), status)
		require.Contains(t, b.stdout.String(), status)
	}
	require.Equal(t, TimedOut, code(contract.Result{Status: "denied", Reason: "timeout"}), "H15")
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, Done, b.run(t, "invoke", "file_manager", "write", "disk=local", "path=a b.csv", "--id", "x/1"))
	require.Contains(t, b.engine.calls, "x/1")
	require.True(t, b.engine.files["a b.csv"])

	require.Equal(t, TimedOut, b.run(t, "invoke", "file_manager", "delete", `--parameters={"path":"a b.csv"}`,
		"--connector", "web", "--thread", "ops", "--id", "d1", "--wait", "1ms"))
	require.Contains(t, b.stderr.String(), "⚠️ Delete the file at a b.csv on disk local? Reply 'Yes' to confirm.")
	require.Contains(t, b.stderr.String(), "starter approvals allow d1")
	require.Contains(t, b.stdout.String(), "waiting")

	require.Equal(t, Done, b.run(t, "invoke", "file_manager", "exists", "path=a b.csv", "--wait", "0"))
	require.Contains(t, b.stdout.String(), "started")

	require.Equal(t, Done, b.run(t, "invoke", "file_manager", "exists", "path=a b.csv", "-o", "json"))
	var state contract.State
	require.NoError(t, json.Unmarshal(b.stdout.Bytes(), &state))
	require.JSONEq(t, `{"exists":true}`, string(state.Output))
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	start := func(id string) {
		require.Equal(t, Done, b.run(t, "invoke", "file_manager", "delete", "path=x", "--connector", "web", "--id", id, "--wait", "0"))
	}
	require.Equal(t, Done, b.run(t, "approvals", "list"))
	require.Contains(t, b.stdout.String(), "no question is pending")
	start("a/1")
	require.Equal(t, Done, b.run(t, "approvals", "list"))
	require.Contains(t, b.stdout.String(), "a/1")
	require.Contains(t, b.stdout.String(), "2m0s left")
	require.Equal(t, Done, b.run(t, "approvals", "show", "a/1", "--output", "json"))
	require.Contains(t, b.stdout.String(), `"prompt": "⚠️ Delete the file at x on disk local? Reply 'Yes' to confirm."`)

	require.Equal(t, Failed, b.run(t, "approvals", "allow", "a/1", "--always"))
	require.Contains(t, b.stderr.String(), "not offered")
	require.Equal(t, Done, b.run(t, "approvals", "deny", "a/1", "--reason", "not today"))
	require.Contains(t, b.stdout.String(), "deny by ada via api at 2029-01-02T03:04:05Z")
	require.Equal(t, "not today", b.engine.calls["a/1"].state.Approval.Decision.Reason)
	require.Equal(t, Failed, b.run(t, "approvals", "allow", "a/1"))
	require.Contains(t, b.stderr.String(), "already decided by ada via api at 2029-01-02T03:04:05Z: deny")
	require.Equal(t, Failed, b.run(t, "approvals", "allow", "none"))

	start("late")
	require.NoError(t, b.sleep(t.Context(), time.Hour))
	require.Equal(t, Failed, b.run(t, "approvals", "allow", "late"))
	require.Contains(t, b.stderr.String(), "timeout")
	require.Equal(t, Failed, b.run(t, "handoffs", "done", "none"))
	require.Equal(t, Failed, b.run(t, "handoffs", "cancel", "none"))
}

func TestLists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, Done, b.run(t, "invocations", "list"))
	require.Contains(t, b.stdout.String(), "no calls yet")
	require.Equal(t, Done, b.run(t, "invoke", "t", "completed", "--id", "i1"))
	require.Equal(t, Done, b.run(t, "invocations", "list", "--limit", "3"))
	require.Contains(t, b.stdout.String(), "i1")
	require.Equal(t, Done, b.run(t, "invocations", "show", "i1"))
	require.Equal(t, Failed, b.run(t, "invocations", "show", "i2"))
	require.Contains(t, b.stderr.String(), "nothing under this id")

	require.Equal(t, Done, b.run(t, "grants", "list"))
	require.Contains(t, b.stdout.String(), "g1  t.o in web:k")
	require.Equal(t, Done, b.run(t, "grants", "revoke", "g1"))
	require.Equal(t, []string{"g1"}, b.engine.revoked)
	require.Equal(t, Failed, b.run(t, "grants", "revoke", "g2"))

	require.Equal(t, Done, b.run(t, "tools", "list"))
	require.Contains(t, b.stdout.String(), "disk path [dry]")
	for _, args := range []string{"invocations list", "invocations show i1", "grants list", "tools list", "approvals list", "tokens create"} {
		require.Equal(t, Done, b.run(t, append(strings.Fields(args), "--output=json")...), args)
		require.True(t, json.Valid(b.stdout.Bytes()), args)
	}
}

func TestTokensAndPrune(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, Done, b.run(t, "tokens", "create", "-o", "json"))
	var made struct{ Token, SHA256 string }
	require.NoError(t, json.Unmarshal(b.stdout.Bytes(), &made))
	require.Equal(t, "sha256:"+gateway.TokenHash(made.Token), made.SHA256)
	require.Equal(t, Done, b.run(t, "tokens", "create"))
	require.NotContains(t, b.stdout.String(), made.Token)

	require.Equal(t, Failed, b.run(t, "attachments", "prune"))
	var age time.Duration
	b.params = func(p *Params) {
		p.Prune = func(_ context.Context, olderThan time.Duration) (int, error) { age = olderThan; return 3, nil }
	}
	require.Equal(t, Done, b.run(t, "attachments", "prune"))
	require.Equal(t, 720*time.Hour, age)
	require.Contains(t, b.stdout.String(), "3 messages")
	b.params = func(p *Params) {
		p.Prune = func(context.Context, time.Duration) (int, error) { return 0, errors.New("disk is gone") }
	}
	require.Equal(t, Failed, b.run(t, "attachments", "prune", "--older-than", "24h"))
}

func TestWithoutGateway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.env["COUNTERSIGN_URL"] = "http://127.0.0.1:1"
	for _, args := range []string{"demo --answer yes", "approvals list", "send hi"} {
		require.Equal(t, Failed, b.run(t, strings.Fields(args)...))
		require.Contains(t, b.stderr.String(), "make run")
	}
	b.env["COUNTERSIGN_DATA_DIR"] = t.TempDir()
	require.Equal(t, Failed, b.run(t, "approvals", "list"))
	require.Contains(t, b.stderr.String(), "COUNTERSIGN_TOKEN")
	b.env["COUNTERSIGN_TOKEN"] = "cs_wrong-token-1234"
	b.env["COUNTERSIGN_URL"] = newBench(t).env["COUNTERSIGN_URL"]
	require.Equal(t, Failed, b.run(t, "approvals", "list"))
	require.NotContains(t, b.stderr.String(), "cs_wrong-token-1234")
}

func TestBase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, url, address, want string }{
		{"", "", "", "http://127.0.0.1:8080"},
		{"", "", ":9000", "http://127.0.0.1:9000"},
		{"", "", "0.0.0.0:9000", "http://127.0.0.1:9000"},
		{"", "", "[::]:9000", "http://127.0.0.1:9000"},
		{"", "", "10.1.2.3:80", "http://10.1.2.3:80"},
		{"", "https://bot.example.test/", ":9000", "https://bot.example.test"},
		{"http://x:1", "https://bot.example.test", "", "http://x:1"},
	} {
		s := &starter{url: c.flag, Params: Params{Getenv: func(name string) string {
			return map[string]string{"COUNTERSIGN_URL": c.url, "COUNTERSIGN_HTTP_ADDR": c.address}[name]
		}}}
		require.Equal(t, c.want, s.base())
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.turn = contract.TurnResult{Text: "evil\x1b[2Ktext\u202e"}
	require.Equal(t, Done, b.run(t, "send", "hello", "there", "--key", "k1"))
	require.Equal(t, "hello there", b.engine.talks[0].Text)
	require.Equal(t, "k1", b.engine.talks[0].Thread.Key)
	require.Equal(t, `evil\u{001B}[2Ktext\u{202E}`+"\n", b.stdout.String(), "G15: nobody rewrites the terminal")
}

// H19: no terminal, no end of input and no pipe is ever taken for an answer.
func TestChat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stdin = strings.NewReader("yes\n")
	require.Equal(t, Failed, b.run(t, "chat"))
	require.Contains(t, b.stderr.String(), "no terminal")
	require.Empty(t, b.engine.talks)

	b.tty, b.stdin = true, strings.NewReader("")
	require.Equal(t, Failed, b.run(t, "chat"), "Ctrl-D")

	b.engine.turn = contract.TurnResult{Text: "here", Files: []chat.File{{Name: "a.csv"}, {Name: "../../b.csv"}}}
	b.delivered.files["a.csv"], b.delivered.files["../../b.csv"] = "1;2", "3;4"
	b.stdin = strings.NewReader("\nmake a report\nexit\nnot sent\n")
	require.Equal(t, Done, b.run(t, "chat"))
	require.Len(t, b.engine.talks, 1)
	require.Equal(t, chat.Thread{Connector: chat.Terminal, Key: "terminal:ada"}, b.engine.talks[0].Thread)
	folder := filepath.Join(b.env["COUNTERSIGN_DATA_DIR"], "received", b.engine.talks[0].UUID)
	for name, want := range map[string]string{"a.csv": "1;2", "b.csv": "3;4"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, want, string(content))
		require.Contains(t, b.stdout.String(), filepath.Join(folder, name))
	}
	require.Empty(t, b.delivered.files, "deleted at the gateway once they are here")

	b.engine.turn = contract.TurnResult{Text: "fine"}
	b.tty, b.stdin = false, strings.NewReader("one\ntwo")
	require.Equal(t, Done, b.run(t, "chat", "--stdin"))
	require.Len(t, b.engine.talks, 3)
}
