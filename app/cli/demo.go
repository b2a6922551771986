package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

func (s *starter) demo() *cobra.Command {
	var answer string
	var timeout time.Duration
	command := &cobra.Command{
		Use: "demo", Short: "See it work: a file is deleted, or not, by your answer", Args: cobra.NoArgs,
		Long: "See it work: a file is made, the agent wants to delete it, you are asked, and your answer decides.\n" +
			"Only `yes` on a line of its own is a yes.",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.act(c.Context(), answer, []string{"yes", "no", "none"}, timeout, (*demo).run)
		},
	}
	command.AddCommand(s.demoWorkspace())
	command.Flags().StringVar(&answer, "answer", "", "answer without a terminal: yes, no, or none (waits until the question times out)")
	command.Flags().DurationVar(&timeout, "timeout", 0, "give up after this long (default: when the question ends)")
	return command
}

// act runs a demo with answers from the terminal or, where --answer is given, without one.
func (s *starter) act(ctx context.Context, answer string, answers []string, timeout time.Duration, run func(*demo, context.Context) error) error {
	choice := strings.Join(answers, ", ")
	if answer != "" && !slices.Contains(answers, answer) {
		return misused("--answer must be one of %s", choice)
	}
	if answer == "" && !s.IsTTY {
		return misused("there is no terminal to answer in; use --answer with one of %s", choice)
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
		defer cancel()
	}
	d := &demo{starter: s, answer: answer, out: &printer{to: s.Stdout}, lines: bufio.NewReader(s.Stdin)}
	if s.output == "json" {
		d.out.to = s.Stderr
	}
	err := run(d, ctx)
	if errors.Is(context.Cause(ctx), errTimeout) {
		return &exit{code: TimedOut, message: "--timeout is over; the question stays open until its own end"}
	}
	return plain(err)
}

var errTimeout = errors.New("the demo's time is over")

type demo struct {
	*starter
	answer string
	out    *printer
	lines  *bufio.Reader
	about  about
	path   string
}

// report is the demo's --output json.
type report struct {
	ID     string          `json:"id"`
	Path   string          `json:"path"`
	Prompt string          `json:"prompt"`
	Result contract.Result `json:"result"`
	Exists bool            `json:"exists"`
	UI     string          `json:"ui,omitempty"`
}

func (d *demo) run(ctx context.Context) error {
	var err error
	if d.about, err = d.starter.about(ctx); err != nil {
		return err
	}
	id := ulid.Make().String()
	d.path = "reports/demo-" + d.Now().UTC().Format("20060102-150405") + "-" + id[len(id)-4:] + ".csv"
	d.out.line("1. A file is made: %s on disk local", d.path)
	made, err := d.step(ctx, "write", map[string]string{"disk": "local", "path": d.path, "content": "month,total\nJanuary,42\n"})
	if err != nil {
		return err
	}
	if made.Status != "completed" {
		return failed("the file could not be made: %s %s", made.Code, made.Reason)
	}
	d.out.line("2. A tool call wants to delete it. It was not run; a person is asked first:")
	encoded, err := json.Marshal(map[string]string{"disk": "local", "path": d.path})
	if err != nil {
		return err
	}
	state, err := d.ask(ctx, startRequest{
		ID: id, Tool: "file_manager", Operation: "delete", Parameters: encoded, Connector: chat.Web, ThreadKey: "demo-" + id,
	})
	if err != nil {
		return err
	}
	if ended(state.Status) {
		return failed("nobody was asked: %s %s %s", state.Status, state.Code, state.Reason)
	}
	d.out.line("\n   %s\n", state.Approval.Prompt)
	if ui := d.about.workflow(id); ui != "" {
		d.out.line("   It waits in Temporal: %s", ui)
	}
	if err := d.reply(ctx, state, "3. "); err != nil {
		return err
	}
	if state, err = d.wait(ctx, id, 0, func(contract.State) {}); err != nil {
		return err
	}
	return d.finish(ctx, state)
}

// step runs a file_manager operation that nobody is asked about.
func (d *demo) step(ctx context.Context, operation string, parameters map[string]string) (contract.State, error) {
	encoded, err := json.Marshal(parameters)
	if err != nil {
		return contract.State{}, err
	}
	var started startAnswer
	request := startRequest{Tool: "file_manager", Operation: operation, Parameters: encoded}
	if _, err := d.call(ctx, http.MethodPost, "/api/invocations", request, &started); err != nil {
		return contract.State{}, err
	}
	return d.wait(ctx, started.ID, 0, func(contract.State) {})
}

// ask starts a call and waits until its question is out, or it has ended without one.
func (d *demo) ask(ctx context.Context, request startRequest) (contract.State, error) {
	if _, err := d.call(ctx, http.MethodPost, "/api/invocations", request, nil); err != nil {
		return contract.State{}, err
	}
	for {
		var state contract.State
		if _, err := d.call(ctx, http.MethodGet, invocationPath(request.ID), nil, &state); err != nil {
			return state, err
		}
		if ended(state.Status) || state.Approval != nil && state.Approval.ExpiresAt != nil || state.Handoff != nil && state.Handoff.ExpiresAt != nil {
			return state, nil
		}
		if err := d.Sleep(ctx, 100*time.Millisecond); err != nil {
			return state, failed("interrupted before the question was out")
		}
	}
}

// reply gets the answer and hands it in; without one, the question's time runs out.
func (d *demo) reply(ctx context.Context, state contract.State, lead string) error {
	expires := *state.Approval.ExpiresAt
	switch d.answer {
	case "yes", "no", "always":
		d.out.line("%sAnswered for you: %s", lead, d.answer)
		return d.decide(ctx, state, d.answer)
	case "none":
		d.out.line("%sNobody answers. The question ends at %s.", lead, expires.UTC().Format("15:04:05 MST"))
		return d.countdown(ctx, expires)
	}
	for {
		_, _ = fmt.Fprintf(d.out.to, "%sYour answer (%s left) > ", lead, max(expires.Sub(d.Now()), 0).Round(time.Second))
		limited, cancel := context.WithTimeout(ctx, max(expires.Sub(d.Now()), 0))
		line, err := d.readLine(limited, d.lines)
		cancel()
		if approval.Read(line).Kind != approval.NoText && !errors.Is(err, context.DeadlineExceeded) {
			return d.decide(ctx, state, line)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return failed("interrupted; the question stays open")
		case errors.Is(err, context.DeadlineExceeded):
			d.out.line("\n   The time is over.")
			return nil
		case err != nil: // the end of the input is no answer
			return failed("no answer was given; the question stays open until %s", expires.UTC().Format("15:04:05 MST"))
		}
	}
}

func (d *demo) decide(ctx context.Context, state contract.State, text string) error {
	read := approval.Read(text)
	request := decisionRequest{Decision: chat.Deny, Reason: read.Text}
	switch {
	case read.Kind == approval.Yes:
		request = decisionRequest{Decision: chat.Allow}
	case read.Kind == approval.Always && state.Approval.Always:
		request = decisionRequest{Decision: chat.AllowAlways}
	}
	_, err := d.call(ctx, http.MethodPost, "/api/approvals/"+url.PathEscape(state.ID)+"/decision", request, nil)
	var refused *problem
	if errors.As(err, &refused) && (refused.Status == http.StatusConflict || refused.Status == http.StatusGone) {
		d.out.line("   %s", refused.Detail) // the result says how
		return nil
	}
	return err
}

func (d *demo) countdown(ctx context.Context, expires time.Time) error {
	every := 30 * time.Second
	if d.IsTTY {
		every = time.Second
	}
	for left := expires.Sub(d.Now()); left > 0; left = expires.Sub(d.Now()) {
		if d.IsTTY {
			_, _ = fmt.Fprintf(d.Stderr, "\r   %s left  ", left.Round(time.Second))
		} else {
			_, _ = fmt.Fprintf(d.Stderr, "   %s left\n", left.Round(time.Second))
		}
		if err := d.Sleep(ctx, min(every, left)); err != nil {
			return failed("interrupted; the question stays open")
		}
	}
	if d.IsTTY {
		_, _ = fmt.Fprintln(d.Stderr)
	}
	return nil
}

// finish says what became of it, looks at the disk, and fails if the two do not agree.
func (d *demo) finish(ctx context.Context, state contract.State) error {
	looked, err := d.step(ctx, "exists", map[string]string{"disk": "local", "path": d.path})
	if err != nil {
		return err
	}
	there, err := exists(looked)
	if err != nil {
		return err
	}
	line := state.Status
	if state.Code != "" {
		line += " (" + state.Code + ", " + state.Reason + ")"
	}
	d.out.line("4. The call ended: %s", line)
	if there {
		d.out.line("5. The file is still there.")
	} else {
		d.out.line("5. The file is gone.")
	}
	ui := d.about.workflow(state.ID)
	if ui != "" {
		d.out.line("\nAll of it, step by step: %s", ui)
	}
	if d.output == "json" {
		doc := report{ID: state.ID, Path: d.path, Result: state.Result, Exists: there, UI: ui}
		if state.Approval != nil {
			doc.Prompt = state.Approval.Prompt
		}
		if err := d.show(doc, nil); err != nil {
			return err
		}
	}
	allowed := state.Approval != nil && state.Approval.Decision != nil && state.Approval.Decision.Decision != chat.Deny
	if wants := map[string]bool{"yes": true, "no": false, "none": false}; d.answer != "" && wants[d.answer] != allowed {
		return failed("the answer was %s, but somebody else decided otherwise, or it came too late", d.answer)
	}
	if (state.Status == "completed") == there || allowed == there {
		return failed("this should not be: status %s, and the file is there: %t", state.Status, there)
	}
	if d.out.err != nil {
		return failed("cannot print: %v", d.out.err)
	}
	return nil
}

// exists reads the output of file_manager exists: {"exists": bool}, or a bool.
func exists(state contract.State) (bool, error) {
	var bare *bool
	if state.Status == "completed" && json.Unmarshal(state.Output, &bare) == nil && bare != nil {
		return *bare, nil
	}
	var object struct {
		Exists *bool `json:"exists"`
	}
	if state.Status != "completed" || json.Unmarshal(state.Output, &object) != nil || object.Exists == nil {
		return false, failed("the disk could not be looked at: %s %s %s", state.Status, state.Code, state.Reason)
	}
	return *object.Exists, nil
}
