package app

import (
	"fmt"

	"github.com/countersignhq/countersign/config"
)

// announce prints, with --dev, where everything is and one thing to try.
func announce(f flags, cfg *config.Config, env Environment, parts *embedded) {
	if !f.dev {
		return
	}
	fmt.Fprintf(env.Stdout, "Countersign is running. State is in %s.\n\n", cfg.DataDir)
	if f.has(roleGateway) {
		fmt.Fprintf(env.Stdout, "  Web page          http://%s/\n", cfg.HTTP.Addr)
		if examplesOn(f, cfg) {
			fmt.Fprintf(env.Stdout, "  Example           http://%s/workspace\n", cfg.HTTP.Addr)
		}
	}
	if parts.ui != "" {
		fmt.Fprintf(env.Stdout, "  Temporal's Web UI %s/\n", parts.ui)
		fmt.Fprintf(env.Stdout, "  Temporal          %s\n", parts.temporal)
	}
	if parts.redis != "" {
		fmt.Fprintf(env.Stdout, "  Redis             %s\n", parts.redis)
	}
	fmt.Fprint(env.Stdout, "\nTry it in another terminal:  bin/starter demo\nCtrl-C stops everything; started again, it goes on where it was.\n")
}
