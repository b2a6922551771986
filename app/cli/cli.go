package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

// The exit codes.
const (
	Done     = 0
	Failed   = 1
	Usage    = 2
	Denied   = 3
	TimedOut = 4
	Unknown  = 5
)

// Params are what a command line has around it. Getenv, Stdin, Stdout and Stderr are required.
type Params struct {
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// IsTTY tells whether a person sits at Stdin.
	IsTTY bool
	HTTP  *http.Client
	Now   func() time.Time
	// Sleep waits, or returns the context's error; for tests.
	Sleep func(ctx context.Context, d time.Duration) error
	// HTTPAddr and DataDir are the configuration's; empty where it could not be read, and then
	// the environment's count.
	HTTPAddr, DataDir string
	// User is the name of the shell's user, for `chat`.
	User string
	// Prune deletes attachments of messages older than that and returns how many folders
	// went; nil where the disk is not at hand.
	Prune func(ctx context.Context, olderThan time.Duration) (removed int, err error)
	// Examine is `doctor`; nil where the configuration is not at hand.
	Examine Examine
	// Colour tells whether Stdout is a terminal that shows colours.
	Colour bool
	// Problem is what is wrong with the configuration, told before each command that does
	// not tell it itself: most only talk to the gateway and go on.
	Problem error
	// NewToken makes a token; nil is gateway.NewToken.
	NewToken func() string
	Version  string
}

// exit is an error that says how the program ends. An empty message was already printed.
type exit struct {
	code    int
	message string
}

func (e *exit) Error() string { return e.message }

func failed(format string, args ...any) error {
	return &exit{code: Failed, message: fmt.Sprintf(format, args...)}
}

func misused(format string, args ...any) error {
	return &exit{code: Usage, message: fmt.Sprintf(format, args...)}
}

// Run runs one command and returns the exit code.
func Run(ctx context.Context, args []string, params Params) int {
	command := New(params)
	command.SetArgs(args)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return Done
	}
	end := &exit{code: Usage, message: err.Error() + "\nSee `starter --help`."} // cobra's own: unknown command, flag or number of arguments
	_ = errors.As(err, &end)
	if end.message != "" {
		_, _ = fmt.Fprintln(params.Stderr, "starter: "+harmless(end.message))
	}
	return end.code
}

// starter holds what all commands share.
type starter struct {
	Params
	url    string
	output string
}

// New returns the root command.
func New(params Params) *cobra.Command {
	s := &starter{Params: params}
	if s.HTTP == nil {
		s.HTTP = &http.Client{}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Sleep == nil {
		s.Sleep = sleep
	}
	if s.NewToken == nil {
		s.NewToken = gateway.NewToken
	}
	if s.User == "" {
		s.User = "local"
		if who, err := user.Current(); err == nil && who.Username != "" {
			s.User = who.Username
		}
	}
	root := &cobra.Command{
		Use:   "starter",
		Short: "Start tool calls, answer questions, look at both",
		Long: "Start tool calls, answer questions, look at both.\n\n" +
			"The gateway is at COUNTERSIGN_URL (default: COUNTERSIGN_HTTP_ADDR, 127.0.0.1:8080), the token in\n" +
			"COUNTERSIGN_TOKEN (default: the file `token` in COUNTERSIGN_DATA_DIR, .countersign).\n\n" +
			"Exit codes: 0 done, 1 failed, 2 usage, 3 denied, 4 timed out, 5 outcome unknown.",
		Version:       params.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if s.output != "text" && s.output != "json" {
				return misused("--output must be text or json")
			}
			if s.Problem != nil && c.Name() != "doctor" {
				_, _ = fmt.Fprintln(s.Stderr, "starter: warning:", s.Problem)
			}
			return nil
		},
	}
	root.SetIn(params.Stdin)
	root.SetOut(params.Stdout)
	root.SetErr(params.Stderr)
	root.PersistentFlags().StringVar(&s.url, "url", "", "the gateway's address")
	root.PersistentFlags().StringVarP(&s.output, "output", "o", "text", "text or json")
	root.AddCommand(s.invoke(), s.send(), s.chat(), s.approvals(), s.handoffs(), s.grants(), s.invocations(),
		s.attachments(), s.tokens(), s.tools(), s.demo(), s.doctor())
	return root
}

// group is a command that has commands only.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		return misused("say which: `starter %s --help`", c.Name())
	}}
	command.AddCommand(commands...)
	return command
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// code is how an invocation's end is told to a shell. A question that nobody answered in
// time was not denied by anybody.
func code(result contract.Result) int {
	switch result.Status {
	case "completed":
		return Done
	case "denied":
		if result.Reason == "timeout" {
			return TimedOut
		}
		return Denied
	case "cancelled":
		return Denied
	case "timed_out", "waiting", "running": // the last two: our own wait ended first
		return TimedOut
	case "unknown":
		return Unknown
	default:
		return Failed
	}
}
