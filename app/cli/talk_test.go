package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// H19: Ctrl-C at the prompt, and while an answer is awaited, sends nothing and decides nothing.
func TestChatInterrupted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tty = true
	waiting, write := io.Pipe()
	t.Cleanup(func() { _ = write.Close() })
	b.stdin = waiting
	ctx, interrupt := context.WithCancel(t.Context())
	b.params = func(p *Params) { p.HTTP = &http.Client{Transport: firstThen(interrupt)} }
	require.Equal(t, Failed, b.runIn(ctx, t, "chat"))
	require.Contains(t, b.stderr.String(), "interrupted; nothing more was sent")
	require.Empty(t, b.engine.talks)
}

// firstThen lets the first request through and calls then after it.
type firstThen func()

func (f firstThen) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	f()
	return response, err
}

// H19: without a gateway, a chat ends before anything is typed.
func TestChatWithoutGateway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.tty, b.stdin = true, strings.NewReader("hello\nexit\n")
	b.env["COUNTERSIGN_URL"] = "http://127.0.0.1:1"
	require.Equal(t, Failed, b.run(t, "chat"))
	require.Empty(t, b.stdout.String(), "no prompt either")
}

// A refusal is told; a person goes on, a script ends.
func TestChatGoesOnAfterARefusal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.turn = contract.TurnResult{Text: "fine"}
	long := strings.Repeat("a", 70_000) + "\nshort\n"
	b.tty, b.stdin = true, strings.NewReader(long+"exit\n")
	require.Equal(t, Done, b.run(t, "chat"))
	require.Contains(t, b.stderr.String(), "longer than 65536 bytes")
	require.Len(t, b.engine.talks, 1)
	b.tty, b.stdin = false, strings.NewReader(long)
	require.Equal(t, Failed, b.run(t, "chat", "--stdin"))
	require.Len(t, b.engine.talks, 1)
}

func TestChatShowsMarkdown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.turn = contract.TurnResult{Text: "# Done\n\n**3** files &#27;[2J"}
	for _, c := range []struct {
		name, term string
		colour     bool
		want       string
	}{
		{"a terminal", "xterm-256color", true, "\x1b[1mDone\x1b[0m\n\n\x1b[1m3\x1b[0m files \\u{001B}[2J\n"},
		{"a dumb terminal", "dumb", true, "# Done\n\n**3** files &#27;[2J\n"},
		{"a pipe, or NO_COLOR", "xterm-256color", false, "# Done\n\n**3** files &#27;[2J\n"},
	} {
		b.env["TERM"] = c.term
		b.params = func(p *Params) { p.Colour = c.colour }
		b.stdin = strings.NewReader("hello\n")
		require.Equal(t, Done, b.run(t, "chat", "--stdin"), c.name)
		require.Equal(t, c.want, b.stdout.String(), c.name)
	}
}

func TestChatSavesFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	folder := filepath.Join(t.TempDir(), "in", "here")
	chatting := func(args ...string) int {
		b.stdin = strings.NewReader("go\n")
		return b.run(t, append([]string{"chat", "--stdin"}, args...)...)
	}
	b.engine.turn = contract.TurnResult{Text: "here", Files: []chat.File{{Name: "a.csv", Size: 1500}, {Name: "evil\x1b[2J\u202egpj.exe"}}}
	fill := func() { b.delivered.files["a.csv"], b.delivered.files["evil\x1b[2J\u202egpj.exe"] = "1;2", "x" }

	fill()
	require.Equal(t, Done, chatting("--save-to", folder))
	fill()
	require.Equal(t, Done, chatting("--save-to", folder))
	require.Contains(t, b.stdout.String(), "file: a.csv (1.5 KB) "+filepath.Join(folder, "a-1.csv")+"\n", "nothing is overwritten")
	require.Contains(t, b.stdout.String(), `file: evil\u{001B}[2J\u{202E}gpj.exe`, "G15")
	names, err := os.ReadDir(folder)
	require.NoError(t, err)
	var there []string
	for _, name := range names {
		there = append(there, name.Name())
	}
	require.Equal(t, []string{"a-1.csv", "a.csv", "evil[2Jgpj-1.exe", "evil[2Jgpj.exe"}, there, "and nothing half done is left")
	require.Empty(t, b.delivered.files)

	// One file that does not come keeps the message's files where they are, and the answer is shown.
	b.delivered.files["a.csv"] = "1;2"
	require.Equal(t, Failed, chatting("--save-to", folder))
	require.Contains(t, b.stdout.String(), "here\nfile: a.csv")
	require.Contains(t, b.stderr.String(), `evil\u{001B}[2J\u{202E}gpj.exe was not saved`)
	require.Contains(t, b.stderr.String(), "it is still at http://")
	require.NotEmpty(t, b.delivered.files)

	// The gateway could not keep them.
	b.engine.turn = contract.TurnResult{Text: "here", Undelivered: "the disk is full"}
	require.Equal(t, Failed, chatting())
	require.Contains(t, b.stdout.String(), "here")
	require.Contains(t, b.stderr.String(), "could not be kept")
}

// A long wait says which person elsewhere it waits for, once.
func TestChatSaysWhoIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	told, release := make(chan struct{}), make(chan struct{})
	b.engine.answer = func() contract.TurnResult {
		<-release
		return contract.TurnResult{Text: "done"}
	}
	route := chat.Thread{Connector: chat.Telegram, Key: "-100123"}
	ask := func(id string, thread chat.Thread) {
		expires := b.now.Add(2 * time.Minute)
		b.engine.calls[id] = &call{state: contract.State{
			Result: contract.Result{ID: id, Status: "waiting", Approval: &contract.Approval{
				ID: id, Status: "pending", Prompt: "⚠️ Delete \x1b[2J?", Connector: route.Connector, ThreadKey: route.Key, ExpiresAt: &expires,
			}}, Thread: thread,
		}}
	}
	ask("ours", chat.Thread{Connector: chat.Terminal, Key: "terminal:ada"})
	ask("theirs", chat.Thread{Connector: chat.Terminal, Key: "terminal:bob"})
	looks := 0
	b.params = func(p *Params) {
		p.Sleep = func(ctx context.Context, _ time.Duration) error {
			if looks++; looks == 4 {
				close(told)
			}
			return ctx.Err()
		}
	}
	var done sync.WaitGroup
	done.Go(func() {
		<-told
		close(release)
	})
	b.stdin = strings.NewReader("delete it\n")
	require.Equal(t, Done, b.run(t, "chat", "--stdin"))
	done.Wait()
	require.Equal(t, "done\n", b.stdout.String())
	require.Equal(t, "… waiting for a person:\n  ⚠️ Delete \\u{001B}[2J?\n"+
		"  Asked in telegram:-100123. From here: starter approvals allow ours\n", b.stderr.String())
}

func TestSendSavesFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.turn = contract.TurnResult{Text: "here", Files: []chat.File{{Name: "a.csv", Size: 3}}}
	require.Equal(t, Done, b.run(t, "send", "hi"))
	require.Contains(t, b.stdout.String(), "file: a.csv (3 B) http://")
	b.outbound["a.csv"] = "1;2"
	folder := t.TempDir()
	require.Equal(t, Done, b.run(t, "send", "hi", "--save-to", folder))
	content, err := os.ReadFile(filepath.Join(folder, "a.csv"))
	require.NoError(t, err)
	require.Equal(t, "1;2", string(content))
	require.NotEmpty(t, b.outbound, "the API deletes nothing")
}
