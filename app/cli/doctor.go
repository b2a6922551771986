package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/countersignhq/countersign/doctor"
)

// Examine looks at some areas of the configuration, or all where none is named; url is
// where the gateway is, empty for where the configuration says.
type Examine func(ctx context.Context, areas []string, url string) doctor.Report

func (s *starter) doctor() *cobra.Command {
	names := doctor.Names()
	return &cobra.Command{
		Use:   "doctor [AREA…]",
		Short: "Check the configuration against the live platforms, and say how to mend it",
		Long: "Check the configuration against the live platforms, and say how to mend each problem.\n\n" +
			"Areas: " + strings.Join(names, ", ") + "; all where none is named. It reads what the worker reads\n" +
			"(countersign.yaml, the environment) and sends no message; the worker need not run. Run it where\n" +
			"the worker runs, as the worker's user.\n\n" +
			"Exit codes: 0 nothing is wrong (warnings may be there), 1 something is, 2 usage.",
		ValidArgs: names,
		RunE: func(c *cobra.Command, areas []string) error {
			for _, area := range areas {
				if !slices.Contains(names, area) {
					return misused("there is no area %q; there are %s", area, strings.Join(names, ", "))
				}
			}
			if s.Examine == nil {
				return failed("the configuration is not at hand here; run it where the worker runs")
			}
			report := s.Examine(c.Context(), areas, s.chosen())
			if err := s.show(report, func(out *printer) { s.findings(out, report) }); err != nil {
				return err
			}
			if report.Status == doctor.Fail {
				return &exit{code: Failed}
			}
			return nil
		},
	}
}

// marks of the statuses, and their colours on a terminal (ECMA-48).
var marks = map[doctor.Status]struct{ mark, colour string }{
	doctor.OK:   {"✓", "\x1b[32m"},
	doctor.Warn: {"!", "\x1b[33m"},
	doctor.Fail: {"✗", "\x1b[31m"},
	doctor.Off:  {"–", "\x1b[2m"},
}

// findings prints one a line, and below what is wrong how to mend it.
func (s *starter) findings(out *printer, report doctor.Report) {
	width, area := 0, ""
	for _, f := range report.Findings {
		width = max(width, utf8.RuneCountInString(f.Check))
	}
	width = min(width, 20) // a long key does not push all others aside
	for _, f := range report.Findings {
		if f.Area != area {
			if area = f.Area; f != report.Findings[0] {
				out.line("")
			}
			out.line("%s", area)
		}
		// What a platform says may hold such a sequence: it is made harmless before ours are added.
		line := harmless(fmt.Sprintf("%s  %s", pad(f.Check, width), f.Detail))
		out.raw("  %s %s", s.coloured(f.Status), strings.TrimRight(line, " "))
		if f.Mend != "" {
			out.line("      → %s", f.Mend)
		}
	}
	out.line("\n%d ok, %d to look at, %d wrong", report.Count(doctor.OK), report.Count(doctor.Warn), report.Count(doctor.Fail))
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func (s *starter) coloured(status doctor.Status) string {
	m := marks[status]
	if !s.Colour {
		return m.mark
	}
	return m.colour + m.mark + "\x1b[0m"
}
