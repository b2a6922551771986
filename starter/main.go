// Command starter is the command line: it starts invocations, answers questions
// and shows what is pending.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/countersignhq/countersign/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := app.RunStarter(ctx, os.Args[1:], app.Process())
	stop()
	os.Exit(code)
}
