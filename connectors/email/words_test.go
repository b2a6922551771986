package email_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What the connector adds is in the card's language; the words that answer are the same.
func TestQuestionInAnotherLanguage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card("i-1")
	c.Language, c.Expires = "de", time.Date(2029, 1, 1, 12, 5, 3, 0, time.UTC)
	c.Text = "⚠️ Die Datei alt.csv auf dem Laufwerk local löschen? Zum Bestätigen mit 'Yes' antworten."
	_, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	m := b.sent(t)[0]
	require.Equal(t, "Die Datei alt.csv auf dem Laufwerk local löschen?", subjectOf(t, m))
	require.Equal(t, c.Text+"\n\nAuf diese Mail mit einem dieser Wörter antworten, allein in der ersten Zeile, über allem, was zitiert ist: yes, no, always.\n"+
		"(always: von jetzt an in dieser Unterhaltung, ohne zu fragen.)\nSie ist bis 12:05:03 UTC offen.", strings.TrimRight(m.text, "\n"))
}
