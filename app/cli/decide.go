package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

type decisionRequest struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

func (s *starter) approvals() *cobra.Command {
	status := "pending"
	list := &cobra.Command{Use: "list", Short: "Questions that wait for an answer", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		var answer struct {
			Approvals []contract.Approval `json:"approvals"`
		}
		if _, err := s.call(c.Context(), http.MethodGet, "/api/approvals?status="+url.QueryEscape(status), nil, &answer); err != nil {
			return plain(err)
		}
		return s.show(answer, func(out *printer) {
			for _, a := range answer.Approvals {
				out.line("%s  %s  %s:%s%s\n    %s", a.ID, a.Status, a.Connector, a.ThreadKey, s.left(a), a.Prompt)
			}
			if len(answer.Approvals) == 0 {
				out.line("no question is %s", status)
			}
		})
	}}
	list.Flags().StringVar(&status, "status", status, "pending, approved, denied, timeout, …")
	show := &cobra.Command{Use: "show ID", Short: "One question", Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
		var a contract.Approval
		if _, err := s.call(c.Context(), http.MethodGet, "/api/approvals/"+url.PathEscape(args[0]), nil, &a); err != nil {
			return plain(err)
		}
		return s.show(a, func(out *printer) {
			out.line("%s  %s%s\n%s\nin %s:%s, by %s.%s for %s", a.ID, a.Status, s.left(a), a.Prompt, a.Connector, a.ThreadKey, a.Tool, a.Operation, a.Requester)
			out.line("parameters %s", a.Parameters)
			if d := a.Decision; d != nil {
				out.line("%s by %s via %s at %s %s", d.Decision, d.By, d.Via, d.At.UTC().Format(time.RFC3339), d.Reason)
			}
		})
	}}
	always := false
	allow := s.decision("allow ID", "Say yes", "approvals", "decision", chat.Allow, &always)
	allow.Flags().BoolVar(&always, "always", false, "allow it in this conversation from now on, where that is offered")
	return group("approvals", "Look at questions and answer them", list, show, allow,
		s.decision("deny ID", "Say no", "approvals", "decision", chat.Deny, nil))
}

func (s *starter) left(a contract.Approval) string {
	if a.Status != "pending" || a.ExpiresAt == nil {
		return ""
	}
	return fmt.Sprintf("  %s left", max(a.ExpiresAt.Sub(s.Now()), 0).Round(time.Second))
}

func (s *starter) handoffs() *cobra.Command {
	return group("handoffs", "Steps that only a person can do",
		s.decision("done ID", "Say that the step is done", "handoffs", "complete", "", nil),
		s.decision("cancel ID", "Cancel the step", "handoffs", "cancel", "", nil))
}

// decision is a command that answers a question or a handoff.
func (s *starter) decision(use, short, what, verb, decision string, always *bool) *cobra.Command {
	reason := ""
	command := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
		request := decisionRequest{Decision: decision, Reason: reason}
		if always != nil && *always {
			request.Decision = chat.AllowAlways
		}
		var answer json.RawMessage
		status, err := s.call(c.Context(), http.MethodPost, "/api/"+what+"/"+url.PathEscape(args[0])+"/"+verb, request, &answer)
		var refused *problem
		if errors.As(err, &refused) && refused.Decision != nil {
			d := refused.Decision
			return failed("already decided by %s via %s at %s: %s", d.By, d.Via, d.At.UTC().Format(time.RFC3339), d.Decision)
		}
		if err != nil {
			return plain(err)
		}
		return s.show(answer, func(out *printer) { printDecision(out, status, answer) })
	}}
	command.Flags().StringVar(&reason, "reason", "", "why; it goes to the agent as data")
	return command
}

func printDecision(out *printer, status int, answer json.RawMessage) {
	var said struct {
		Decision, By, Via, Detail string
		At                        time.Time
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		out.err = err
		return
	}
	switch {
	case status == http.StatusAccepted:
		out.line("%s", said.Detail)
	case said.Decision == "":
		out.line("done")
	default:
		out.line("%s by %s via %s at %s", said.Decision, said.By, said.Via, said.At.UTC().Format(time.RFC3339))
	}
}

func (s *starter) grants() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "Standing \"Always allow\" answers", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		var answer struct {
			Grants []struct {
				contract.Grant
				Thread chat.Thread `json:"thread"`
			} `json:"grants"`
		}
		if _, err := s.call(c.Context(), http.MethodGet, "/api/grants", nil, &answer); err != nil {
			return plain(err)
		}
		return s.show(answer, func(out *printer) {
			for _, g := range answer.Grants {
				out.line("%s  %s.%s in %s, by %s for %s since %s", g.ID, g.Tool, g.Operation, g.Thread, g.By, g.For, g.Since.UTC().Format(time.RFC3339))
			}
			if len(answer.Grants) == 0 {
				out.line("no grants")
			}
		})
	}}
	revoke := &cobra.Command{Use: "revoke ID", Short: "End a standing answer", Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
		if _, err := s.call(c.Context(), http.MethodDelete, "/api/grants/"+url.PathEscape(args[0]), nil, nil); err != nil {
			return plain(err)
		}
		return s.show(map[string]string{"revoked": args[0]}, func(out *printer) { out.line("revoked %s", args[0]) })
	}}
	return group("grants", "Standing answers", list, revoke)
}
