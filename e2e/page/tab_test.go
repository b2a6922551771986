package page_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

// tab is a browser window of one person, with cookies of its own.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string
	// root is the script expression below which things are looked for.
	root string

	mu       sync.Mutex
	problems []string
}

const (
	onPage = "document"
	inDock = "document.getElementById('countersign-dock').shadowRoot"
)

func open(t *testing.T, w *harness.World) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx, base: w.URL(), root: onPage}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	call(b, log.Enable, cdp.Empty{})
	return b
}

// listen collects what a browser complains about: scripts that fail, policies that are broken.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, event.ExceptionDetails.Text+" "+event.ExceptionDetails.URL+" "+fmt.Sprint(event.ExceptionDetails.LineNumber))
	case *log.EventEntryAdded:
		if event.Entry.Source == log.EntrySourceSecurity {
			b.problems = append(b.problems, event.Entry.Text)
		}
	}
}

// clean wants that the browser had nothing to complain about.
func (b *tab) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.problems)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

// call runs a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	require.NoError(b.t, err)
}

// signedIn is a tab in which somebody has signed in.
func signedIn(t *testing.T, w *harness.World, name string) *tab {
	t.Helper()
	b := open(t, w)
	b.visit("/")
	b.signIn(harness.Token(name))
	b.await("the conversation", `document.querySelector("main[data-live]") !== null`)
	return b
}

// signIn fills in the form. The form is sent by a script: a key that leads to another page is
// taken for lost by the browser's protocol.
func (b *tab) signIn(token string) {
	b.t.Helper()
	b.write("#token", token)
	_, err := eval[bool](b, `document.querySelector("main form").requestSubmit() ?? true`)
	require.NoError(b.t, err)
}

func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

func eval[T any](b *tab, script string) (T, error) {
	return chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
}

// await waits for a condition in the page; one that fails is not met yet.
func (b *tab) await(what, condition string) {
	b.t.Helper()
	harness.Until(b.t, what, func() (text string, met bool) {
		if met, err := eval[bool](b, "Boolean("+condition+")"); err == nil && met {
			return "", true
		}
		text, _ = eval[string](b, "("+b.root+".textContent ?? "+b.root+`.body.innerText) + " fields: " + JSON.stringify([...`+b.root+`.querySelectorAll("input:not([type=hidden]), textarea")].map((e) => e.value))`)
		return strings.Join(strings.Fields(text), " "), false
	})
}

func (b *tab) find(selector string) string {
	return b.root + ".querySelector(" + strconv.Quote(selector) + ")"
}

// shows waits for a text in what a selector finds.
func (b *tab) shows(selector, text string) {
	b.t.Helper()
	b.await(fmt.Sprintf("%q in %s", text, selector),
		fmt.Sprintf("[...%s.querySelectorAll(%q)].some((e) => e.textContent.includes(%q))", b.root, selector, text))
}

func (b *tab) count(selector string) (n int) {
	b.t.Helper()
	n, err := eval[int](b, fmt.Sprintf("%s.querySelectorAll(%q).length", b.root, selector))
	require.NoError(b.t, err)
	return n
}

// click presses with the mouse what can be pressed: what is not disabled, and what nothing lies over.
func (b *tab) click(selector string) {
	b.t.Helper()
	at := harness.Until(b.t, selector+" can be pressed", func() ([]float64, bool) {
		point, err := eval[[]float64](b, fmt.Sprintf(`(() => {
			const e = %s;
			if (!e || e.disabled) return [];
			e.scrollIntoView({block: "center", behavior: "instant"});
			const r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;
			return e.contains(%s.elementFromPoint(x, y)) ? [x, y] : [];
		})()`, b.find(selector), b.root))
		return point, err == nil && len(point) == 2
	})
	b.do(chromedp.MouseClickXY(at[0], at[1]))
}

// write puts the cursor into a field and types.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.await(selector+" has the cursor", fmt.Sprintf("(%[1]s.focus(), %[2]s.activeElement === %[1]s)", b.find(selector), b.root))
	b.do(chromedp.KeyEvent(text))
}

// say sends a message with the Enter key.
func (b *tab) say(text string) {
	b.t.Helper()
	b.write("#text", text+"\r")
	// The browser's protocol sends a key in parts, and the Enter key's last may be late.
	b.await("the message is on its way", b.find("#text")+".value.trim() === ''")
}

// stale keeps the tab from hearing what happens, as a laptop does that has just woken up.
func (b *tab) stale(urls ...string) {
	b.t.Helper()
	blocked := make([]*network.BlockPattern, len(urls))
	for i, url := range urls {
		blocked[i] = &network.BlockPattern{URLPattern: b.base + url, Block: true}
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: blocked})
}
