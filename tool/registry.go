package tool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Registry holds checked declarations. It does not change once made, and is
// safe for use by several goroutines.
type Registry struct {
	tools   []Tool
	entries map[operationKey]entry
}

type operationKey struct{ tool, operation string }

type entry struct {
	operation Operation
	schema    *schema
}

// Names of tools and operations: they stand in prompts, keys and audit entries.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func validName(s string) bool { return namePattern.MatchString(s) }

// NewRegistry checks all declarations and reports every fault at once: the error
// joins one *DeclarationError for each. Warnings are for what works and is
// seldom meant.
func NewRegistry(tools ...Tool) (*Registry, []Warning, error) {
	registry := &Registry{entries: map[operationKey]entry{}}
	var (
		warnings []Warning
		faults   []error
	)
	seenTools := map[string]bool{}
	for _, t := range tools {
		fault := func(format string, args ...any) {
			faults = append(faults, &DeclarationError{Tool: t.Name, Problem: fmt.Sprintf(format, args...)})
		}
		if !validName(t.Name) {
			fault("the tool's name is not allowed; use a-z, 0-9 and _, first a letter, at most 64 characters")
		}
		if seenTools[t.Name] {
			fault("two tools have this name; rename one of them")
		}
		seenTools[t.Name] = true
		if len(t.Operations) == 0 {
			fault("the tool has no operations; declare one or leave the tool out")
		}
		t.Operations = slices.Clone(t.Operations)
		for _, op := range t.Operations {
			c := &checker{tool: t.Name, op: op}
			c.check()
			key := operationKey{t.Name, op.Name}
			if _, ok := registry.entries[key]; ok {
				c.fault("two operations have this name; rename one of them")
			}
			registry.entries[key] = entry{operation: op, schema: c.schema}
			faults = append(faults, c.faults...)
			warnings = append(warnings, c.warnings...)
		}
		slices.SortFunc(t.Operations, func(a, b Operation) int { return strings.Compare(a.Name, b.Name) })
		registry.tools = append(registry.tools, t)
	}
	if len(faults) > 0 {
		return nil, warnings, errors.Join(faults...)
	}
	slices.SortFunc(registry.tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return registry, warnings, nil
}

// Find returns a copy of an operation's declaration.
func (r *Registry) Find(toolName, operation string) (*Operation, bool) {
	e, ok := r.entries[operationKey{toolName, operation}]
	if !ok {
		return nil, false
	}
	return &e.operation, true
}

// Tools returns all tools, sorted by name, their operations too.
func (r *Registry) Tools() []Tool {
	tools := slices.Clone(r.tools)
	for i := range tools {
		tools[i].Operations = slices.Clone(tools[i].Operations)
	}
	return tools
}
