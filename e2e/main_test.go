package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/countersignhq/countersign/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	// These tests wait for other processes most of the time.
	if err := flag.Set("test.parallel", "6"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer harness.Clean()
	if _, err := harness.Build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
