package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

// A28, in a browser: another origin reads nothing, decides nothing and frames nothing, be it
// another port, to which the session's cookie goes too, or another site.
func TestForeignOrigin(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "reports/old.csv", "1;2")
	b := signedIn(t, w, harness.Ada)
	b.say("/file_manager delete disk=local path=reports/old.csv")
	b.shows(openQuestion, "reports/old.csv")
	id := w.API.Pending(t)[0].ID
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `<!doctype html><h1>Elsewhere</h1>
			<form method="post" action="%[1]s/decisions"><input name="invocation" value="%[2]s"><input name="action" value="yes"><input name="here" value="1"></form>
			<iframe src="%[1]s/"></iframe>`, w.URL(), id)
	}))
	t.Cleanup(other.Close)
	for name, address := range map[string]string{
		"another port": other.URL, "another site": strings.Replace(other.URL, "127.0.0.1", "localhost", 1),
	} {
		b.do(chromedp.Navigate(address))
		b.shows("h1", "Elsewhere")
		for what, script := range map[string]string{
			"reads the page":          `fetch("%s/dock", {credentials: "include"})`,
			"reads the list":          `fetch("%s/live", {credentials: "include"})`,
			"sends JSON":              `fetch("%s/decisions", {method: "POST", credentials: "include", headers: {Accept: "application/json"}, body: new URLSearchParams({invocation: "` + id + `", action: "yes"})})`,
			"listens":                 `new Promise((yes, no) => { const s = new EventSource("%s/events", {withCredentials: true}); s.onopen = yes; s.onerror = () => { s.close(); no(); }; })`,
			"runs the dock":           `import("%s/dock.js")`,
			"reads what it may embed": `new Promise((yes, no) => { const i = new Image(); i.onload = yes; i.onerror = no; i.src = "%s/assets/icon.svg"; })`,
		} {
			got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf(script, w.URL())+`.then(() => "done", () => "refused")`, chromedp.EvalAwaitPromise))
			require.NoError(t, err)
			require.Equal(t, "refused", got, "%s %s", name, what)
		}
		// What a page need not be allowed to read it can still send.
		sent, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf(
			`fetch(%q, {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({invocation: %q, action: "yes", here: "1"})}).then((r) => r.type)`, w.URL()+"/decisions", id,
		), chromedp.EvalAwaitPromise))
		if err == nil { // with Cross-Origin-Resource-Policy the answer is a failure, which is as good
			require.Equal(t, "opaque", sent)
		}
		_, err = eval[bool](b, `document.forms[0].submit() ?? true`)
		require.NoError(t, err)
		b.shows("h1", "This came from another site")
		require.Equal(t, "waiting", w.API.State(t, id).Status, name)
	}
	require.Contains(t, b.complaints(), "frame-ancestors", "the frame stays empty")
	require.True(t, w.Exists("reports/old.csv"))
	b.visit("/")
	b.click(openQuestion + " .buttons .yes")
	b.shows(".reply", "✅ Done: file_manager delete")
}

// complaints are what the browser had to say.
func (b *tab) complaints() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.problems, "\n")
}
