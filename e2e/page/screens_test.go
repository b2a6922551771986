package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

// screen is how a page is looked at.
type screen struct {
	name, scheme  string
	width, height int64
}

var screens = []screen{
	{"wide-light", "light", 1180, 800}, {"wide-dark", "dark", 1180, 800},
	{"narrow-light", "light", 360, 740}, {"narrow-dark", "dark", 360, 740},
}

// The main states, on every screen: nothing is wider than the screen, and axe-core finds nothing
// that stands in anybody's way (WCAG 2.2 AA). With COUNTERSIGN_SCREENSHOTS=folder the pictures are kept there.
func TestScreens(t *testing.T) {
	t.Parallel()
	w, provider := linked(t, map[string]string{"COUNTERSIGN_EXAMPLES": "true", "COUNTERSIGN_POLICY": "file_manager.write: {confirm: true}"})
	provider.Away(false)
	w.Write(t, "reports/2025/quarterly figures.csv", "1;2")
	b := open(t, w)
	b.visit("/")
	b.on(screens, "sign-in")
	b.through("sub-of-eve")
	b.shows(".sheet", "eve@example.test")
	b.on(screens, "nobody")
	b.through("sub-of-ada")
	b.await("the conversation", `document.querySelector("main[data-live]")`)
	b.on(screens, "empty")
	long := strings.Repeat("month,total\n", 40)
	b.say(`/workspace save_workspace_name name=Atlas`)
	b.click(openQuestion + " .always")
	b.shows(".reply", "✅ Done")
	b.say(`/file_manager write disk=local path=notes.txt content="` + strings.ReplaceAll(long, "\n", `\n`) + `"`)
	b.shows(openQuestion+" summary", "480 characters in 41 lines")
	b.click(openQuestion + " .why summary")
	b.on(screens, "folded")
	b.click(openQuestion + " .parameters summary")
	b.on(screens, "unfolded")
	b.click(openQuestion + " .buttons .yes")
	b.shows(".reply", "file_manager write")
	b.say(`/file_manager delete disk=local path="reports/2025/quarterly figures.csv"`)
	b.shows(openQuestion, "quarterly figures.csv")
	w.Write(t, strings.Repeat("a-very-long-name-", 12)+".csv", "1")
	w.API.Invoke(t, harness.File("delete", strings.Repeat("a-very-long-name-", 12)+".csv").In("web", "somebody-else"))
	b.shows(".others "+openQuestion, "a-very-long-name")
	b.await("it may be pressed", `!document.querySelector(".question.open .yes").disabled`)
	b.on(screens, "conversation")
	b.visit("/invocations/" + w.API.Pending(t)[0].ID)
	b.shows("h1", "file_manager.delete")
	b.on(screens, "call")
	b.visit("/grants")
	b.on(screens, "grants")
	b.visit("/")
	b.click(".feed " + openQuestion + " .buttons .no")
	b.shows(".reply", "denied by ada")
	b.visit("/history")
	b.shows("table", "no by ada")
	b.on(screens, "history")
	b.visit("/workspace")
	b.root = inDock
	b.await("the dock", inDock+"?.querySelector('#text')")
	b.say("/workspace publish_changes")
	b.click(".handoff.open .done")
	b.shows(".missing", "The workspace changes are published")
	b.await("the mark", `document.querySelector("[data-guide-active]")`)
	b.on(screens, "handoff")
	b.root = onPage
	b.visit("/")
	b.click("[data-keys]")
	b.await("the list of keys", `document.getElementById("keys").open`)
	b.on(screens, "keys")
	// Not clean(): axe-core itself tries inline styles, which the page's policy refuses.
}

// audit lists what axe-core finds, but for trifles.
const audit = `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((result) =>
	result.violations.filter((v) => v.impact !== "minor").map((v) => v.id + ": " + v.help + "\n" + v.nodes.map((n) => "  " + n.target + " " + n.html.slice(0, 200) + " " + n.any.map((a) => a.message)).join("\n")).join("\n"))`

// on looks at the page on each screen.
func (b *tab) on(screens []screen, state string) {
	b.t.Helper()
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	require.NoError(b.t, err, "`make test-tools` installs axe-core")
	_, err = eval[bool](b, string(axe)+";true")
	require.NoError(b.t, err)
	for _, s := range screens {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}},
		})
		b.do(chromedp.EmulateViewport(s.width, s.height))
		_, err := eval[bool](b, "["+b.root+`, document].map((root) => [...root.querySelectorAll(".question.open")][0]?.scrollIntoView({block: "end"})) && true`)
		require.NoError(b.t, err)
		width, err := eval[int64](b, "document.documentElement.scrollWidth")
		require.NoError(b.t, err)
		require.LessOrEqual(b.t, width, s.width, "%s on %s can only be read by moving it sideways", state, s.name)
		found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](audit, chromedp.EvalAwaitPromise))
		require.NoError(b.t, err)
		assert.Empty(b.t, found, "%s on %s", state, s.name)
		if folder := os.Getenv("COUNTERSIGN_SCREENSHOTS"); folder != "" {
			picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			require.NoError(b.t, err)
			require.NoError(b.t, os.WriteFile(filepath.Join(folder, state+"-"+s.name+".png"), picture, 0o600))
		}
	}
	b.do(chromedp.EmulateViewport(1180, 800))
}
