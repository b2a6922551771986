package app

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// The roles of the long-running program (CONTRACT §9).
const (
	roleEngine  = "engine"
	roleGateway = "gateway"
)

// flags are the worker's command line.
type flags struct {
	roles []string
	dev   bool
}

func (f flags) has(role string) bool { return slices.Contains(f.roles, role) }

// errUsage is a command line that cannot be used; the flag package has printed why.
var errUsage = errors.New("usage")

func parseFlags(args []string, env Environment) (flags, error) {
	set := flag.NewFlagSet("worker", flag.ContinueOnError)
	set.SetOutput(env.Stderr)
	roles := set.String("roles", roleEngine+","+roleGateway, "what this process does: engine, gateway or both, separated by a comma")
	dev := set.Bool("dev", false, "embed what is not configured: Temporal's dev server and a Redis, on 127.0.0.1")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return flags{}, err
		}
		return flags{}, fmt.Errorf("%w: %w", errUsage, err)
	}
	if set.NArg() > 0 {
		return flags{}, fmt.Errorf("%w: the worker takes no arguments, only flags; %q is none", errUsage, set.Arg(0))
	}
	f := flags{dev: *dev}
	for role := range strings.SplitSeq(*roles, ",") {
		role = strings.TrimSpace(role)
		if role != roleEngine && role != roleGateway {
			return flags{}, fmt.Errorf("%w: --roles knows engine and gateway, not %q", errUsage, role)
		}
		f.roles = append(f.roles, role)
	}
	return f, nil
}
