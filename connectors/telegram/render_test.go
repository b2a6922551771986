package telegram

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -rewrite once")
	require.Equal(t, string(want), got)
}

func TestRenderGolden(t *testing.T) {
	t.Parallel()
	open := chat.Card{
		Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X",
		Text:       "⚠️ Delete 3 files on disk local: a\\_b, 1. (x) - y!, [x](http://attacker.test)? Reply 'Yes' to confirm.",
		Buttons: []chat.Button{
			{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo}, {Label: "Always allow", Action: chat.ActionAlways},
		},
	}
	closed := open
	closed.Closed = "✅ Approved by ada at 12:03:04 UTC."
	own := open
	own.Invocation = "order/2029-01-01/the caller's own key, which is longer than a button holds"
	handoff := chat.Card{
		Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X", Text: "🙋 Sign in to the bank\n1. Open it\n2. Sign in",
		Buttons: []chat.Button{{Label: "Done", Action: chat.ActionDone}, {Label: "Cancel", Action: chat.ActionCancel}},
	}
	long := open
	long.Text = strings.Repeat("😀", 3000) + " Reply 'Yes' to confirm."
	for name, card := range map[string]chat.Card{"open": open, "closed": closed, "own_key": own, "handoff": handoff, "long": long} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, _ := prompt(card)
			golden(t, name, text+"\n--\n"+keyboard(card)+"\n")
		})
	}
}

func TestToastGolden(t *testing.T) {
	t.Parallel()
	at := time.Date(2029, 1, 1, 12, 3, 4, 0, time.UTC)
	var out strings.Builder
	for _, v := range []chat.Verdict{
		{Standing: chat.StandingTaken}, {Standing: chat.StandingNoted},
		{Standing: chat.StandingDecided, Decision: &chat.Decision{Decision: chat.Allow, By: "ada", At: at}},
		{Standing: chat.StandingDecided}, {Standing: chat.StandingClosed, Reason: "timeout"}, {Standing: chat.StandingClosed},
		{Standing: chat.StandingRefused}, {Standing: chat.StandingInvalid}, {Standing: chat.StandingKept}, {Standing: chat.StandingUnknown}, {},
	} {
		out.WriteString(string(v.Standing) + ": " + toast("", v) + "\n")
	}
	golden(t, "toasts", out.String())
	require.LessOrEqual(t, units.Length(toast("", chat.Verdict{Standing: chat.StandingClosed, Reason: strings.Repeat("😀", 300)})), maxToast)
}

func TestD13PromptFits(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"ascii": strings.Repeat("a", 4097), "pairs": strings.Repeat("😀", 3000), "fits": strings.Repeat("a", 4096), "broken": "a\xffb",
	} {
		for _, closing := range []string{"", "✅ Approved by ada.", strings.Repeat("c", 5000)} {
			got, _ := prompt(chat.Card{Text: text, Closed: closing})
			require.LessOrEqual(t, units.Length(got), maxText, name)
			require.True(t, utf8.ValidString(got), name)
		}
	}
	exact, cut := prompt(chat.Card{Text: strings.Repeat("a", 4096)})
	require.Equal(t, strings.Repeat("a", 4096), exact)
	require.False(t, cut)
	long, cut := prompt(chat.Card{Text: strings.Repeat("a", 9000) + " Reply 'Yes' to confirm."})
	require.True(t, cut)
	require.True(t, strings.HasSuffix(long, " Reply 'Yes' to confirm."), "how to answer stays")
}

// What the connector adds is in the card's language, or the presser's.
func TestRenderedInOtherLanguages(t *testing.T) {
	t.Parallel()
	text, cut := prompt(chat.Card{Language: "de", Text: strings.Repeat("a", 9000) + " Zum Bestätigen mit 'Yes' antworten."})
	require.True(t, cut)
	require.Contains(t, text, "Zeichen ausgelassen …]")
	require.True(t, strings.HasSuffix(text, "Zum Bestätigen mit 'Yes' antworten."))
	decided := chat.Verdict{Standing: chat.StandingDecided, Decision: &chat.Decision{By: "{{.at}}", At: time.Date(2029, 1, 1, 12, 3, 4, 0, time.UTC)}}
	require.Equal(t, "Schon entschieden von {{.at}} um 12:03 UTC", toast("de", decided))
	require.Equal(t, "此问题已关闭：timeout", toast("zh-CN", chat.Verdict{Standing: chat.StandingClosed, Reason: "timeout"}))
}
