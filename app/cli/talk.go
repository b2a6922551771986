package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
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
	Size int64  `json:"size"`
	URL  string `json:"url"`
}

func (s *starter) send() *cobra.Command {
	key := ""
	command := &cobra.Command{
		Use: "send TEXT …", Short: "Send a message to the agent and print its answer", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var answer messageAnswer
			request := map[string]string{"text": strings.Join(args, " "), "key": key}
			if _, err := s.call(c.Context(), http.MethodPost, "/api/message", request, &answer); err != nil {
				return plain(err)
			}
			return s.show(answer, func(out *printer) {
				out.line("%s", answer.Text)
				for _, f := range answer.Attachments {
					out.line("file: %s (%d bytes) %s", f.Name, f.Size, f.URL)
				}
				_, _ = fmt.Fprintf(s.Stderr, "conversation: --key %s\n", answer.Key)
			})
		},
	}
	command.Flags().StringVar(&key, "key", "", "go on with this conversation")
	return command
}

func (s *starter) chat() *cobra.Command {
	piped := false
	command := &cobra.Command{
		Use: "chat", Short: "Talk to the agent here", Args: cobra.NoArgs,
		Long: "Talk to the agent here. `exit` ends it. In the terminal nobody can be asked: COUNTERSIGN_UNSUPPORTED says\nwhat happens to calls that would ask.",
		RunE: func(c *cobra.Command, _ []string) error {
			if !s.IsTTY && !piped {
				return failed("there is no terminal to talk at; `starter send` sends one message, --stdin takes lines from a pipe")
			}
			return s.talk(c.Context(), piped)
		},
	}
	command.Flags().BoolVar(&piped, "stdin", false, "take lines from a pipe, until its end")
	return command
}

// talk reads lines until exit (done) or the end of the input: done for a pipe, else failed,
// since nobody said so.
func (s *starter) talk(ctx context.Context, piped bool) error {
	lines := bufio.NewReader(s.Stdin)
	for {
		if !piped {
			_, _ = fmt.Fprint(s.Stdout, "> ")
		}
		line, err := s.readLine(ctx, lines)
		text := strings.TrimSpace(line)
		if err != nil && text == "" {
			if piped && errors.Is(err, io.EOF) {
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
		if err := s.exchange(ctx, text); err != nil {
			return err
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

func (s *starter) exchange(ctx context.Context, text string) error {
	var answer messageAnswer
	request := map[string]string{"user": s.User, "text": text}
	if _, err := s.call(ctx, http.MethodPost, "/api/terminal/messages", request, &answer); err != nil {
		return plain(err)
	}
	paths, err := s.fetch(ctx, answer.Attachments)
	if err != nil {
		return err
	}
	return s.show(answer, func(out *printer) {
		out.line("%s", answer.Text)
		for _, path := range paths {
			out.line("file: %s", path)
		}
	})
}

// fetch saves the answer's files under the data folder, and only then deletes them at the
// gateway.
func (s *starter) fetch(ctx context.Context, files []file) (paths []string, err error) {
	folders := map[string]bool{}
	for _, f := range files {
		address, err := url.Parse(f.URL)
		if err != nil {
			return paths, failed("the gateway named a file at no address")
		}
		parts := strings.Split(strings.TrimPrefix(address.Path, "/api/terminal/files/"), "/")
		path, err := s.save(ctx, address.EscapedPath(), parts[0], f.Name)
		if err != nil {
			return paths, err
		}
		paths = append(paths, path)
		folders[parts[0]] = true
	}
	for uuid := range folders {
		if _, err := s.call(ctx, http.MethodDelete, "/api/terminal/files/"+url.PathEscape(uuid), nil, nil); err != nil {
			return paths, plain(err)
		}
	}
	return paths, nil
}

// save writes to {data folder}/received/{uuid}/{name}. The path is asked of our own
// gateway, whatever host the answer names, so that the token goes nowhere else.
func (s *starter) save(ctx context.Context, path, uuid, name string) (string, error) {
	response, err := s.open(ctx, http.MethodGet, path, nil)
	if err != nil {
		return "", plain(err)
	}
	defer response.Body.Close()
	folder := filepath.Join(s.dataDir(), "received", base(uuid))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", failed("save %q: %v", name, err)
	}
	target := filepath.Join(folder, base(name))
	out, err := os.OpenFile(target, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", failed("save %q: %v", name, err)
	}
	_, err = io.Copy(out, response.Body)
	if err := errors.Join(err, out.Close()); err != nil {
		return "", failed("save %q: %v", name, err)
	}
	return target, nil
}

// base is the last element of a name from outside, never one that leads elsewhere.
func base(name string) string {
	name = filepath.Base(filepath.Clean("/" + strings.ReplaceAll(name, `\`, "/")))
	if name == "/" || name == "." || strings.ContainsRune(name, 0) {
		return "file"
	}
	return name
}
