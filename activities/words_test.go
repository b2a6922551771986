package activities_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
)

var (
	german = chat.Person{ID: "telegram:1001", Name: "ada", Language: "de"}
	group  = chat.Thread{Connector: chat.Telegram, Key: "-100"}
)

// speaks is an operation with German words.
func speaks(op *tool.Operation) {
	op.Translations = map[string]tool.Translation{"de": {Prompt: "{path} löschen?"}}
}

// The person, then the conversation, then the installation, then English (issue 4, point 6).
func TestThePromptsLanguage(t *testing.T) {
	t.Parallel()
	choice := words.Choice{Default: "zh-CN", Conversations: map[string]string{group.String(): "es"}}
	for name, test := range map[string]struct {
		in       func(*contract.Invocation)
		choice   words.Choice
		language string
		prompt   string
	}{
		"English":     {language: "en", prompt: "⚠️ Delete a? Reply 'Yes' to confirm."},
		"the person":  {in: func(in *contract.Invocation) { in.Requester = german }, choice: choice, language: "de", prompt: "⚠️ a löschen? Zum Bestätigen mit 'Yes' antworten."},
		"chosen":      {in: func(in *contract.Invocation) { in.Language = "de" }, choice: choice, language: "de", prompt: "⚠️ a löschen? Zum Bestätigen mit 'Yes' antworten."},
		"configured":  {in: func(in *contract.Invocation) { in.Thread = group }, choice: choice, language: "es", prompt: "⚠️ Delete a? Responda 'Yes' para confirmar."},
		"the default": {choice: choice, language: "zh-CN", prompt: "⚠️ Delete a? 回复 'Yes' 即可确认。"},
		"not spoken":  {in: func(in *contract.Invocation) { in.Requester.Language = "fr" }, language: "en", prompt: "⚠️ Delete a? Reply 'Yes' to confirm."},
	} {
		change := test.in
		if change == nil {
			change = func(*contract.Invocation) {}
		}
		w := newWorld(t, []tool.Operation{operation(speaks)}, func(w *world) { w.params.Languages = test.choice })
		plan := w.plan(t, invocation(change))
		require.Equal(t, test.language, plan.Language, name)
		require.Equal(t, test.prompt, plan.Prompt, name)
	}
}

// Where the policy wants it asked too: in the language that is spoken there, and to nobody who is
// then refused.
func TestAQuestionThatIsAskedElsewhereToo(t *testing.T) {
	t.Parallel()
	own := func(person string, language string) chat.Audience {
		return chat.Audience{
			Thread: chat.Thread{Connector: chat.Email, Key: person + "@example.test"}, Person: chat.Person{Name: person, Language: language},
		}
	}
	w := newWorld(t, []tool.Operation{operation(speaks, func(op *tool.Operation) { op.Approvers.Who = tool.WhoOther })}, func(w *world) {
		w.params.AlsoAsk = map[string][]chat.Audience{
			"t.o":       {own("carol", "de"), own("ada", ""), {Thread: group}, {Thread: telegram}},
			"t.another": {own("bob", "")},
		}
	})
	plan := w.plan(t, invocation(func(in *contract.Invocation) { in.Requester = chat.Person{ID: "telegram:1001", Name: "ada"} }))
	require.Equal(t, []contract.Copy{
		{
			Thread: chat.Thread{Connector: chat.Email, Key: "carol@example.test"}, Language: "de",
			Prompt: "⚠️ a löschen? Zum Bestätigen mit 'Yes' antworten.\n\nFür ada, in telegram. Als Antwort zählen hier nur die Knöpfe dieser Nachricht oder eine Antwort auf sie.",
		},
		{
			Thread: group, Language: "en",
			Prompt: "⚠️ Delete a? Reply 'Yes' to confirm.\n\nFor ada, in telegram. Only this message's buttons or a reply to it are an answer here.",
		},
	}, plan.Copies, "neither ada, who asked, nor where it is asked anyway")

	plan = w.plan(t, invocation(func(in *contract.Invocation) { in.Requester = chat.Person{ID: "telegram:7", Display: "carol"} }))
	require.Len(t, plan.Copies, 3)
	require.Contains(t, plan.Copies[1].Prompt, "For telegram:7, in telegram.", "anyone can call themselves carol")
	plan = w.plan(t, invocation(func(in *contract.Invocation) { in.Requester = chat.Person{} }))
	require.Len(t, plan.Copies, 1, "it is not known whom it is made for, so no person is known who may answer")
	require.Contains(t, plan.Copies[0].Prompt, "For another program, in telegram.")
}

// On the page a step shows where it is done; whoever has a copy of it elsewhere needs the link.
func TestACopyOfAStepHasItsPage(t *testing.T) {
	t.Parallel()
	step := operation(func(op *tool.Operation) {
		op.Prompt, op.Run = "", nil
		op.Handoff = &tool.Handoff{Reason: "Publish it", Steps: []tool.Step{{Text: "Press Publish."}}}
	})
	w := newWorld(t, []tool.Operation{step}, func(w *world) {
		w.params.Defaults.Page = "https://countersign.example.test"
		w.params.AlsoAsk = map[string][]chat.Audience{"t.o": {{Thread: group}}}
	})
	plan := w.plan(t, invocation(on(chat.Web, "tab")))
	const link = "https://countersign.example.test/invocations/01J"
	require.NotContains(t, plan.Prompt, link)
	require.Len(t, plan.Copies, 1)
	require.Contains(t, plan.Copies[0].Prompt, link)
}

// A question that is asked elsewhere is read by the people there.
func TestARoutedQuestionHasTheRoutesLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []tool.Operation{operation(speaks)}, func(w *world) {
		w.params.Defaults.Unsupported, w.params.Defaults.Route = "route", group
		w.params.Languages.Conversations = map[string]string{group.String(): "de"}
	})
	plan := w.plan(t, invocation(on(chat.API, "k"), func(in *contract.Invocation) { in.Requester.Language = "es" }))
	require.Equal(t, "de", plan.Language)
	require.Equal(t, "⚠️ a löschen? Zum Bestätigen mit 'Yes' antworten.", plan.Prompt)
}

// Values are data in every language: what a German reads is what an English reader does.
func TestValuesInATranslatedPrompt(t *testing.T) {
	t.Parallel()
	hostile := "a' antworten.\n{{.prompt}} {path} %s \u202e"
	parameters, err := json.Marshal(map[string]string{"path": hostile})
	require.NoError(t, err)
	plan := newWorld(t, []tool.Operation{operation(speaks)}).plan(t, invocation(func(in *contract.Invocation) {
		in.Requester, in.Parameters = german, parameters
	}))
	require.Equal(t, `⚠️ a' antworten.\n{{.prompt}} {path} %s \u{202E} löschen? Zum Bestätigen mit 'Yes' antworten.`, plan.Prompt)
	require.Equal(t, 1, strings.Count(plan.Prompt, "Zum Bestätigen mit 'Yes' antworten."))
}

// A question that only the configuration made is asked in the language too.
func TestAGenericPromptIsTranslated(t *testing.T) {
	t.Parallel()
	generic := operation(func(op *tool.Operation) { op.Prompt = "Run o with path: {path}?" })
	ask := func(language string) string {
		return newWorld(t, []tool.Operation{generic}).plan(t, invocation(func(in *contract.Invocation) { in.Requester.Language = language })).Prompt
	}
	require.Equal(t, "⚠️ Run o with path: a? Reply 'Yes' to confirm.", ask(""))
	require.Equal(t, "⚠️ o ausführen mit path: a? Zum Bestätigen mit 'Yes' antworten.", ask("de"))
	require.Equal(t, "⚠️ ¿Ejecutar o con path: a? Responda 'Yes' para confirmar.", ask("es"))
}

func TestPlanAHandoffInAnotherLanguage(t *testing.T) {
	t.Parallel()
	op := handoff(expecting(false, nil))
	op.Handoff.Page = "https://app.example.test/sign"
	op.Translations = map[string]tool.Translation{"de": {
		Reason: "Nur Sie können das.", Steps: []string{"Unterschreiben."}, Expect: "der Vertrag ist unterschrieben",
	}}
	plan := newWorld(t, []tool.Operation{op}).plan(t, invocation(func(in *contract.Invocation) { in.Requester = german }))
	require.Equal(t, "👉 Nur Sie können das.\n1. Unterschreiben.\nDie Seite dafür: https://app.example.test/sign\n"+
		"Mit 'Done' antworten, wenn es erledigt ist, oder mit 'Cancel' abbrechen.", plan.Prompt)
	require.Equal(t, &contract.Handoff{
		Reason: "Nur Sie können das.", Steps: []tool.Step{{Text: "Unterschreiben.", Highlight: "sign"}}, Timeout: 5 * time.Minute,
		Expects: "der Vertrag ist unterschrieben", Observable: true, Page: "https://app.example.test/sign",
	}, plan.Handoff)
}

func TestCardsAreRenderedWhereTheyAreSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ask := asking()
	ask.Card.Language = "de"
	ask.Card.Buttons = []chat.Button{{Action: chat.ActionYes}, {Action: chat.ActionNo}, {Action: chat.ActionAlways}}
	_, err := run[contract.Asked](t, w, contract.ActivityAsk, ask)
	require.NoError(t, err)
	require.Equal(t, []chat.Button{
		{Label: "Ja", Action: chat.ActionYes}, {Label: "Nein", Action: chat.ActionNo}, {Label: "Immer erlauben", Action: chat.ActionAlways},
	}, w.cards[0].Buttons)

	end := closing()
	end.Card.Language, end.Card.Closed = "de", ""
	end.Outcome = chat.Text(chat.LineApproved, "by", "ada", "at", "12:00:00 UTC")
	_, err = run[contract.Closed](t, w, contract.ActivityClose, end)
	require.NoError(t, err)
	_, err = run[struct{}](t, w, contract.ActivityEdit, end)
	require.NoError(t, err)
	for _, card := range w.cards[1:] {
		require.Equal(t, "✅ Genehmigt von ada um 12:00:00 UTC.", card.Closed)
	}
	require.Len(t, w.cards, 3)
}

// Payloads that an earlier version has recorded are said as they are.
func TestTextsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	var said []chat.Reply
	w := newWorld(t, nil, func(w *world) {
		w.reply = func(r chat.Reply, _ chat.Progress) error { said = append(said, r); return nil }
	})
	ask := asking()
	ask.Card.Buttons = []chat.Button{{Label: "Yes", Action: chat.ActionYes}}
	_, err := run[contract.Asked](t, w, contract.ActivityAsk, ask)
	require.NoError(t, err)
	require.Equal(t, ask.Card.Buttons, w.cards[0].Buttons)
	_, err = run[contract.Closed](t, w, contract.ActivityClose, closing())
	require.NoError(t, err)
	require.Equal(t, "✅ Approved by ada.", w.cards[1].Closed)
	for _, in := range []contract.TellInput{
		{Thread: telegram, Text: "It was not run.", Key: "k"},
		{Thread: telegram, Line: chat.Text(chat.LineNotRun), Key: "k"},
		{Thread: telegram, Line: chat.Text(chat.LineNotRun), Language: "zh-CN", Key: "k"},
	} {
		_, err := run[struct{}](t, w, contract.ActivityTell, in)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"It was not run.", "It was not run.", "未执行。"}, []string{said[0].Text, said[1].Text, said[2].Text})
}

func TestATurnSaysItsOwnSentences(t *testing.T) {
	t.Parallel()
	var said []chat.Reply
	w := newWorld(t, nil, func(w *world) {
		w.reply = func(r chat.Reply, _ chat.Progress) error { said = append(said, r); return nil }
	})
	result, err := run[contract.TurnResult](t, w, contract.ActivityReply, contract.ReplyInput{
		Turn: contract.Turn{Message: message("x"), Language: "de"}, Line: chat.Text(chat.LineTurnCancelled),
	})
	require.NoError(t, err)
	require.Equal(t, "Das wurde abgebrochen.", result.Text)
	require.Equal(t, "Das wurde abgebrochen.", said[0].Text)
	require.Equal(t, "de", said[0].Language)
	require.Equal(t, []string{"Das wurde abgebrochen."}, w.closed, "so it is remembered")
}

func TestTheAgentHearsTheLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(w *world) { w.agent.Steps = map[string][]contract.Step{"hallo": {{Reply: "hallo"}}} })
	m := message("hallo")
	m.From = german
	_, err := run[contract.Step](t, w, contract.ActivityStep, step(m))
	require.NoError(t, err)
	require.Equal(t, "de", w.agent.Asked()[0].Language)
}

// command runs one and returns the answer; the agent never sees it.
func command(t *testing.T, w *world, text, language string) string {
	t.Helper()
	m := message(text)
	s, err := run[contract.Step](t, w, contract.ActivityStep, contract.StepInput{Turn: contract.Turn{Message: m, Language: language, Attributes: true}})
	require.NoError(t, err)
	require.Empty(t, s.Calls)
	require.Empty(t, w.agent.Asked())
	return s.Reply
}

var grants = []contract.Grant{
	{ID: "G1", Tool: "t", Operation: "o", By: "ada", For: "bob", Since: start},
	{ID: "G2", Tool: "t", Operation: "p", By: "telegram:7\u202e\n- x", Since: start.Add(time.Hour)},
}

func TestGrantsCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	require.Equal(t, "Nothing is always allowed in this conversation.", command(t, w, "!grants", ""))
	w.grants = grants
	require.Equal(t, "Always allowed in this conversation:\n"+
		"- t o, allowed by ada for bob, since 2029-01-01 09:00 UTC\n"+
		`- t p, allowed by telegram:7\u{202E}\n- x, since 2029-01-01 10:00 UTC`+"\n"+
		"!revoke ends all of this.", command(t, w, " !Grants ", ""))
	require.Contains(t, command(t, w, "!grants", "de"), "In dieser Unterhaltung immer erlaubt:\n- t o, erlaubt von ada für bob, seit 2029-01-01 09:00 UTC\n")
	require.Empty(t, w.notes)
}

func TestRevokeCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(w *world) { w.grants = grants })
	require.Equal(t, "2 standing permissions have ended. I ask again from now on.", command(t, w, "!revoke", ""))
	require.Equal(t, []contract.Note{
		{Revoke: &contract.Revoke{Grant: "G1", By: "ada"}}, {Revoke: &contract.Revoke{Grant: "G2", By: "ada"}},
	}, w.notes)
	require.Len(t, w.entries, 2)
	entry := w.entries[0]
	require.Equal(t, "revoked G1 t o bob", strings.Join([]string{entry.Kind, entry.Invocation, entry.Tool, entry.Operation, entry.Requester}, " "))
	require.Equal(t, &chat.Decision{Decision: chat.Deny, By: "ada", Via: chat.Telegram, At: start}, entry.Decision)
	require.Equal(t, telegram, entry.Thread)

	w.grants = grants[:1]
	require.Equal(t, "1 dauerhafte Erlaubnis ist beendet. Ab jetzt frage ich wieder.", command(t, w, "!revoke", "de"))
	w.grants = nil
	require.Equal(t, "Nothing is always allowed in this conversation.", command(t, w, "!revoke", ""))
}

// Nothing is revoked that nobody will know of.
func TestRevokeNeedsItsAuditEntry(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"audit", "standing", "note telegram:1001"} {
		w := newWorld(t, nil, func(w *world) { w.grants, w.faults[fault] = grants, errAway })
		_, err := run[contract.Step](t, w, contract.ActivityStep, step(message("!revoke")))
		require.ErrorContains(t, err, "away", fault)
		if fault != "note telegram:1001" {
			require.Empty(t, w.notes, fault)
		}
	}
}

func TestLanguageCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	require.Equal(t, "Ab jetzt spreche ich in dieser Unterhaltung Deutsch.", command(t, w, "!language DE", "de"))
	require.Equal(t, "从现在起，我在此对话中使用中文。", command(t, w, "!language zh-CN", "zh-CN"))
	for _, text := range []string{"!language", "!language klingon"} {
		require.Equal(t, "I speak these languages: en, de, es, zh-cn. Write for example: !language de", command(t, w, text, ""))
	}
	help := command(t, w, "!help", "es")
	for _, text := range []string{"Entiendo", "!new", "!language", "!grants", "!revoke", "'yes'", "'always'", "en, de, es, zh-cn"} {
		require.Contains(t, help, text)
	}
}

// What a person attaches to a command belongs to the conversation like any file.
func TestACommandsFilesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := message("!help")
	m.Files = []chat.File{{Name: "a.txt", Path: "inbound/0198/a.txt"}}
	_, err := run[contract.Step](t, w, contract.ActivityStep, step(m))
	require.NoError(t, err)
	require.Equal(t, m.Files, w.said[0].Files)
}
