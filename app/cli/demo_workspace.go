package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

func (s *starter) demoWorkspace() *cobra.Command {
	var answer string
	var timeout time.Duration
	command := &cobra.Command{
		Use: "workspace", Short: "See grants and a handoff: the example workspace, in five steps", Args: cobra.NoArgs,
		Long: "See grants and a handoff with the example workspace, in five steps: saving asks once, a reset asks\n" +
			"every time, publishing is yours to do on the page, cancelled it did not happen, and done it counts\n" +
			"only once the workspace's data shows it.",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.act(c.Context(), answer, []string{"yes", "no"}, timeout, func(d *demo, ctx context.Context) error {
				return (&walk{demo: d, thread: "demo-" + ulid.Make().String()}).run(ctx)
			})
		},
	}
	command.Flags().StringVar(&answer, "answer", "", "answer without a terminal: yes or no; the last step, which only a person can do, is then cancelled")
	command.Flags().DurationVar(&timeout, "timeout", 0, "give up after this long (default: when a question ends)")
	return command
}

// walk is the demo of the workspace, in a conversation of its own.
type walk struct {
	*demo
	thread string
	calls  []contract.State
}

func (w *walk) run(ctx context.Context) error {
	var err error
	if w.about, err = w.starter.about(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{w.save, w.reset, w.cancel, w.publish} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if w.output == "json" {
		if err := w.show(map[string]any{"thread": w.thread, "calls": w.calls}, nil); err != nil {
			return err
		}
	}
	if w.out.err != nil {
		return failed("cannot print: %v", w.out.err)
	}
	return nil
}

// save is asked about once: after "always" a later call of this conversation goes on.
func (w *walk) save(ctx context.Context) error {
	w.out.line("1. The agent wants to save the workspace's name. This asks; `always` covers later calls too.")
	first, err := w.asked(ctx, "save_workspace_name", `{"name":"Atlas"}`, "always")
	if err != nil {
		return err
	}
	w.out.line("   Once more, with another name:")
	again, err := w.asked(ctx, "save_workspace_name", `{"name":"Borealis"}`, "yes")
	if err != nil {
		return err
	}
	decided := func(s contract.State) string {
		if s.Approval == nil || s.Approval.Decision == nil {
			return ""
		}
		return s.Approval.Decision.Decision
	}
	if decided(first) == chat.AllowAlways && decided(again) != "" {
		return failed("this should not be: it was asked again in spite of the standing answer")
	}
	return nil
}

// reset asks each time and offers nothing else.
func (w *walk) reset(ctx context.Context) error {
	w.out.line("2. The agent wants to reset it. This asks every time, and `always` is not offered:")
	state, err := w.asked(ctx, "reset_workspace", `{}`, "yes")
	if err == nil && state.Approval != nil && state.Approval.Always {
		return failed("this should not be: a dangerous call offers a standing answer")
	}
	return err
}

// asked makes a call that may ask, gets the answer and waits for the end.
func (w *walk) asked(ctx context.Context, operation, parameters, agree string) (contract.State, error) {
	state, err := w.ask(ctx, w.request(operation, parameters))
	if err != nil {
		return state, err
	}
	if !ended(state.Status) {
		w.out.line("\n   %s\n", state.Approval.Prompt)
		answer := w.answer
		if answer == "yes" {
			w.answer = agree
		}
		err := w.reply(ctx, state, "   ")
		w.answer = answer
		if err != nil {
			return state, err
		}
	} else if state.Code == "" {
		w.out.line("   Nobody is asked: the standing answer covers it.")
	}
	return w.ends(ctx, state.ID)
}

// cancel takes back a step that only a person can do.
func (w *walk) cancel(ctx context.Context) error {
	w.out.line("3. The agent wants to publish. Only a person can, on the workspace's page:")
	state, err := w.handOff(ctx)
	if err != nil || ended(state.Status) {
		return err
	}
	w.out.line("4. It is cancelled: the agent hears that the step did not happen.")
	if err := w.say(ctx, state.ID, "cancel"); err != nil {
		return err
	}
	_, err = w.ends(ctx, state.ID)
	return err
}

// publish says done too early, and waits for the person where there is one.
func (w *walk) publish(ctx context.Context) error {
	w.out.line("5. Once more. “I've done it” is said before it is done:")
	state, err := w.handOff(ctx)
	if err != nil || ended(state.Status) {
		return err
	}
	if err := w.say(ctx, state.ID, "complete"); err != nil {
		return err
	}
	if _, err := w.call(ctx, http.MethodGet, invocationPath(state.ID), nil, &state); err != nil {
		return err
	}
	if ended(state.Status) || state.Handoff == nil || state.Handoff.Missing == "" {
		return failed("this should not be: nothing is said to be missing, status %s", state.Status)
	}
	w.out.line("   It stays open. Missing: %s.", state.Handoff.Missing)
	if w.answer != "" {
		w.out.line("   Nobody is here to do it, so it is cancelled.")
		if err := w.say(ctx, state.ID, "cancel"); err != nil {
			return err
		}
	} else {
		w.out.line("   Your turn: do the steps at %s until %s.", w.page(state), state.Handoff.ExpiresAt.UTC().Format("15:04:05 MST"))
	}
	_, err = w.ends(ctx, state.ID)
	return err
}

func (w *walk) handOff(ctx context.Context) (contract.State, error) {
	state, err := w.ask(ctx, w.request("publish_changes", `{}`))
	switch {
	case err != nil:
		return state, err
	case ended(state.Status) && state.Handoff != nil && state.Handoff.Already:
		w.out.line("   It is published already, so nobody is asked.")
		return state, nil
	case ended(state.Status):
		return state, failed("nobody was asked: %s %s %s", state.Status, state.Code, state.Reason)
	}
	w.out.line("\n   👉 %s", state.Handoff.Reason)
	for n, step := range state.Handoff.Steps {
		w.out.line("   %d. %s", n+1, step.Text)
	}
	w.out.line("   The page: %s\n", w.page(state))
	return state, nil
}

func (w *walk) page(state contract.State) string {
	if state.Handoff.Page != "" {
		return state.Handoff.Page
	}
	return w.base() + "/workspace" // a handoff on the page itself names no other
}

func (w *walk) request(operation, parameters string) startRequest {
	return startRequest{
		ID: ulid.Make().String(), Tool: "workspace", Operation: operation, Parameters: json.RawMessage(parameters),
		Connector: chat.Web, ThreadKey: w.thread,
	}
}

// say answers a handoff.
func (w *walk) say(ctx context.Context, id, verb string) error {
	_, err := w.call(ctx, http.MethodPost, "/api/handoffs/"+url.PathEscape(id)+"/"+verb, decisionRequest{}, nil)
	return err
}

// ends waits for the end of a call and says what it was.
func (w *walk) ends(ctx context.Context, id string) (contract.State, error) {
	state, err := w.wait(ctx, id, 0, func(contract.State) {})
	if err != nil {
		return state, err
	}
	w.calls = append(w.calls, state)
	line := state.Status
	if state.Code != "" {
		line += " (" + state.Code + ", " + state.Reason + ")"
	}
	w.out.line("   → %s\n", line)
	if state.Code == "OUT_OF_SCOPE" {
		return state, failed("the example workspace is not on here: set COUNTERSIGN_EXAMPLES=true where bin/worker runs (make run has it)")
	}
	return state, nil
}
