package tool

import (
	"errors"
	"fmt"
	"strings"
)

// checker collects what is wrong with one declaration.
type checker struct {
	tool     string
	op       Operation
	schema   *schema // nil where it could not be read
	faults   []error
	warnings []Warning
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, &DeclarationError{
		Tool: c.tool, Operation: c.op.Name, Problem: fmt.Sprintf(format, args...),
	})
}

func (c *checker) warn(text string) {
	c.warnings = append(c.warnings, Warning{Tool: c.tool, Operation: c.op.Name, Text: text})
}

func (c *checker) check() {
	op := c.op
	if !validName(op.Name) {
		c.fault("the operation's name is not allowed; use a-z, 0-9 and _, first a letter, at most 64 characters")
	}
	switch op.Kind {
	case Read, Write, Danger:
	default:
		c.fault("kind is %s; use read, write or danger", quoteShort(string(op.Kind)))
	}
	switch op.Confirm {
	case ConfirmUnset, ConfirmTrue, ConfirmAlways, ConfirmFalse:
	default:
		c.fault("confirm is %s; leave it out or use true, always or false", quoteShort(string(op.Confirm)))
	}
	if op.Timeout < 0 {
		c.fault("timeout is %s; use a positive time, or zero for the default", op.Timeout)
	}
	if op.RunTimeout < 0 {
		c.fault("run timeout is %s; use a positive time, or zero for the default", op.RunTimeout)
	}
	if err := op.Approvers.Check(); err != nil {
		for problem := range strings.Lines(err.Error()) {
			c.fault("%s", strings.TrimSpace(problem))
		}
	}
	c.checkSchema()
	c.checkPrompts()
	c.checkTranslations()
	if op.Handoff != nil {
		c.checkHandoff()
		return
	}
	if op.Run == nil {
		c.fault("there is no run function; give one, or declare a handoff")
	}
	if op.Kind == Danger && op.Confirm == ConfirmFalse {
		c.warn("it is a danger operation with confirm: false; it runs without asking, and each run leaves an audit entry")
	}
}

func (c *checker) checkSchema() {
	var err error
	if c.schema, err = compileSchema(c.op.Schema); err != nil {
		c.fault("%v", err)
		return
	}
	for _, note := range c.schema.notes {
		c.warn(note)
	}
}

// asks tells whether the declaration may lead to a question (CONTRACT §2).
func (c *checker) asks() bool {
	op := c.op
	return op.Handoff == nil && op.Confirm != ConfirmFalse && (op.Kind == Danger || op.Confirm != ConfirmUnset)
}

func (c *checker) checkPrompts() {
	if c.asks() && strings.TrimSpace(c.op.Prompt) == "" {
		c.fault("it asks and has no prompt; give a template such as %q", "Delete the file at {path}?")
	}
	c.checkTemplate("prompt", c.op.Prompt, "")
	for i, variant := range c.op.Prompts {
		where := fmt.Sprintf("prompts[%d]", i)
		if strings.TrimSpace(variant.Template) == "" {
			c.fault("%s has no template; give one", where)
		}
		c.checkTemplate(where, variant.Template, variant.Count)
		if c.schema == nil {
			continue
		}
		if !c.schema.declares(variant.When) {
			c.fault("%s applies when %s is there, which the schema does not declare; %s",
				where, quoteShort(variant.When), c.choices())
		}
		switch {
		case variant.Count == "":
		case !c.schema.declares(variant.Count):
			c.fault("%s counts %s, which the schema does not declare; %s", where, quoteShort(variant.Count), c.choices())
		case !c.schema.isList(variant.Count):
			c.fault("%s counts %s, which is not a list; declare it with type array", where, quoteShort(variant.Count))
		case c.schema.declares(countPlaceholder):
			c.fault("%s counts a list as {count}, and there is a parameter of that name; rename the parameter", where)
		}
	}
}

// countPlaceholder stands for the length of the list PromptVariant.Count.
const countPlaceholder = "count"

func (c *checker) checkTemplate(where, template, count string) {
	pieces, err := ParseTemplate(template)
	if err != nil {
		c.fault("%s %v", where, err)
		return
	}
	if c.schema == nil {
		return
	}
	for _, piece := range pieces {
		counted := count != "" && piece.Name == countPlaceholder
		if piece.Name == "" || counted || c.schema.declares(piece.Name) {
			continue
		}
		c.fault("%s names %s, which the schema does not declare; %s", where, quoteShort(piece.Name), c.choices())
	}
}

func (c *checker) choices() string {
	if len(c.schema.names) == 0 {
		return "the schema declares no parameters"
	}
	quoted := make([]string, len(c.schema.names))
	for i, name := range c.schema.names {
		quoted[i] = quoteShort(name)
	}
	return "use one of " + strings.Join(quoted, ", ")
}

func (c *checker) checkHandoff() {
	h := c.op.Handoff
	if strings.TrimSpace(h.Reason) == "" {
		c.fault("the handoff has no reason; say why a person has to do it")
	}
	if len(h.Steps) == 0 {
		c.fault("the handoff has no steps; say what the person has to do")
	}
	for i, step := range h.Steps {
		if strings.TrimSpace(step.Text) == "" {
			c.fault("step %d of the handoff has no text; say what to do", i+1)
		}
	}
	if h.Page != "" && !strings.HasPrefix(h.Page, "/") && !strings.HasPrefix(h.Page, "http://") && !strings.HasPrefix(h.Page, "https://") {
		c.fault("the handoff's page is %s; use an http(s) address, or a path such as /workspace", quoteShort(h.Page))
	}
	if h.Timeout < 0 {
		c.fault("the handoff's timeout is %s; use a positive time, or zero for the default", h.Timeout)
	}
	if c.op.Run != nil {
		c.warn("it has a handoff, so its run function is never called")
	}
	if c.op.Confirm != ConfirmUnset {
		c.warn("it has a handoff, which alone decides: confirm has no effect")
	}
	if h.Expect == nil {
		c.warn("the handoff declares no expect: that the person did it is only asserted, never verified")
		return
	}
	if err := expectProblem(h.Expect); err != nil {
		c.fault("%v", err)
	}
}

func expectProblem(e *Expect) error {
	var problems []string
	if e.Check == nil {
		problems = append(problems, "no check function")
	}
	if strings.TrimSpace(e.Desc) == "" {
		problems = append(problems, "no description of what is expected")
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New("the handoff's expect has " + strings.Join(problems, " and ") + "; give it, or leave expect out")
}
