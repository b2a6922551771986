package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// The command line as a person uses it.
func TestStarter(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_POLICY": `{
		file_manager.append: {confirm: true},
		file_manager.mkdir: {confirm: true, timeout: 1s},
	}`}})

	for answer, c := range map[string]struct {
		status, reason string
		exists         bool
	}{
		"yes": {"completed", "", false},
		"no":  {"denied", "denied", true},
	} {
		t.Run("demo "+answer, func(t *testing.T) {
			t.Parallel()
			demo := w.Starter(t, "demo", "--answer", answer, "--output", "json")
			require.Equal(t, 0, demo.Code, demo.Stderr)
			var report struct {
				ID     string          `json:"id"`
				Path   string          `json:"path"`
				Prompt string          `json:"prompt"`
				Exists bool            `json:"exists"`
				Result contract.Result `json:"result"`
			}
			require.NoError(t, json.Unmarshal([]byte(demo.Stdout), &report), demo.Stdout)
			require.Equal(t, "⚠️ Delete the file at "+report.Path+" on disk local? Reply 'Yes' to confirm.", report.Prompt)
			require.Equal(t, [2]string{c.status, c.reason}, [2]string{report.Result.Status, report.Result.Reason})
			require.Equal(t, c.exists, report.Exists)
			require.Equal(t, c.exists, w.Exists(report.Path), "what it says is true")
			require.Equal(t, c.status, w.API.State(t, report.ID).Status)
		})
	}

	t.Run("grants", func(t *testing.T) {
		t.Parallel()
		appending := func(content string) harness.Call {
			return harness.File("append", "granted.txt", "content", content).In("web", "cli-grants")
		}
		id := w.API.Invoke(t, appending("one;"))
		w.API.Question(t, id)
		require.Equal(t, 200, w.API.Decide(t, id, harness.Say{Decision: "allow_always"}).Status)
		require.Equal(t, "completed", w.API.Result(t, id).Status)
		require.Equal(t, "completed", w.API.Result(t, w.API.Invoke(t, appending("two;"))).Status, "nobody is asked again")
		list := w.Starter(t, "grants", "list", "--output", "json")
		require.Equal(t, 0, list.Code, list.Stderr)
		require.Contains(t, list.Stdout, id)
		revoked := w.Starter(t, "grants", "revoke", id)
		require.Equal(t, 0, revoked.Code, revoked.Stderr)
		harness.Eventually(t, "it is gone", func() bool { return !strings.Contains(w.Starter(t, "grants", "list").Stdout, id) })
		require.NotEqual(t, 0, w.Starter(t, "grants", "revoke", id).Code, "there is nothing left to revoke")
		entries := w.Audit(t, id)
		last := entries[len(entries)-1]
		require.Equal(t, [3]string{"revoked", "ada", "api"}, [3]string{last.Kind, last.Decision.By, last.Decision.Via})
		again := w.API.Invoke(t, appending("three;"))
		w.API.Question(t, again)
		require.Equal(t, 200, w.API.Decide(t, again, harness.Say{Decision: "deny"}).Status)
		require.Equal(t, "one;two;", w.Read(t, "granted.txt"))
	})

	t.Run("invoke", func(t *testing.T) {
		t.Parallel()
		done := w.Starter(t, "invoke", "file_manager", "write", "disk=local", "path=made.txt", "content=two words")
		require.Equal(t, 0, done.Code, done.Stderr)
		require.Equal(t, "two words", w.Read(t, "made.txt"))
		for name, c := range map[string]struct {
			code int
			args []string
		}{
			"failed":        {1, []string{"invoke", "file_manager", "read", "disk=local", "path=nothing.txt"}},
			"invalid":       {1, []string{"invoke", "file_manager", "read", "disk=local"}},
			"usage":         {2, []string{"invoke", "file_manager"}},
			"unknown":       {2, []string{"frobnicate"}},
			"timed out":     {4, []string{"invoke", "file_manager", "mkdir", "disk=local", "path=late", "--connector", "web", "--thread", "cli-late"}},
			"nobody to ask": {2, []string{"demo"}},
		} {
			output := w.Starter(t, c.args...)
			require.Equal(t, c.code, output.Code, "%s: %s%s", name, output.Stdout, output.Stderr)
		}
		require.False(t, w.Exists("late"))
	})

	t.Run("approvals", func(t *testing.T) {
		t.Parallel()
		for verb, c := range map[string]struct {
			code   int
			status string
		}{"allow": {0, "completed"}, "deny": {3, "denied"}} {
			thread := "cli-" + verb
			invoked := make(chan harness.Output, 1)
			go func() {
				invoked <- w.Starter(t, "invoke", "file_manager", "append", "disk=local", "path="+thread+".txt", "content=line;",
					"--connector", "web", "--thread", thread, "--output", "json")
			}()
			question := harness.Until(t, "the question is listed", func() (contract.Approval, bool) {
				listed := w.Starter(t, "approvals", "list", "--output", "json")
				var list struct {
					Approvals []contract.Approval `json:"approvals"`
				}
				if listed.Code != 0 || json.Unmarshal([]byte(listed.Stdout), &list) != nil {
					return contract.Approval{}, false
				}
				for _, a := range list.Approvals {
					if a.ThreadKey == thread && a.ExpiresAt != nil {
						return a, true
					}
				}
				return contract.Approval{}, false
			})
			require.Equal(t, "⚠️ Add to the file at "+thread+".txt on disk local? Reply 'Yes' to confirm.", question.Prompt)
			decided := w.Starter(t, "approvals", verb, question.ID)
			require.Equal(t, 0, decided.Code, decided.Stderr)
			output := <-invoked
			require.Equal(t, c.code, output.Code, output.Stderr)
			var state contract.State
			require.NoError(t, json.Unmarshal([]byte(output.Stdout), &state), output.Stdout)
			require.Equal(t, c.status, state.Status)
			require.Equal(t, c.status == "completed", w.Exists(thread+".txt"))
			shown := w.Starter(t, "approvals", "show", question.ID, "--output", "json")
			require.Equal(t, 0, shown.Code)
			require.Contains(t, shown.Stdout, `"by": "ada"`, "the first owner has the data folder's token")
			again := w.Starter(t, "approvals", "deny", question.ID)
			require.Equal(t, 1, again.Code, "it is decided: %s", again.Stdout)
		}
	})

	t.Run("tools list", func(t *testing.T) {
		t.Parallel()
		listed := w.Starter(t, "tools", "list", "--output", "json")
		require.Equal(t, 0, listed.Code, listed.Stderr)
		var list struct {
			Tools []struct {
				Name       string `json:"name"`
				Operations []struct {
					Name string `json:"name"`
				} `json:"operations"`
			} `json:"tools"`
		}
		require.NoError(t, json.Unmarshal([]byte(listed.Stdout), &list))
		operations := map[string]bool{}
		for _, tool := range list.Tools {
			for _, operation := range tool.Operations {
				operations[tool.Name+"."+operation.Name] = true
			}
		}
		for _, name := range []string{
			"list", "read", "exists", "write", "append", "mkdir", "move", "copy", "delete", "save_attachment", "attach_to_reply", "download_url",
		} {
			require.True(t, operations["file_manager."+name], name)
		}
	})

	t.Run("send", func(t *testing.T) {
		t.Parallel()
		sent := w.Starter(t, "send", "/file_manager list disk=local path=/")
		require.Equal(t, 0, sent.Code, sent.Stderr)
		require.Contains(t, sent.Stdout, "✅ Done: file_manager list")
	})
}

// Nobody answers the demo: it waits until the question's time is over.
func TestStarterDemoWithoutAnswer(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_CONFIRM_TIMEOUT": "2s"}})
	began := time.Now()
	demo := w.Starter(t, "demo", "--answer", "none")
	require.Equal(t, 0, demo.Code, demo.Stderr)
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second)
	require.Contains(t, demo.Stdout, "denied (PERMISSION_DENIED, timeout)")
	require.Contains(t, demo.Stdout, "The file is still there.")
}
