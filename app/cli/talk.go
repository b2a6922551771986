package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersignhq/countersign/chat"
)

// messageAnswer is what POST /api/message and /api/terminal/messages return.
type messageAnswer struct {
	Success     bool   `json:"success"`
	Text        string `json:"text"`
	Key         string `json:"key"`
	Attachments []file `json:"attachments"`
}

type file struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes
	URL  string `json:"url"`
	// Path is where it was saved; not from the gateway.
	Path string `json:"path,omitempty"`
}

func (s *starter) send() *cobra.Command {
	key, folder := "", ""
	command := &cobra.Command{
		Use: "send TEXT …", Short: "Send a message to the agent and print its answer", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var answer messageAnswer
			request := map[string]string{"text": strings.Join(args, " "), "key": key}
			if _, err := s.call(c.Context(), http.MethodPost, "/api/message", request, &answer); err != nil {
				return plain(err)
			}
			var broken error
			if folder != "" {
				broken = s.receive(c.Context(), answer.Attachments, folder)
			}
			err := s.show(answer, func(out *printer) {
				out.line("%s", answer.Text)
				out.files(answer.Attachments)
				_, _ = fmt.Fprintf(s.Stderr, "conversation: --key %s\n", harmless(answer.Key))
			})
			return together(err, broken)
		},
	}
	command.Flags().StringVar(&key, "key", "", "go on with this conversation")
	command.Flags().StringVar(&folder, "save-to", "", "save the answer's files in this folder (default: only name their addresses)")
	return command
}

// talk is a conversation at the terminal.
type talk struct {
	*starter
	// piped: lines come from a pipe, and the first failure ends it.
	piped bool
	// folder for the answers' files; empty is {data folder}/received/{uuid}.
	folder string
}

func (s *starter) chat() *cobra.Command {
	t := &talk{starter: s}
	command := &cobra.Command{
		Use: "chat", Short: "Talk to the agent here", Args: cobra.NoArgs,
		Long: "Talk to the agent here. `exit` ends it; Ctrl-C leaves what was started as it is.\n\n" +
			"In the terminal nobody can be asked: COUNTERSIGN_UNSUPPORTED says what happens to calls that would ask.\n" +
			"The files of an answer are saved here, and then deleted at the gateway.",
		RunE: func(c *cobra.Command, _ []string) error {
			if !s.IsTTY && !t.piped {
				return failed("there is no terminal to talk at; `starter send` sends one message, --stdin takes lines from a pipe")
			}
			if _, err := s.about(c.Context()); err != nil {
				return plain(err)
			}
			return t.run(c.Context())
		},
	}
	command.Flags().BoolVar(&t.piped, "stdin", false, "take lines from a pipe, until its end")
	command.Flags().StringVar(&t.folder, "save-to", "", "save files in this folder (default: received/ in COUNTERSIGN_DATA_DIR)")
	return command
}

// run reads lines until exit (done) or the end of the input: done for a pipe, else failed,
// since nobody said so.
func (t *talk) run(ctx context.Context) error {
	lines := bufio.NewReader(t.Stdin)
	for {
		if !t.piped {
			_, _ = fmt.Fprint(t.Stdout, "> ")
		}
		line, err := t.readLine(ctx, lines)
		text := strings.TrimSpace(line)
		if !t.piped && (err != nil || ctx.Err() != nil) {
			_, _ = fmt.Fprintln(t.Stdout) // the cursor is still behind the prompt
		}
		if ctx.Err() != nil {
			return failed("interrupted; nothing more was sent")
		}
		if err != nil && text == "" {
			if t.piped && errors.Is(err, io.EOF) {
				return nil
			}
			return failed("the input ended; nothing more was sent")
		}
		switch text {
		case "":
			continue
		case "exit", "quit":
			return nil
		}
		if err := t.exchange(ctx, text); err != nil {
			if t.piped || ctx.Err() != nil {
				return err
			}
			// A person can do something about it and go on.
			_, _ = fmt.Fprintln(t.Stderr, harmless(err.Error()))
		}
	}
}

// readLine gives up when the context ends, though the read cannot be stopped.
func (s *starter) readLine(ctx context.Context, lines *bufio.Reader) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := lines.ReadString('\n')
		read <- result{line, err}
	}()
	select {
	case r := <-read:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// exchange sends a line and shows the answer, also where its files do not come.
func (t *talk) exchange(ctx context.Context, text string) error {
	thread := chat.Thread{Connector: chat.Terminal, Key: "terminal:" + t.User}
	stop := t.watch(ctx, thread)
	var answer messageAnswer
	_, err := t.call(ctx, http.MethodPost, "/api/terminal/messages", map[string]string{"user": t.User, "text": text}, &answer)
	stop()
	if err != nil {
		return plain(err)
	}
	broken := t.receiveAll(ctx, answer.Attachments)
	err = t.show(answer, func(out *printer) {
		if t.styled() {
			out.raw("%s", pretty(answer.Text))
		} else {
			out.line("%s", answer.Text)
		}
		out.files(answer.Attachments)
	})
	if !answer.Success {
		broken = together(broken, failed("the files of this answer could not be kept; the gateway's log says why"))
	}
	return together(err, broken)
}

// styled tells whether Markdown is shown with styles.
func (s *starter) styled() bool { return s.Colour && s.Getenv("TERM") != "dumb" }
