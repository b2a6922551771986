package e2e_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

// starterCommand is the command line against a World, with more settings than the World's.
func starterCommand(t *testing.T, w *harness.World, env []string, args ...string) *exec.Cmd {
	t.Helper()
	programs, err := harness.Build()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), programs.Starter, args...)
	command.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "COUNTERSIGN_URL=" + w.URL(), "COUNTERSIGN_DATA_DIR=" + w.Dir,
	}, env...)
	command.Dir = t.TempDir()
	command.WaitDelay = time.Second
	return command
}

// chatting runs the command line with something to read.
func chatting(t *testing.T, w *harness.World, input string, args ...string) harness.Output {
	t.Helper()
	command := starterCommand(t, w, nil, args...)
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &stdout, &stderr
	_ = command.Run()
	require.NotNil(t, command.ProcessState)
	return harness.Output{Code: command.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// terminal is a person at a terminal of the kernel's: util-linux's script has made it.
type terminal struct {
	keys io.WriteCloser

	mu     sync.Mutex
	screen bytes.Buffer
	done   chan struct{}
	code   int
}

func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Write(p)
}

func (s *terminal) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

func atTerminal(t *testing.T, w *harness.World, env []string, args ...string) *terminal {
	t.Helper()
	plain := starterCommand(t, w, env, args...)
	command := exec.CommandContext(t.Context(), "script", "--quiet", "--return", "--echo", "never", "--command", "exec "+strings.Join(plain.Args, " "), os.DevNull)
	command.Env, command.Dir, command.WaitDelay = plain.Env, plain.Dir, time.Second
	s := &terminal{done: make(chan struct{})}
	keys, err := command.StdinPipe()
	require.NoError(t, err)
	s.keys = keys
	command.Stdout, command.Stderr = s, s
	require.NoError(t, command.Start())
	go func() {
		_ = command.Wait()
		s.code = command.ProcessState.ExitCode()
		close(s.done)
	}()
	return s
}

func (s *terminal) types(t *testing.T, keys string) {
	t.Helper()
	_, err := io.WriteString(s.keys, keys)
	require.NoError(t, err)
}

func (s *terminal) await(t *testing.T, text string) {
	t.Helper()
	harness.Until(t, "the terminal shows "+text, func() (string, bool) { return s.shown(), strings.Contains(s.shown(), text) })
}

func (s *terminal) ends(t *testing.T) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-s.done:
		return s.code
	case <-ctx.Done():
		t.Fatalf("it does not end: %s", s.shown())
		return 0
	}
}

// H19: what is no answer at a terminal, on a terminal and without one.
func TestH19Terminal(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_UNSUPPORTED": "route", "COUNTERSIGN_APPROVAL_ROUTE": "web:h19"}})
	xterm := []string{"TERM=xterm-256color"}
	pending := func(path string) (n int) {
		for _, a := range w.API.Pending(t) {
			if strings.Contains(string(a.Parameters), path) {
				n++
			}
		}
		return n
	}

	t.Run("no terminal", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			input string
			args  []string
			code  int
		}{
			"chat </dev/null":  {"", []string{"chat"}, 1},
			"echo yes | chat":  {"yes\n", []string{"chat"}, 1},
			"demo </dev/null":  {"", []string{"demo"}, 2},
			"echo yes | demo":  {"yes\n", []string{"demo"}, 2},
			"an end at once":   {"", []string{"chat", "--stdin"}, 0},
			"no line at all":   {"\n\n", []string{"chat", "--stdin"}, 0},
			"the word is text": {"yes\n", []string{"chat", "--stdin"}, 0},
		} {
			output := chatting(t, w, c.input, c.args...)
			require.Equal(t, c.code, output.Code, "%s: %s%s", name, output.Stdout, output.Stderr)
			require.NotContains(t, output.Stdout, "✅", name)
		}
	})

	t.Run("Ctrl-D at the prompt", func(t *testing.T) {
		t.Parallel()
		s := atTerminal(t, w, xterm, "chat")
		s.await(t, "> ")
		s.types(t, "\x04")
		require.Equal(t, 1, s.ends(t))
		require.Contains(t, s.shown(), "the input ended; nothing more was sent")
		require.Equal(t, 1, strings.Count(s.shown(), "> "), "no loop")
	})

	t.Run("Ctrl-C at the prompt", func(t *testing.T) {
		t.Parallel()
		s := atTerminal(t, w, xterm, "chat")
		s.await(t, "> ")
		s.types(t, "\x03")
		require.Equal(t, 1, s.ends(t))
		require.Contains(t, s.shown(), "interrupted; nothing more was sent")
	})

	t.Run("Ctrl-C while somebody elsewhere is asked", func(t *testing.T) {
		t.Parallel()
		w.Write(t, "ctrl-c.csv", "x")
		s := atTerminal(t, w, xterm, "chat")
		s.await(t, "> ")
		s.types(t, "/file_manager delete disk=local path=ctrl-c.csv\n")
		s.await(t, "Asked in web:h19. From here: starter approvals allow ")
		s.types(t, "\x03")
		require.Equal(t, 1, s.ends(t))
		require.Contains(t, s.shown(), "interrupted; what was started goes on, and questions stay open")
		require.Equal(t, 1, pending("ctrl-c.csv"), "neither allowed nor denied")
		require.True(t, w.Exists("ctrl-c.csv"))
		listed := w.Starter(t, "approvals", "list")
		require.Contains(t, listed.Stdout, "ctrl-c.csv")
	})
}

// G15: what comes back is drawn, and never drives the terminal.
func TestTerminalDraws(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "page.md", "# Title\n\n**3** files &#27;[2J \x1b]0;owned\x07\n\n- a\u202eb\n")
	for name, c := range map[string]struct {
		env    []string
		want   string
		styled bool
	}{
		"styles":    {[]string{"TERM=xterm-256color"}, "\x1b[1m3\x1b[0m files \\u{001B}[2J \\u{001B}]0;owned\\u{0007}", true},
		"NO_COLOR":  {[]string{"TERM=xterm-256color", "NO_COLOR=1"}, "**3** files &#27;[2J \\u{001B}]0;owned\\u{0007}", false},
		"TERM=dumb": {[]string{"TERM=dumb"}, "**3** files &#27;[2J \\u{001B}]0;owned\\u{0007}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := atTerminal(t, w, c.env, "chat")
			s.await(t, "> ")
			s.types(t, "/file_manager read disk=local path=page.md\n")
			s.await(t, c.want)
			s.await(t, `a\u{202E}b`)
			s.types(t, "exit\n")
			require.Equal(t, 0, s.ends(t))
			require.Equal(t, c.styled, strings.Contains(s.shown(), "\x1b"), "%q", s.shown())
			require.NotContains(t, s.shown(), "\x07")
			require.NotContains(t, s.shown(), "\u202e")
		})
	}
	piped := chatting(t, w, "/file_manager read disk=local path=page.md\n", "chat", "--stdin")
	require.Contains(t, piped.Stdout, "**3** files &#27;[2J")
	require.NotContains(t, piped.Stdout, "\x1b")
	object := chatting(t, w, "/file_manager read disk=local path=page.md\n", "chat", "--stdin", "--output", "json")
	require.NotContains(t, object.Stdout, "\x1b")
	require.NotContains(t, object.Stdout, "\u202e")
	require.Contains(t, object.Stdout, `a\u202eb`)
}

// Files are here before they go there, and nothing here is overwritten.
func TestTerminalFiles(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "report.csv", "1;2")
	folder := filepath.Join(t.TempDir(), "here")
	require.NoError(t, os.MkdirAll(folder, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "report.csv"), []byte("mine"), 0o600))
	line := "/file_manager attach_to_reply disk=local path=report.csv\n"
	output := chatting(t, w, line, "chat", "--stdin", "--save-to", folder)
	require.Equal(t, 0, output.Code, output.Stderr)
	require.Contains(t, output.Stdout, "file: report.csv (3 B) "+filepath.Join(folder, "report-1.csv"))
	for name, want := range map[string]string{"report.csv": "mine", "report-1.csv": "1;2"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, want, string(content))
	}
	harness.Eventually(t, "the outbound folder is gone", func() bool {
		left, err := os.ReadDir(w.File("outbound"))
		return err == nil && len(left) == 0
	})
	kept, err := filepath.Glob(filepath.Join(w.Dir, "page", "delivered", "*", "*", "*"))
	require.NoError(t, err)
	require.Empty(t, kept, "and what the gateway kept too")

	output = chatting(t, w, line, "chat", "--stdin")
	require.Equal(t, 0, output.Code, output.Stderr)
	require.Contains(t, output.Stdout, "file: report.csv (3 B) "+filepath.Join(w.Dir, "received"))
}
