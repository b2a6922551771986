package app

import (
	"context"
	"net/http"
	"os"
	"os/user"

	"golang.org/x/term"

	"github.com/countersignhq/countersign/app/cli"
	"github.com/countersignhq/countersign/config"
)

// RunStarter is the command line. It returns its exit code (CONTRACT §9).
func RunStarter(ctx context.Context, args []string, env Environment) int {
	name := "me"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	p := cli.Params{
		Getenv: env.getenv, Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr,
		IsTTY: isTerminal(env.Stdin), Colour: isTerminal(env.Stdout) && env.getenv("NO_COLOR") == "", HTTP: http.DefaultClient, User: name, Version: version,
	}
	cfg, err := config.Load(env.LookupEnv, env.Environ, env.ReadFile)
	if err != nil {
		// Most commands only talk to the gateway; those that need the configuration say what is wrong.
		p.Problem = err
	} else {
		p.Prune, p.HTTPAddr, p.DataDir = prune(cfg), cfg.HTTP.Addr, cfg.DataDir
	}
	p.Examine = examination{env: env, cfg: cfg, wrong: err}.run
	return cli.Run(ctx, args, p)
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
