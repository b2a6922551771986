package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

// Long values are folded and whole, and stay as they are while the page follows what happens.
func TestFolding(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_POLICY": "file_manager.write: {confirm: true}"}})
	b := signedIn(t, w, harness.Ada)
	b.say("/file_manager write disk=local path=a.txt content=x")
	b.shows(openQuestion+" .parameters code", "a.txt")
	require.Zero(t, b.count(openQuestion+" .parameters details"), "short values stand there")
	b.click(openQuestion + " .buttons .no")
	b.shows(".reply", "denied by ada")

	long := strings.Repeat("month,total\n", 400) + "cod\u202etxt.exe"
	call := harness.File("write", "long.csv", "content", long).In("web", "elsewhere")
	id := w.API.Invoke(t, call)
	w.API.Question(t, id)
	fold := ".others " + openQuestion + " .parameters details"
	b.shows(fold+" summary", "4811 characters in 401 lines")
	b.await("it is folded", "!"+b.find(fold)+".open && "+b.find(fold+" pre")+".checkVisibility() === false")
	b.click(fold + " summary")
	b.await("it is all there", b.find(fold)+".open && "+b.find(fold+" pre")+`.textContent === "month,total\n".repeat(400) + "cod\\u{202E}txt.exe"`)
	b.await("what cannot be seen is marked", b.find(fold+" mark")+`.textContent === "\\u{202E}"`)

	second := w.API.Invoke(t, harness.File("write", "b.csv", "content", "y").In("web", "yet elsewhere"))
	b.shows(".others "+openQuestion, "b.csv")
	b.await("it is still open", b.find(fold)+".open")
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	_, err := eval[bool](b, `document.activeElement.blur() ?? true`)
	require.NoError(t, err)
	press("j")
	b.await("the first is marked", `document.querySelectorAll(".question.open")[0] === document.querySelector(".marked")`)
	press("x")
	b.await("folded by a key", "!"+b.find(fold)+".open")
	press("x")
	b.await("unfolded by a key", b.find(fold)+".open")
	press("j")
	b.await("the second is marked", `document.querySelectorAll(".question.open")[1] === document.activeElement`)
	press("k")
	b.await("the first again", `document.querySelectorAll(".question.open")[0] === document.activeElement`)
	press("j")
	b.await("it may be pressed", `!document.activeElement.querySelector(".yes").disabled`)
	press("a")
	require.Equal(t, "completed", w.API.Result(t, second).Status)
	require.Equal(t, "waiting", w.API.State(t, id).Status, "the other one was not answered")
	b.clean()
}

// A question of another conversation comes at once to those who may decide it: they need not wait
// for the next look.
func TestApproverHearsAtOnce(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_POLICY": "file_manager.mkdir: {confirm: true, approvers: {who: list, people: [ada]}}"}})
	w.Write(t, "a.csv", "1")
	bob := open(t, w)
	call(bob, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `const every = window.setInterval; window.setInterval = (f, ms) => ms >= 5000 ? 0 : every(f, ms);`,
	})
	bob.visit("/")
	bob.signIn(harness.Token(harness.Bob))
	bob.await("the feed is open", `performance.getEntriesByType("resource").some((e) => e.name.endsWith("/live"))`)
	hidden := w.API.Invoke(t, harness.File("mkdir", "for-ada-only").In("web", "elsewhere"))
	w.API.Question(t, hidden)
	id := w.API.Invoke(t, harness.File("delete", "a.csv").In("web", "yet elsewhere"))
	bob.shows(".others "+openQuestion, "a.csv")
	require.Equal(t, 1, bob.count(openQuestion), "what is not his to decide is not there")
	ada := signedIn(t, w, harness.Ada)
	ada.shows(".others "+openQuestion, "for-ada-only") // an owner has all
	ada.shows(".others "+openQuestion, "a.csv")
	ada.click(`.others article[aria-labelledby]:last-of-type .buttons .no`)
	require.Equal(t, "denied", w.API.Result(t, id).Status)
	bob.await("the end is heard too", `document.querySelectorAll(".question.open").length === 0`)
}

// Files come in by the picker and by being dropped on the page, and go out as links.
func TestFiles(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "out.csv", "5;6")
	b := signedIn(t, w, harness.Ada)
	picked := filepath.Join(t.TempDir(), "picked one.csv")
	require.NoError(t, os.WriteFile(picked, []byte("1;2"), 0o600))
	b.pick("#files", picked)
	b.say("/file_manager save_attachment source=\"picked one.csv\" disk=local path=a.csv")
	b.shows(".said .files", "picked one.csv")
	b.shows(".reply", "✅ Done: file_manager save_attachment")
	require.Equal(t, "1;2", w.Read(t, "a.csv"))

	_, err := eval[bool](b, `(() => {
		const data = new DataTransfer();
		data.items.add(new File(["3;4"], "dropped.csv"));
		return document.querySelector("#live").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
	})()`)
	require.NoError(t, err)
	b.await("it is in the form", `document.querySelector("#files").files[0]?.name === "dropped.csv"`)
	b.say("/file_manager save_attachment source=dropped.csv disk=local path=b.csv")
	b.shows(".said .files", "dropped.csv")
	harness.Eventually(t, "it is saved", func() bool { return w.Read(t, "b.csv") == "3;4" })

	b.say("/file_manager attach_to_reply disk=local path=out.csv")
	b.shows(".reply .files", "out.csv")
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`fetch(document.querySelector(".reply .files a").href).then((r) => r.text())`, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	require.Equal(t, "5;6", got)
	b.clean()
}

// pick does what the browser's own dialog does.
func (b *tab) pick(selector string, files ...string) {
	b.t.Helper()
	field, err := chromedp.Call(b.ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: b.find(selector)})
	require.NoError(b.t, err)
	call(b, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, ObjectID: field.Result.ObjectID})
}

// Without scripts all of it works, a page at a time.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "a.csv", "1")
	b := signedIn(t, w, harness.Ada)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.visit("/")
	b.write("#text", "/file_manager delete disk=local path=a.csv")
	b.click(".composer button")
	harness.Eventually(t, "the question is asked", func() bool { return len(w.API.Pending(t)) == 1 })
	b.visit("/")
	b.shows(openQuestion+" .left", "until 20") // no countdown: when it ends
	b.click(openQuestion + " .why summary")
	b.write(openQuestion+" input[name=reason]", "not now")
	b.click(openQuestion + " .reason .no")
	b.shows(".flash.good", "You said no.")
	harness.Eventually(t, "the reply is there", func() bool {
		b.visit("/")
		return b.count(".reply") == 1
	})
	b.shows(".reply", "denied by ada")
	require.True(t, w.Exists("a.csv"))
	b.visit("/history")
	b.shows("table", "“not now”")
	b.click("nav form button")
	b.shows("h1", "Sign in")
}
