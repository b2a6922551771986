package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
)

// Hash is the declaration's hash: sha256 in hex over what a person relied on
// when agreeing to an operation in advance. A grant is void once it differs
// (CONTRACT §2). It covers the names, kind, confirm, prompts, schema, approvers,
// the handoff's words and all of these in other languages; not descriptions,
// timeouts and functions. How the schema is laid out does not matter.
//
// Give it the operation with the configuration's policy applied, so that a
// stricter configuration voids grants too.
func Hash(toolName string, op Operation) string {
	schemaForm, err := Canonical([]byte(op.Schema))
	if err != nil { // refused at registration; as text it still has a hash
		schemaForm = []byte(op.Schema)
	}
	prompts := []any{}
	for _, p := range op.Prompts {
		prompts = append(prompts, []any{p.When, p.Template, p.Count})
	}
	approvers := op.Approvers.Normal()
	people := []any{}
	for _, name := range approvers.People {
		people = append(people, name)
	}
	value := object{
		{"version", "countersign/declaration/1"},
		{"tool", toolName},
		{"operation", op.Name},
		{"kind", string(op.Kind)},
		{"confirm", string(op.Confirm)},
		{"prompt", op.Prompt},
		{"prompts", prompts},
		{"schema", string(schemaForm)},
		{"who", string(approvers.Who)},
		{"people", people},
		{"quorum", strconv.Itoa(approvers.Quorum)},
	}
	if op.Handoff != nil {
		value = append(value, member{"handoff", handoffValue(op.Handoff)})
	}
	if len(op.Translations) > 0 { // without any, the hash is what it was before there were some
		value = append(value, member{"translations", translationsValue(op.Translations)})
	}
	sum := sha256.Sum256(appendValue(nil, value))
	return hex.EncodeToString(sum[:])
}

func translationsValue(translations map[string]Translation) object {
	value := object{}
	for _, language := range slices.Sorted(maps.Keys(translations)) {
		t := translations[language]
		prompts, steps := []any{}, []any{}
		for _, when := range slices.Sorted(maps.Keys(t.Prompts)) {
			prompts = append(prompts, []any{when, t.Prompts[when]})
		}
		for _, s := range t.Steps {
			steps = append(steps, s)
		}
		value = append(value, member{language, object{
			{"prompt", t.Prompt}, {"prompts", prompts}, {"reason", t.Reason}, {"steps", steps}, {"expect", t.Expect},
		}})
	}
	return value
}

func handoffValue(h *Handoff) object {
	steps := []any{}
	for _, s := range h.Steps {
		steps = append(steps, []any{s.Text, s.Highlight})
	}
	value := object{{"reason", h.Reason}, {"steps", steps}}
	if h.Expect != nil {
		value = append(value, member{"expect", h.Expect.Desc}, member{"observable", h.Expect.Observable})
	}
	return value
}
