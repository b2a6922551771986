package page_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersignhq/countersign/e2e/harness"
)

// chromium is the one browser of the test process; each test has profiles of its own in it.
var chromium context.Context

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	defer harness.Clean()
	if _, err := harness.Build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	profile, err := os.MkdirTemp("", "countersign-chromium-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(profile)
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath("chromium"), chromedp.UserDataDir(profile), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)
	defer stop()
	browser, closeBrowser := chromedp.NewContext(allocator)
	defer closeBrowser()
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintln(os.Stderr, "start chromium (scripts/install-tools installs it):", err)
		return 1
	}
	chromium = browser //nolint:fatcontext // set once, before any test
	return m.Run()
}
