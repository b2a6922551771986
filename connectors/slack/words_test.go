package slack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// What the connector adds is in the card's language, or the presser's.
func TestRenderedInOtherLanguages(t *testing.T) {
	t.Parallel()
	long := chat.Card{Language: "es", Text: strings.Repeat("a", 9000) + " Responda 'Yes' para confirmar."}
	require.Contains(t, fallback(long), "caracteres omitidos; el texto completo está en prompt.txt, SHA-256 ")
	require.Empty(t, words.Say("de", whisper(chat.Verdict{Standing: chat.StandingTaken})), "the question itself says it")
	require.Equal(t, "Diese Frage ist geschlossen: timeout", words.Say("de", whisper(chat.Verdict{Standing: chat.StandingClosed, Reason: "timeout"})))
}
