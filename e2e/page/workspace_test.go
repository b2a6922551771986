package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

var withExamples = map[string]string{"COUNTERSIGN_EXAMPLES": "true"}

const openQuestion = ".question.open"

// The third seed's five points, as its "Inspect the declarations in the app" has them.
func TestWalkThrough(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: withExamples})
	b := signedIn(t, w, harness.Ada)
	b.visit("/workspace")
	b.root = inDock
	b.await("the dock", inDock+"?.querySelector('#text')")

	// 1. Saving asks once; after "Always allow" a later request in this conversation goes on.
	b.say("/workspace save_workspace_name name=Atlas")
	b.shows(openQuestion, "Save the workspace's name as Atlas?")
	b.shows(openQuestion+" .parameters", "Atlas")
	b.click(openQuestion + " .always")
	b.shows(".reply", "✅ Done: workspace save_workspace_name")
	b.say("/workspace save_workspace_name name=Borealis")
	b.shows(".reply", "Borealis")
	require.Zero(t, b.count(openQuestion), "nobody is asked again")

	// 2. A reset asks every time and offers no "Always allow".
	b.say("/workspace reset_workspace")
	b.shows(openQuestion, "Reset the workspace and clear its settings?")
	require.Zero(t, b.count(openQuestion+" .always"))
	b.click(openQuestion + " .buttons .yes")
	b.shows(".reply", "✅ Done: workspace reset_workspace")
	b.say("/workspace reset_workspace")
	b.click(openQuestion + " .why summary")
	b.write(openQuestion+" .reason input[name=reason]", "not today")
	b.click(openQuestion + " .reason .no")
	b.shows(".reply", "Not run: workspace reset_workspace – denied by ada")

	// 3. Publishing is handed over: the field is marked, nothing is clicked for anybody.
	b.say("/workspace publish_changes")
	b.shows(".handoff.open .steps", "Enter 246810 in the verification-code field.")
	b.await("the field is marked", `document.querySelector("#verification_code").dataset.guideActive === ""`)
	b.await("so is its step", inDock+`.querySelector("[aria-current=step]")?.dataset.highlight === "verification_code"`)
	require.Zero(t, b.count(openQuestion+" .buttons .yes"), "no approval beside the handoff")

	// 4. Cancelled: the assistant says that the step did not happen.
	b.click(".handoff.open .cancel")
	b.shows(".reply", "Not done: workspace publish_changes was cancelled.")
	b.await("the mark goes", `document.querySelectorAll("[data-guide-active]").length === 0`)

	// 5. The verified result comes only once the data shows it.
	b.say("/workspace publish_changes")
	b.click(".handoff.open .done")
	b.shows(".handoff.open .missing", "The workspace changes are published")
	page := &tab{t: t, ctx: b.ctx, base: b.base, root: onPage}
	page.write("#verification_code", "111111")
	b.await("the button is next", `document.querySelector("#publish_changes").dataset.guideActive === ""`)
	page.click("#publish_changes")
	page.shows(".flash", "That is not the verification code")
	b.await("the dock", inDock+"?.querySelector('.handoff.open')")
	page.write("#verification_code", "246810")
	page.click("#publish_changes")
	page.shows(".flash", "The changes are published.")
	b.await("the dock", inDock+"?.querySelector('#text')")
	b.shows(".reply", "✅ Done: workspace publish_changes")
	page.shows(".sheet", "published")

	// What "Always allow" gave is listed, and is gone once it is revoked: for the audit log too.
	page.visit("/grants")
	page.shows("table", "workspace.save_workspace_name")
	page.click("table button")
	page.shows(".flash", "Revoked.")
	log, err := os.ReadFile(filepath.Join(w.Dir, "audit.jsonl"))
	require.NoError(t, err)
	require.Regexp(t, `"kind":"revoked".*"operation":"save_workspace_name".*"by":"ada","via":"web"`, string(log))
	page.visit("/")
	page.say("/workspace save_workspace_name name=Cirrus")
	page.shows(openQuestion, "Cirrus")
	page.visit("/history")
	page.shows("table", "always allow by ada")
	page.shows("table", "“not today”")
	page.shows("table", "done, and checked")
	b.clean()
}
