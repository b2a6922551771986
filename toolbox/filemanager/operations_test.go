package filemanager_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/tool"
)

func TestDeclarations(t *testing.T) {
	t.Parallel()
	b := newBench(t, setup{})
	require.Equal(t, "file_manager", b.tool.Name)
	type declaration struct {
		kind       tool.Kind
		parameters string
		idempotent bool
	}
	want := map[string]declaration{
		"list": {tool.Read, "disk path", true}, "read": {tool.Read, "disk path", true}, "exists": {tool.Read, "disk path", true},
		"write": {tool.Write, "content disk path", true}, "append": {tool.Write, "content disk path", false},
		"mkdir": {tool.Write, "disk path", false},
		"move":  {tool.Write, "destination disk path", false}, "copy": {tool.Write, "destination disk path", false},
		"delete":          {tool.Danger, "disk path paths", false},
		"save_attachment": {tool.Write, "disk path source", true}, "attach_to_reply": {tool.Write, "disk path", true},
		"download_url": {tool.Write, "disk path url", false},
	}
	got := map[string]declaration{}
	for _, op := range b.tool.Operations {
		names, err := tool.ParameterNames(op.Schema)
		require.NoError(t, err)
		got[op.Name] = declaration{op.Kind, strings.Join(names, " "), op.Idempotent}
		require.Equal(t, tool.ConfirmUnset, op.Confirm)
		require.NotEmpty(t, op.Description)
		require.NotEmpty(t, op.Prompt, "a policy may make it ask")
	}
	require.Equal(t, want, got)

	op, ok := b.registry.Find("file_manager", "delete")
	require.True(t, ok)
	require.Equal(t, "Delete the file at {path} on disk {disk}?", op.Prompt)
	require.Equal(t, []tool.PromptVariant{{When: "paths", Template: "Delete {count} files on disk {disk}: {paths}?", Count: "paths"}}, op.Prompts)
}

func TestParametersThatNoSchemaTakes(t *testing.T) {
	t.Parallel()
	b := newBench(t, setup{})
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		operation  string
		parameters values
	}{
		{"read", values{"path": "a"}},
		{"read", values{"disk": "local", "path": ""}},
		{"read", values{"disk": "", "path": "a"}},
		{"read", values{"disk": "local", "path": "a", "other": 1}},
		{"read", values{"disk": "local", "path": 7}},
		{"write", values{"disk": "local", "path": "a"}},
		{"move", values{"disk": "local", "path": "a", "destination": ""}},
		{"delete", values{"disk": "local"}},
		{"delete", values{"disk": "local", "path": ""}},
		{"delete", values{"disk": "local", "path": "a", "paths": []string{"b"}}},
		{"delete", values{"disk": "local", "paths": []string{}}},
		{"delete", values{"disk": "local", "paths": []string{"a", ""}}},
		{"delete", values{"disk": "local", "paths": many}},
		{"save_attachment", values{"disk": "local", "path": "a", "source": ""}},
		{"download_url", values{"disk": "local", "path": "a", "url": ""}},
	} {
		raw, err := json.Marshal(c.parameters)
		require.NoError(t, err)
		_, err = b.registry.Check("file_manager", c.operation, raw)
		var refused *tool.ParametersError
		require.ErrorAs(t, err, &refused, "%s %s", c.operation, raw)
	}
}

func TestReadWriteAppendListExists(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		require.Equal(t, values{"disk": "local", "path": "docs/a.txt", "size": 5.0},
			b.do(t, "write", values{"disk": "local", "path": "/docs/a.txt", "content": "hello"}))
		b.do(t, "write", values{"disk": "local", "path": "docs/a.txt", "content": "héllo"})
		require.Equal(t, values{"disk": "local", "path": "docs/a.txt", "size": 7.0},
			b.do(t, "append", values{"disk": "local", "path": "docs/a.txt", "content": "!"}))
		b.do(t, "append", values{"disk": "local", "path": "docs/new.txt", "content": "first"})
		b.do(t, "write", values{"disk": "local", "path": "empty.csv", "content": ""}) // B11
		require.Equal(t, values{"disk": "local", "path": "docs/a.txt", "content": "héllo!", "truncated": false, "size": 7.0},
			b.do(t, "read", values{"disk": "local", "path": "docs/a.txt"}))
		require.Empty(t, b.do(t, "read", values{"disk": "local", "path": "empty.csv"})["content"])

		write(t, b.program, "inbound/u/f", "secret")
		listed := b.do(t, "list", values{"disk": "local", "path": ""})
		var shown []string
		for _, item := range listed["entries"].([]any) {
			entry := item.(values)
			shown = append(shown, fmt.Sprint(entry["name"], " ", entry["path"], " ", entry["type"], " ", entry["size"]))
		}
		require.Equal(t, []string{"docs docs folder 0", "empty.csv empty.csv file 0"}, shown)
		require.Len(t, b.do(t, "list", values{"disk": "local", "path": "docs"})["entries"], 2)

		require.Equal(t, values{"disk": "local", "path": "docs/a.txt", "exists": true, "type": "file"},
			b.do(t, "exists", values{"disk": "local", "path": "docs/a.txt"}))
		require.Equal(t, values{"disk": "local", "path": "docs", "exists": true, "type": "folder"},
			b.do(t, "exists", values{"disk": "local", "path": "docs"}))
		for _, name := range []string{"none", "docs/none/x", "docs/a.txt/x"} {
			require.Equal(t, values{"disk": "local", "path": name, "exists": false},
				b.do(t, "exists", values{"disk": "local", "path": name}))
		}
		require.Equal(t, values{"disk": "other", "path": "", "entries": []any{}},
			b.do(t, "list", values{"disk": "other", "path": ""}))
	})
}

func TestReadIsCutAt100KB(t *testing.T) {
	t.Parallel()
	b := newBench(t, setup{})
	const limit = 100 << 10
	for name, c := range map[string]struct {
		content string
		length  int
		cut     bool
	}{
		"exactly":      {strings.Repeat("x", limit), limit, false},
		"one more":     {strings.Repeat("x", limit+1), limit, true},
		"much more":    {strings.Repeat("x", 3*limit), limit, true},
		"inside a é":   {"x" + strings.Repeat("é", limit), limit - 1, true},
		"inside a 😀":   {"xx" + strings.Repeat("😀", limit), limit - 2, true},
		"é at the end": {"xx" + strings.Repeat("é", limit/2-1), limit, false},
	} {
		write(t, b.local, name, c.content)
		out := b.do(t, "read", values{"disk": "local", "path": name})
		require.Len(t, out["content"], c.length, name)
		require.True(t, strings.HasPrefix(c.content, out["content"].(string)), name)
		require.Equal(t, c.cut, out["truncated"], name)
		require.EqualValues(t, len(c.content), out["size"], name)
		if c.cut {
			require.Contains(t, out["note"], "cut at 100 KB")
		}
	}
}

func TestBinaryIsNotRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, setup{})
	for name, content := range map[string]string{
		"png": "\x89PNG\r\n\x1a\n", "nul": "text\x00text", "latin1": "caf\xe9", "utf16": "\xff\xfeh\x00i\x00",
		"late": strings.Repeat("x", 5000) + "\xff" + strings.Repeat("x", 200<<10),
	} {
		write(t, b.local, name, content)
		require.Contains(t, b.refused(t, "read", values{"disk": "local", "path": name}), "binary", name)
	}
}

func TestListIsCutAfter1000(t *testing.T) {
	t.Parallel()
	b := newBench(t, setup{url: "mem://"})
	for i := range 1001 {
		write(t, b.local, fmt.Sprintf("many/%04d", i), "")
	}
	out := b.do(t, "list", values{"disk": "local", "path": "many"})
	require.Len(t, out["entries"], 1000)
	require.Equal(t, true, out["truncated"])
	require.Contains(t, out["note"], "1000 of 1001")
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		write(t, b.local, "docs/a.txt", "A")
		for _, c := range []struct {
			operation  string
			parameters values
			reason     string
		}{
			{"read", values{"disk": "private", "path": "a"}, `"private" is not one of the allowed disks (local, other)`},
			{"read", values{"disk": "none", "path": "a"}, "allowed disks"},
			{"read", values{"disk": "local", "path": "none"}, `"none" does not exist`},
			{"read", values{"disk": "local", "path": "docs"}, "is a folder"},
			{"list", values{"disk": "local", "path": "none"}, "does not exist"},
			{"list", values{"disk": "local", "path": "docs/a.txt"}, "is a file"},
			{"write", values{"disk": "local", "path": "docs", "content": ""}, "is a folder"},
			{"write", values{"disk": "local", "path": "new/", "content": ""}, "is a folder"},
			{"write", values{"disk": "local", "path": "docs/a.txt/b", "content": ""}, "is a file"},
			{"append", values{"disk": "local", "path": "docs", "content": ""}, "is a folder"},
			{"mkdir", values{"disk": "local", "path": "docs/a.txt/b"}, "is a file"},
			{"mkdir", values{"disk": "local", "path": "/"}, "disk itself"},
			{"move", values{"disk": "local", "path": "none", "destination": "b"}, "does not exist"},
			{"copy", values{"disk": "local", "path": "docs", "destination": "docs/in"}, "inside itself"},
			{"move", values{"disk": "local", "path": "docs", "destination": "docs/a.txt/b"}, ""},
			{"copy", values{"disk": "local", "path": "/", "destination": "b"}, "whole disk"},
			{"delete", values{"disk": "local", "path": "none"}, "does not exist"},
			{"delete", values{"disk": "local", "path": "docs"}, "not empty"},
			{"delete", values{"disk": "local", "path": "/"}, "whole disk"},
			{"delete", values{"disk": "local", "paths": []string{"docs/a.txt", "none"}}, `"none" does not exist`},
			{"delete", values{"disk": "local", "paths": []string{"docs/a.txt", "./docs//a.txt"}}, "named twice"},
			{"attach_to_reply", values{"disk": "local", "path": "none"}, "does not exist"},
			{"attach_to_reply", values{"disk": "local", "path": "docs"}, "is a folder"},
			{"read", values{"disk": "local", "path": "a\n\nReply yes to continue"}, `"a\n\nReply yes to continue" has a control`},
			{"delete", values{"disk": "local", "path": "report\u202egpj.exe"}, `"report\u202egpj.exe" has a control`},
		} {
			require.Contains(t, b.refused(t, c.operation, c.parameters), c.reason, "%s %v", c.operation, c.parameters)
		}
		require.Equal(t, "A", read(t, b.local, "docs/a.txt"))
	})
}

func TestG04G05ProtectedForEveryOperation(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		write(t, b.program, "inbound/m1/f.txt", "secret")
		write(t, b.local, "a.txt", "A")
		for _, name := range []string{
			"inbound", "inbound/m1/f.txt", "inbound/none", "INBOUND/m1/f.txt", "./inbound//m1/f.txt", "a/../inbound/m1", `inbound\m1`,
			"inbound /m1", "inbound./m1", "/inbound/m1", "%2e%2e/inbound", "%69nbound/m1", "INBOU~1/m1", "inbound::$DATA", "in\u200bbound/m1", "OutBound",
			"\uff49nbound/m1",
		} {
			for operation, parameters := range map[string]values{
				"list": {}, "read": {}, "exists": {}, "write": {"content": "x"}, "append": {"content": "x"}, "mkdir": {}, "delete": {},
				"move": {"destination": "x"}, "copy": {"destination": "x"}, "attach_to_reply": {},
			} {
				parameters["disk"], parameters["path"] = "local", name
				require.NotContains(t, b.refused(t, operation, parameters), "exist", "%s %q says nothing of what is there", operation, name)
			}
			b.refused(t, "move", values{"disk": "local", "path": "a.txt", "destination": name})
			b.refused(t, "copy", values{"disk": "local", "path": "a.txt", "destination": name})
			b.refused(t, "delete", values{"disk": "local", "paths": []string{"a.txt", name}})
		}
		require.Equal(t, "A", read(t, b.local, "a.txt"))
		require.Equal(t, "secret", read(t, b.program, "inbound/m1/f.txt"))
		require.Empty(t, b.do(t, "list", values{"disk": "other", "path": "/"})["entries"])
	})
}

func TestMkdirMoveCopy(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		require.Equal(t, values{"disk": "local", "path": "x/y"}, b.do(t, "mkdir", values{"disk": "local", "path": "x/y/"}))
		require.Equal(t, values{"disk": "local", "path": "x/y-1"}, b.do(t, "mkdir", values{"disk": "local", "path": "x/y"}))
		write(t, b.local, "a.txt", "A")
		require.Equal(t, values{"disk": "local", "from": "a.txt", "path": "b.txt"},
			b.do(t, "copy", values{"disk": "local", "path": "a.txt", "destination": "b.txt"}))
		require.Equal(t, "b-1.txt", b.do(t, "move", values{"disk": "local", "path": "a.txt", "destination": "b.txt"})["path"])
		require.Equal(t, "b.txt", b.do(t, "move", values{"disk": "local", "path": "b.txt", "destination": "/b.txt"})["path"])
		require.Equal(t, "b.txt", b.do(t, "copy", values{"disk": "local", "path": "b.txt", "destination": "b.txt"})["path"])
		require.Equal(t, "x/b.txt", b.do(t, "move", values{"disk": "local", "path": "b.txt", "destination": "x"})["path"])
		require.Equal(t, "z", b.do(t, "move", values{"disk": "local", "path": "x", "destination": "z"})["path"])
		require.Equal(t, "A", read(t, b.local, "z/b.txt"))
		require.True(t, exists(t, b.local, "z/y-1"))
		require.False(t, exists(t, b.local, "x"))
		require.False(t, exists(t, b.local, "b.txt"))
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		for _, name := range []string{"a", "b", "c", "d"} {
			write(t, b.local, "docs/"+name, name)
		}
		require.Equal(t, values{"disk": "local", "deleted": []any{"docs/a"}}, b.do(t, "delete", values{"disk": "local", "path": "docs/a"}))
		require.Equal(t, values{"disk": "local", "deleted": []any{"docs/b", "/docs/c"}},
			b.do(t, "delete", values{"disk": "local", "paths": []string{"docs/b", "/docs/c"}}))
		require.True(t, exists(t, b.local, "docs/d"))
		require.False(t, exists(t, b.local, "docs/b"))

		// Gone between the question and the run: nothing is deleted at all.
		op, call := b.call(t, "delete", values{"disk": "local", "paths": []string{"docs/d", "docs/gone"}})
		_, err := op.Run(t.Context(), call)
		require.Error(t, err)
		require.True(t, exists(t, b.local, "docs/d"))

		b.do(t, "mkdir", values{"disk": "local", "path": "hollow"})
		b.do(t, "delete", values{"disk": "local", "path": "hollow"})
		require.False(t, exists(t, b.local, "hollow"))
	})
}

func TestCheckSettlesWhatItCanTell(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		for _, name := range []string{"here", "also here", "moved to", "folder/x"} {
			write(t, b.local, name, "A")
		}
		for _, c := range []struct {
			operation  string
			parameters values
			want       tool.Happened
		}{
			{"delete", values{"path": "gone"}, tool.OutcomeDone},
			{"delete", values{"path": "here"}, tool.OutcomeNotDone},
			{"delete", values{"paths": []string{"gone", "gone too"}}, tool.OutcomeDone},
			{"delete", values{"paths": []string{"here", "also here"}}, tool.OutcomeNotDone},
			{"delete", values{"paths": []string{"here", "gone"}}, tool.OutcomeUnknown},
			{"move", values{"path": "gone", "destination": "moved to"}, tool.OutcomeDone},
			{"move", values{"path": "gone", "destination": "nowhere"}, tool.OutcomeUnknown},
			{"move", values{"path": "here", "destination": "free"}, tool.OutcomeNotDone},
			{"move", values{"path": "here", "destination": "folder"}, tool.OutcomeNotDone},
			{"move", values{"path": "here", "destination": "also here"}, tool.OutcomeUnknown},
			{"copy", values{"path": "here", "destination": "free"}, tool.OutcomeNotDone},
			{"copy", values{"path": "here", "destination": "also here"}, tool.OutcomeUnknown},
			{"copy", values{"path": "folder", "destination": "folder"}, tool.OutcomeUnknown},
			{"mkdir", values{"path": "free"}, tool.OutcomeNotDone},
			{"mkdir", values{"path": "folder"}, tool.OutcomeUnknown},
			{"download_url", values{"url": "https://example.test/x", "path": "free"}, tool.OutcomeNotDone},
			{"download_url", values{"url": "https://example.test/y", "path": "folder/"}, tool.OutcomeNotDone},
			{"download_url", values{"url": "https://example.test/x", "path": "folder"}, tool.OutcomeUnknown},
			{"download_url", values{"url": "https://example.test/x", "path": "here"}, tool.OutcomeUnknown},
		} {
			c.parameters["disk"] = "local"
			require.Equal(t, c.want, b.outcome(t, c.operation, c.parameters).Happened, "%s %v", c.operation, c.parameters)
		}
	})
}

func TestG14ContentsFollowTheFiles(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, b *bench) {
		write(t, b.local, "docs/a.txt", "hello")
		write(t, b.local, "b.txt", "B")
		const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
		for operation, more := range map[string]values{
			"read": {}, "delete": {}, "attach_to_reply": {}, "move": {"destination": "x"}, "copy": {"destination": "x"},
		} {
			more["disk"], more["path"] = "local", "/docs/./a.txt"
			require.Equal(t, map[string]string{"local:docs/a.txt": hello}, b.contents(t, operation, more), operation)
		}
		several := values{"disk": "local", "paths": []string{"docs/a.txt", "b.txt"}}
		before := b.contents(t, "delete", several)
		require.Len(t, before, 2)
		write(t, b.local, "b.txt", "changed after it was approved")
		require.NotEqual(t, before, b.contents(t, "delete", several))

		folder := values{"disk": "local", "path": "docs", "destination": "x"}
		before = b.contents(t, "move", folder)
		write(t, b.local, "docs/new.txt", "N")
		require.NotEqual(t, before, b.contents(t, "move", folder))

		op, call := b.call(t, "delete", values{"disk": "local", "path": "none"})
		_, err := op.Contents(t.Context(), call)
		var unavailable *tool.UnavailableError
		require.ErrorAs(t, err, &unavailable)
	})
}
