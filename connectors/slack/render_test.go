package slack

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
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
		Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X", Thread: chat.Thread{Connector: chat.Slack, Key: "C01:1700000000.000100"},
		Text: "⚠️ Delete 3 files on disk local: a&amp;b, *x*, <https://attacker.test|docs>? Reply 'Yes' to confirm.",
		Buttons: []chat.Button{
			{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo}, {Label: "Always allow", Action: chat.ActionAlways},
		},
	}
	closed := open
	closed.Closed = "✅ Approved by ada at 12:03:04 UTC."
	own := open
	own.Invocation = "a key of the caller's own, with blanks"
	handoff := chat.Card{
		Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X", Thread: chat.Thread{Connector: chat.Slack, Key: "U01"},
		Text:    "🙋 Sign in to the bank\n1. Open it\n2. Sign in",
		Buttons: []chat.Button{{Label: "Done", Action: chat.ActionDone}, {Label: "Cancel", Action: chat.ActionCancel}, {Label: "?", Action: "other"}},
	}
	long := open
	long.Text = strings.Repeat("😀&", 1000) + " Reply 'Yes' to confirm."
	for name, card := range map[string]chat.Card{"open": open, "closed": closed, "own_key": own, "handoff": handoff, "long": long} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, _ := blocks(card)
			var out strings.Builder
			encoder := json.NewEncoder(&out)
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", "  ")
			require.NoError(t, encoder.Encode(content))
			golden(t, name, out.String()+"--\n"+escape(fallback(card))+"\n")
		})
	}
}

func TestWhispersGolden(t *testing.T) {
	t.Parallel()
	at := time.Date(2029, 1, 1, 12, 3, 4, 0, time.UTC)
	var out strings.Builder
	for _, v := range []chat.Verdict{
		{Standing: chat.StandingTaken}, {Standing: chat.StandingNoted},
		{Standing: chat.StandingDecided, Decision: &chat.Decision{Decision: chat.Allow, By: "ada", At: at}},
		{Standing: chat.StandingDecided}, {Standing: chat.StandingClosed, Reason: "timeout"}, {Standing: chat.StandingClosed},
		{Standing: chat.StandingRefused}, {Standing: chat.StandingInvalid}, {Standing: chat.StandingKept}, {Standing: chat.StandingUnknown}, {},
	} {
		out.WriteString(string(v.Standing) + ": " + words.Say("", whisper(v)) + "\n")
	}
	golden(t, "whispers", out.String())
}

// Slack counts after escaping, and replies are split by that.
func TestC14WhatCharactersCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "aé": 2, "😀": 2, "&": 5, "<>": 8} {
		require.Equal(t, want, characters.Length(text), text)
	}
	require.Equal(t, []string{"a&", "&&"}, characters.Split("a&&&", 10))
	require.Equal(t, []string{"<>", "<>"}, characters.Split("<><>", 10))
}
