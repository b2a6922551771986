package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersignhq/countersign/contract"
)

// startRequest is the body of POST /api/invocations.
type startRequest struct {
	ID         string          `json:"id,omitempty"`
	Tool       string          `json:"tool"`
	Operation  string          `json:"operation"`
	Parameters json.RawMessage `json:"parameters"`
	Connector  string          `json:"connector,omitempty"`
	ThreadKey  string          `json:"thread_key,omitempty"`
	Requester  string          `json:"requester,omitempty"`
}

type startAnswer struct {
	ID         string `json:"id"`
	WorkflowID string `json:"workflow_id"`
}

// untilTheEnd is --wait's default.
const untilTheEnd = time.Duration(-1)

func (s *starter) invoke() *cobra.Command {
	var request startRequest
	var raw string
	wait := untilTheEnd
	command := &cobra.Command{
		Use:   "invoke TOOL OPERATION [key=value …]",
		Short: "Run an operation of a tool, and wait for its end",
		Long: "Run an operation of a tool, and wait for its end.\n\nValues are texts; \"quoted\", [lists, of, texts] and {\"json\": 1} are what they look like;\n" +
			"key:=3 and key:=true are JSON.",
		Example: "  starter invoke file_manager list disk=local path=reports\n" +
			"  starter invoke file_manager delete disk=local paths=[a.csv,b.csv] --connector web --thread ops",
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			request.Tool, request.Operation = args[0], args[1]
			switch {
			case raw != "" && len(args) > 2:
				return misused("give --parameters or key=value, not both")
			case raw != "" && !json.Valid([]byte(raw)):
				return misused("--parameters is not JSON")
			case raw != "":
				request.Parameters = json.RawMessage(raw)
			default:
				var err error
				if request.Parameters, err = parameters(args[2:]); err != nil {
					return misused("%v", err)
				}
			}
			return s.runInvoke(c, request, wait)
		},
	}
	flags := command.Flags()
	flags.StringVar(&raw, "parameters", "", "all parameters as one JSON object")
	flags.StringVar(&request.Connector, "connector", "", "the conversation's connector (default api)")
	flags.StringVar(&request.ThreadKey, "thread", "", "the conversation's key there (default a new one)")
	flags.StringVar(&request.ID, "id", "", "an idempotency key: the same id again is the same call")
	flags.StringVar(&request.Requester, "requester", "", "who it is for: a configured name, or connector:id")
	flags.DurationVar(&wait, "wait", untilTheEnd, "wait at most this long for the end; 0 only starts it (default: until the end)")
	flags.Lookup("wait").DefValue = "0s" // hides it in the help, which says it in words
	return command
}

func (s *starter) runInvoke(c *cobra.Command, request startRequest, wait time.Duration) error {
	ctx := c.Context()
	var started startAnswer
	if _, err := s.call(ctx, http.MethodPost, "/api/invocations", request, &started); err != nil {
		return plain(err)
	}
	if wait == 0 {
		return s.show(started, func(out *printer) { out.line("started %s", started.ID) })
	}
	asked := false
	state, err := s.wait(ctx, started.ID, max(wait, 0), func(state contract.State) {
		if (state.Approval == nil && state.Handoff == nil) || asked {
			return
		}
		asked = true // on stderr: the result alone is the output
		_, _ = fmt.Fprintln(s.Stderr, harmless(question(state)))
	})
	if err != nil {
		return plain(err)
	}
	if err := s.show(state, func(out *printer) { printState(out, state) }); err != nil {
		return err
	}
	if end := code(state.Result); end != Done {
		return &exit{code: end}
	}
	return nil
}

// question says what is being waited for, and how to answer from here.
func question(state contract.State) string {
	if state.Handoff != nil {
		return fmt.Sprintf("%s\nWhen it is done: starter handoffs done %s", state.Handoff.Reason, state.ID)
	}
	return fmt.Sprintf("%s\nAsked in %s:%s. From here: starter approvals allow %s",
		state.Approval.Prompt, state.Approval.Connector, state.Approval.ThreadKey, state.ID)
}

func printState(out *printer, state contract.State) {
	line := state.Status
	for _, more := range []string{state.Code, state.Reason} {
		if more != "" {
			line += " · " + more
		}
	}
	out.line("%s  %s.%s  %s", line, state.Tool, state.Operation, state.ID)
	if a := state.Approval; a != nil && a.Decision != nil {
		out.line("%s by %s via %s at %s", a.Decision.Decision, a.Decision.By, a.Decision.Via, a.Decision.At.UTC().Format(time.RFC3339))
	} else if a != nil && state.Status == "waiting" {
		out.line("%s", a.Prompt)
	}
	if h := state.Handoff; h != nil && state.Status == "waiting" {
		out.line("%s", h.Reason)
	}
	if len(state.Output) > 0 && string(state.Output) != "null" {
		out.line("%s", state.Output)
	}
}

func (s *starter) invocations() *cobra.Command {
	limit := 20
	list := &cobra.Command{Use: "list", Short: "The latest calls", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		var answer struct {
			Invocations []contract.State `json:"invocations"`
		}
		if _, err := s.call(c.Context(), http.MethodGet, fmt.Sprintf("/api/invocations?limit=%d", limit), nil, &answer); err != nil {
			return plain(err)
		}
		return s.show(answer, func(out *printer) {
			for _, state := range answer.Invocations {
				out.line("%-9s  %s.%s  %s  %s", state.Status, state.Tool, state.Operation, state.Thread, state.ID)
			}
			if len(answer.Invocations) == 0 {
				out.line("no calls yet")
			}
		})
	}}
	list.Flags().IntVar(&limit, "limit", limit, "how many")
	show := &cobra.Command{Use: "show ID", Short: "One call and how it stands", Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
		var state contract.State
		if _, err := s.call(c.Context(), http.MethodGet, "/api/invocations/"+url.PathEscape(args[0]), nil, &state); err != nil {
			return plain(err)
		}
		return s.show(state, func(out *printer) { printState(out, state) })
	}}
	return group("invocations", "Look at calls", list, show)
}
