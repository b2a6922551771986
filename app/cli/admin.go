package cli

import (
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersignhq/countersign/gateway"
)

func (s *starter) attachments() *cobra.Command {
	age := 720 * time.Hour
	prune := &cobra.Command{Use: "prune", Short: "Delete the files of old messages", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		if age <= 0 {
			return misused("--older-than must be more than nothing, as in 720h")
		}
		if s.Prune == nil {
			return failed("the attachments disk is not at hand here; run it where the worker runs")
		}
		removed, err := s.Prune(c.Context(), age)
		if err != nil {
			return failed("prune the attachments: %v", err)
		}
		return s.show(map[string]int{"removed": removed}, func(out *printer) { out.line("deleted the files of %d messages", removed) })
	}}
	prune.Flags().DurationVar(&age, "older-than", age, "how old, by modification time")
	return group("attachments", "The attachments disk", prune)
}

func (s *starter) tokens() *cobra.Command {
	create := &cobra.Command{Use: "create", Short: "Make a token and its line for the configuration", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		token := s.NewToken()
		hash := "sha256:" + gateway.TokenHash(token)
		return s.show(map[string]string{"token": token, "sha256": hash}, func(out *printer) {
			out.line("The token, shown this once:\n\n  %s\n\nIts line under the person's `tokens:` in countersign.yaml:\n\n  - %s", token, hash)
		})
	}}
	return group("tokens", "API tokens", create)
}

func (s *starter) tools() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "The tools, their operations and parameters", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		var answer struct {
			Tools []listedTool `json:"tools"`
		}
		if _, err := s.call(c.Context(), http.MethodGet, "/api/tools", nil, &answer); err != nil {
			return plain(err)
		}
		return s.show(answer, func(out *printer) {
			for _, t := range answer.Tools {
				out.line("%s: %s", t.Name, t.Description)
				for _, o := range t.Operations {
					out.line("  %-16s %-6s %s\n  %-16s %s", o.Name, o.Kind, o.Description, "", o.names())
				}
			}
		})
	}}
	return group("tools", "What can be done", list)
}
