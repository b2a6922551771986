// Command worker is the long-running program: the engine (workflows, activities,
// listeners) and the gateway (HTTP), on one machine or split by --roles.
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
	code := app.Run(ctx, os.Args[1:], app.Process())
	stop()
	os.Exit(code)
}
