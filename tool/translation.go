package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// checkTranslations refuses what is less than the declaration: a person who reads the question in
// another language must be shown the same.
func (c *checker) checkTranslations() {
	for _, name := range slices.Sorted(maps.Keys(c.op.Translations)) {
		if tag, err := language.Parse(name); err != nil || tag.String() != name {
			c.fault("translations[%s] is no language as BCP 47 writes it; use e.g. de or zh-CN", quoteShort(name))
		}
		c.checkTranslation("translations["+name+"]", c.op.Translations[name])
	}
}

func (c *checker) checkTranslation(where string, t Translation) {
	c.checkTranslated(where+".prompt", c.op.Prompt, t.Prompt, "")
	known := map[string]bool{}
	for _, variant := range c.op.Prompts {
		known[variant.When] = true
		c.checkTranslated(fmt.Sprintf("%s.prompts[%s]", where, variant.When), variant.Template, t.Prompts[variant.When], variant.Count)
	}
	for _, when := range slices.Sorted(maps.Keys(t.Prompts)) {
		if !known[when] {
			c.fault("%s has a prompt for when %s is there, which the declaration has not; leave it out", where, quoteShort(when))
		}
	}
	h := c.op.Handoff
	if h == nil {
		if t.Reason != "" || len(t.Steps) > 0 || t.Expect != "" {
			c.fault("%s has words of a handoff, and there is none; leave them out", where)
		}
		return
	}
	if strings.TrimSpace(t.Reason) == "" {
		c.fault("%s has no reason for the handoff; translate it", where)
	}
	if len(t.Steps) != len(h.Steps) {
		c.fault("%s has %d steps and the handoff has %d; translate each", where, len(t.Steps), len(h.Steps))
	}
	for i, step := range t.Steps {
		if strings.TrimSpace(step) == "" {
			c.fault("%s has no text for step %d; translate it", where, i+1)
		}
	}
	if expects := h.Expect != nil; expects != (strings.TrimSpace(t.Expect) != "") {
		c.fault("%s: translate what the handoff expects if it expects something, and only then", where)
	}
}

// checkTranslated checks a template like the declaration's own, and that it shows the same parameters.
func (c *checker) checkTranslated(where, declared, translated, count string) {
	if (strings.TrimSpace(declared) == "") != (strings.TrimSpace(translated) == "") {
		c.fault("%s: translate the declaration's prompt if it has one, and only then", where)
		return
	}
	c.checkTemplate(where, translated, count)
	want, err := placeholders(declared)
	if err != nil {
		return // reported where it is declared
	}
	have, err := placeholders(translated)
	if err != nil {
		return // reported by checkTemplate
	}
	if !slices.Equal(want, have) {
		c.fault("%s shows the parameters %q and the declaration %q; show the same", where, have, want)
	}
}

// placeholders are the names in a template, each once, sorted.
func placeholders(template string) ([]string, error) {
	pieces, err := ParseTemplate(template)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, piece := range pieces {
		if piece.Name != "" {
			names = append(names, piece.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
