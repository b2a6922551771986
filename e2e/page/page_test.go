package page_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	b := open(t, w)
	b.visit("/history")
	b.shows("h1", "Sign in")
	for token, answer := range map[string]string{"cs_nobody": "Nobody here has this token.", harness.Token(harness.Robot): "An agent's token cannot sign in"} {
		b.signIn(token)
		b.shows(".flash.bad", answer)
	}
	b.signIn(harness.Token(harness.Ada))
	b.shows("nav", "Sign out")
	b.visit("/workspace")
	b.shows("h1", "There is nothing here") // the examples are off
	b.visit("/")
	b.click("nav form button")
	b.shows("h1", "Sign in")
}

// Two browsers on one question: the first answer wins, the other person is told whose it was.
func TestFirstAnswerWins(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: withExamples})
	w.Write(t, "reports/old.csv", "1;2")
	ada, bob := signedIn(t, w, harness.Ada), signedIn(t, w, harness.Bob)
	ada.say("/file_manager delete disk=local path=reports/old.csv")
	ada.shows(openQuestion, "Delete the file at reports/old.csv")
	bob.shows(".others "+openQuestion, "Delete the file at reports/old.csv")
	bob.stale("/live", "/events")
	ada.click(openQuestion + " .buttons .yes")
	ada.shows(".reply", "✅ Done: file_manager delete")
	require.False(t, w.Exists("reports/old.csv"))
	bob.click(openQuestion + " .buttons .no")
	bob.shows(".flash", "Changed: already decided by ada at")
	bob.shows(".flash", "allow")
	bob.stale()
	bob.await("the question goes", `document.querySelectorAll(".question.open").length === 0`)

	// A tab whose question was replaced is told so, and decides nothing.
	w.Write(t, "a.csv", "1")
	w.Write(t, "b.csv", "2")
	ada.say("/file_manager delete disk=local path=a.csv")
	bob.shows(openQuestion, "a.csv")
	bob.stale("/live", "/events")
	id := w.API.Pending(t)[0]
	w.API.Invoke(t, harness.File("delete", "b.csv").In("web", id.ThreadKey))
	require.Equal(t, "superseded", w.API.Result(t, id.ID).Reason)
	bob.click(openQuestion + " .buttons .yes")
	bob.shows(".flash.bad", "Changed: the question ended before (superseded)")
	require.True(t, w.Exists("a.csv"))
	require.True(t, w.Exists("b.csv"))
	ada.clean()
}

// A tab that is left open over a restart goes on with the question it shows.
func TestTabOverRestart(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "reports/old.csv", "1;2")
	b := signedIn(t, w, harness.Ada)
	b.say("/file_manager delete disk=local path=reports/old.csv")
	b.shows(openQuestion, "reports/old.csv")
	w.KillEngine()
	b.click(openQuestion + " .buttons .yes")
	b.shows(".flash.bad", "The gateway did not answer.")
	require.True(t, w.Exists("reports/old.csv"))
	w.StartEngine(t)
	b.click(openQuestion + " .buttons .yes")
	b.shows(".reply", "✅ Done: file_manager delete")
	require.False(t, w.Exists("reports/old.csv"))
	require.Zero(t, b.count(openQuestion))
}

// Keys answer the question that is marked; never while somebody writes, and not at all if they
// are switched off.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "a.csv", "1")
	b := signedIn(t, w, harness.Ada)
	b.say("/file_manager delete disk=local path=a.csv")
	b.shows(openQuestion, "a.csv")
	b.await("it may be pressed", `!document.querySelector(".question.open .yes").disabled`)
	b.write("#text", "jad")
	b.await("they are letters", `document.getElementById("text").value === "jad"`)
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	press("\x1b") // out of the field
	press("?")
	b.await("the list of keys", `document.getElementById("keys").open`)
	b.click("#keys-on")
	press("\x1b")
	b.await("no list", `!document.getElementById("keys").open`)
	press("ja")
	require.Equal(t, "waiting", w.API.State(t, w.API.Pending(t)[0].ID).Status)
	press("?")
	b.click("#keys-on")
	b.click("#keys form button")
	press("d")
	press("j")
	b.await("it is marked", `document.activeElement.matches(".question.open.marked")`)
	require.Equal(t, "waiting", w.API.State(t, w.API.Pending(t)[0].ID).Status, "d before j marks nothing and says nothing")
	press("d")
	b.shows(".reply", "Not run: file_manager delete – denied by ada")
	require.True(t, w.Exists("a.csv"))
	b.clean()
}

// What changes elsewhere must not take away what somebody is about to write.
func TestHalfWrittenReasonStays(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "a.csv", "1")
	w.Write(t, "b.csv", "2")
	b := signedIn(t, w, harness.Ada)
	b.say("/file_manager delete disk=local path=a.csv")
	b.click(openQuestion + " .why summary")
	b.write(openQuestion+" .reason input[name=reason]", "because")
	id := w.API.Invoke(t, harness.File("delete", "b.csv").In("web", "elsewhere"))
	b.shows(".others "+openQuestion, "b.csv")
	b.await("the reason is still there", `document.querySelector(".feed .question.open input[name=reason]").value === "because" && document.activeElement.name === "reason"`)
	b.click(".others " + openQuestion + " .buttons .no")
	require.Equal(t, "denied", w.API.Result(t, id).Status)
	b.click(openQuestion + " .reason .no")
	b.shows(".reply", "denied by ada")
}
