package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/tool"
)

func german(change ...func(*tool.Translation)) tool.Operation {
	op := deleteOperation()
	t := tool.Translation{
		Prompt:  "Die Datei {path} auf {disk} löschen?",
		Prompts: map[string]string{"paths": "{count} Dateien auf {disk} löschen: {paths}?"},
	}
	for _, c := range change {
		c(&t)
	}
	op.Translations = map[string]tool.Translation{"de": t}
	return op
}

func germanHandoff(change ...func(*tool.Translation)) tool.Operation {
	op := publish()
	t := tool.Translation{Reason: "Nur Sie haben den Code.", Steps: []string{"Den Code eingeben."}, Expect: "Die Änderungen sind veröffentlicht"}
	for _, c := range change {
		c(&t)
	}
	op.Translations = map[string]tool.Translation{"de": t}
	return op
}

func TestTranslations(t *testing.T) {
	t.Parallel()
	registry, warnings, err := tool.NewRegistry(tool.Tool{Name: "t", Operations: []tool.Operation{german(), germanHandoff()}})
	require.NoError(t, err)
	require.Empty(t, warnings)

	op, _ := registry.Find("t", "delete")
	de := op.In("de")
	require.Equal(t, "Die Datei {path} auf {disk} löschen?", de.Prompt)
	require.Equal(t, tool.PromptVariant{When: "paths", Template: "{count} Dateien auf {disk} löschen: {paths}?", Count: "paths"}, de.Prompts[0])
	require.Equal(t, deleteOperation().Prompts, op.In("es").Prompts, "no translation: the declaration's own words")
	require.Equal(t, deleteOperation().Prompt, op.Prompt, "the declaration stays as it is")
	require.Equal(t, deleteOperation().Prompts, op.Prompts)

	step, _ := registry.Find("t", "publish")
	de = step.In("de")
	require.Equal(t, "Nur Sie haben den Code.", de.Handoff.Reason)
	require.Equal(t, []tool.Step{{Text: "Den Code eingeben.", Highlight: "code"}}, de.Handoff.Steps)
	require.Equal(t, "Die Änderungen sind veröffentlicht", de.Handoff.Expect.Desc)
	require.NotNil(t, de.Handoff.Expect.Check)
	require.Equal(t, "Only you have the code.", step.Handoff.Reason)
	require.Equal(t, "Enter the code.", step.Handoff.Steps[0].Text)
	require.Equal(t, "The changes are published", step.Handoff.Expect.Desc)
}

// A translation that shows less than the declaration hides what is agreed to.
func TestRegistryRefusesTranslations(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		op   tool.Operation
		want string
	}{
		"hides a parameter": {german(func(t *tool.Translation) { t.Prompt = "Eine Datei auf {disk} löschen?" }),
			`translations[de].prompt shows the parameters ["disk"] and the declaration ["disk" "path"]; show the same`},
		"hides a parameter of a variant": {german(func(t *tool.Translation) { t.Prompts["paths"] = "Dateien auf {disk} löschen: {paths}?" }),
			`translations[de].prompts[paths] shows the parameters`},
		"unknown placeholder": {german(func(t *tool.Translation) { t.Prompt = "{pfad} auf {disk}?" }), `translations[de].prompt names "pfad"`},
		"line break":          {german(func(t *tool.Translation) { t.Prompt = "{path}\n{disk}?" }), "translations[de].prompt holds line breaks"},
		"no prompt":           {german(func(t *tool.Translation) { t.Prompt = " " }), "translations[de].prompt: translate the declaration's prompt"},
		"no variant":          {german(func(t *tool.Translation) { t.Prompts = nil }), "translations[de].prompts[paths]: translate"},
		"another variant":     {german(func(t *tool.Translation) { t.Prompts["path"] = "{path}?" }), `a prompt for when "path" is there, which the declaration has not`},
		"handoff words":       {german(func(t *tool.Translation) { t.Reason = "x" }), "has words of a handoff, and there is none"},
		"no reason":           {germanHandoff(func(t *tool.Translation) { t.Reason = "" }), "has no reason for the handoff"},
		"a step more":         {germanHandoff(func(t *tool.Translation) { t.Steps = append(t.Steps, "x") }), "has 2 steps and the handoff has 1"},
		"an empty step":       {germanHandoff(func(t *tool.Translation) { t.Steps[0] = " " }), "has no text for step 1"},
		"no expect":           {germanHandoff(func(t *tool.Translation) { t.Expect = "" }), "translate what the handoff expects"},
		"a prompt too much":   {germanHandoff(func(t *tool.Translation) { t.Prompt = "Ja?" }), "translations[de].prompt: translate the declaration's prompt if it has one, and only then"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := tool.NewRegistry(tool.Tool{Name: "t", Operations: []tool.Operation{test.op}})
			require.ErrorContains(t, err, test.want)
			require.ErrorAs(t, err, new(*tool.DeclarationError))
		})
	}
	for _, name := range []string{"", "german!", "DE", "de_DE"} {
		op := german()
		op.Translations[name] = op.Translations["de"]
		_, _, err := tool.NewRegistry(tool.Tool{Name: "t", Operations: []tool.Operation{op}})
		require.ErrorContains(t, err, "is no language as BCP 47 writes it", name)
	}
}

func TestHashOfTranslations(t *testing.T) {
	t.Parallel()
	plain := tool.Hash("t", deleteOperation())
	none := deleteOperation()
	none.Translations = map[string]tool.Translation{}
	require.Equal(t, plain, tool.Hash("t", none))
	// What it was before there were translations: grants of then stand.
	require.Equal(t, "58941979fe2e2ebe40205fccfd7bcc8a3617a7beb327567e0a53bf2556acf492", plain)
	seen := map[string]bool{plain: true}
	for _, op := range []tool.Operation{
		german(),
		german(func(t *tool.Translation) { t.Prompt += "?" }),
		german(func(t *tool.Translation) { t.Prompts["paths"] += "?" }),
		germanHandoff(),
		germanHandoff(func(t *tool.Translation) { t.Reason += "!" }),
		germanHandoff(func(t *tool.Translation) { t.Steps[0] += "!" }),
		germanHandoff(func(t *tool.Translation) { t.Expect += "!" }),
	} {
		hash := tool.Hash("t", op)
		require.False(t, seen[hash])
		seen[hash] = true
	}
}
