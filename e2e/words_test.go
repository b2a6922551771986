package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// A German person is asked, answers and hears of it in German; a group speaks what it has chosen,
// and its standing answers are listed and ended there.
func TestWords(t *testing.T) {
	t.Parallel()
	s := newTelegram(t)
	w := s.world(t, harness.Setup{Env: map[string]string{
		"COUNTERSIGN_PEOPLE":        `[{name: ada, owner: true, language: de, telegram: [1001]}, {name: bob, telegram: [1002]}]`,
		"COUNTERSIGN_CONVERSATIONS": `{"telegram:-902": {language: zh-CN}}`,
		"COUNTERSIGN_POLICY":        `{file_manager.append: {confirm: true}}`,
	}})

	t.Run("a person", func(t *testing.T) {
		t.Parallel()
		w.Write(t, "alt.csv", "x")
		const call, question = "/file_manager delete disk=local path=alt.csv", "⚠️ Die Datei alt.csv auf dem Laufwerk local löschen? Zum Bestätigen mit 'Yes' antworten."
		s.Say(private(adaThere), adaThere, call)
		prompt := s.await(t, ada, question)
		require.Equal(t, []string{"Ja", "Nein"}, captions(prompt))
		s.Say(private(adaThere), adaThere, "ja") // the word is never translated
		s.await(t, ada, "Nicht ausgeführt: file_manager delete – abgelehnt von ada.")
		require.True(t, w.Exists("alt.csv"))
		require.Contains(t, s.await(t, ada, question).Text, "\n\n❌ Abgelehnt von ada um ")

		s.Say(private(adaThere), adaThere, call)
		again, err := s.Await(bounded(t), ada, func(m telegramtest.Message) bool {
			return strings.HasPrefix(m.Text, question) && len(m.Buttons) > 0
		})
		require.NoError(t, err)
		s.Say(private(adaThere), adaThere, "yes")
		s.await(t, ada, "✅ Erledigt: file_manager delete")
		require.False(t, w.Exists("alt.csv"))
		_, err = s.Await(bounded(t), ada, func(m telegramtest.Message) bool {
			return m.ID == again.ID && strings.Contains(m.Text, "\n\n✅ Genehmigt von ada um ") && len(m.Buttons) == 0
		})
		require.NoError(t, err)

		// Who comes too late is told so in their own language.
		_, query := s.PressData(adaThere, again, again.Buttons[1].Data)
		s.taken(t)
		text, answered := s.Answer(query)
		require.True(t, answered)
		require.Contains(t, text, "Schon entschieden von ada um ")
	})

	t.Run("a group", func(t *testing.T) {
		t.Parallel()
		const chat = -901
		say := func(who telegramtest.Person, text string) { s.Say(group(chat), who, text) }
		say(bobThere, "!language es")
		s.await(t, chat, "A partir de ahora hablo español en esta conversación.")
		say(bobThere, "/file_manager append disk=local path=log.txt content=uno,")
		const question = "⚠️ ¿Añadir algo al archivo log.txt en el disco local? Responda 'Yes' para confirmar."
		prompt := s.await(t, chat, question)
		require.Equal(t, []string{"Sí", "No", "Permitir siempre"}, captions(prompt))

		// Commands answer no question and are answered while it is open, each person in their language.
		say(bobThere, "!grants")
		s.await(t, chat, "En esta conversación no hay nada permitido siempre.")
		say(adaThere, "!help")
		s.await(t, chat, "Diese Wörter verstehe ich")
		require.Equal(t, question, s.await(t, chat, question).Text, "it is still open")

		say(bobThere, "always")
		s.await(t, chat, "✅ Hecho: file_manager append")
		require.Contains(t, s.await(t, chat, question).Text, "✅ Permitido siempre en esta conversación por bob a las ")
		say(bobThere, "/file_manager append disk=local path=log.txt content=dos,")
		harness.Eventually(t, "the grant covers the next call", func() bool { return w.Read(t, "log.txt") == "uno,dos," })

		say(bobThere, "!grants")
		listed := s.await(t, chat, "Permitido siempre en esta conversación:").Text
		require.Contains(t, listed, "\n- file_manager append, permitido por bob para bob, desde ")
		grants := talkOf(t, w, "telegram/-901").Grants
		require.Len(t, grants, 1)
		say(adaThere, "!revoke")
		s.await(t, chat, "1 dauerhafte Erlaubnis ist beendet.")
		require.Empty(t, talkOf(t, w, "telegram/-901").Grants)
		audit := w.Audit(t, grants[0].ID)
		last := audit[len(audit)-1]
		require.Equal(t, "revoked", last.Kind)
		require.Equal(t, "ada", last.Decision.By)

		before := s.prompts(chat, question)
		say(bobThere, "/file_manager append disk=local path=log.txt content=tres,")
		harness.Eventually(t, "it is asked again", func() bool { return s.prompts(chat, question) > before })
		say(bobThere, "!new")
		s.await(t, chat, "Esta es una conversación nueva.")
		require.Equal(t, "uno,dos,", w.Read(t, "log.txt"))
	})

	t.Run("a group in the configuration", func(t *testing.T) {
		t.Parallel()
		const chat = -902
		w.Write(t, "neu.csv", "x")
		s.Say(group(chat), bobThere, "/file_manager delete disk=local path=neu.csv")
		s.await(t, chat, "⚠️ 要删除磁盘 local 上的文件 neu.csv 吗？ 回复 'Yes' 即可确认。")
		s.Say(group(chat), bobThere, "yes")
		s.await(t, chat, "✅ 已完成：file_manager delete")
	})
}

// captions are what a message's buttons say.
func captions(m telegramtest.Message) []string {
	var captions []string
	for _, b := range m.Buttons {
		captions = append(captions, b.Text)
	}
	return captions
}

// talkOf is the state of a conversation.
func talkOf(t *testing.T, w *harness.World, of string) (talk contract.Talk) {
	t.Helper()
	value, err := w.Client.QueryWorkflow(bounded(t), "conversation/"+of, "", contract.QueryTalk)
	require.NoError(t, err)
	require.NoError(t, value.Get(&talk))
	return talk
}
