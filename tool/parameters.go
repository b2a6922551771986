package tool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Check tells whether a call's parameters fit the operation's schema (step 1 of
// CONTRACT §1) and returns their canonical form, numbers exact. Nothing or only
// white space counts as {}. Besides what the schema says it refuses what is not
// an object, names that are not declared, and all that Canonical refuses.
//
// The error is a *ParametersError, or an *UnknownError for an unknown operation.
func (r *Registry) Check(toolName, operation string, raw json.RawMessage) (json.RawMessage, error) {
	e, ok := r.entries[operationKey{toolName, operation}]
	if !ok {
		return nil, &UnknownError{Tool: toolName, Operation: operation}
	}
	parameters, problems := e.schema.check(raw)
	if len(problems) > 0 {
		return nil, &ParametersError{Tool: toolName, Operation: operation, Problems: problems}
	}
	return appendObject(nil, parameters), nil
}

// maxProblems bounds an error message; the first ones tell enough.
const maxProblems = 5

func (s *schema) check(raw json.RawMessage) (object, []ParameterProblem) {
	if strings.TrimSpace(string(raw)) == "" {
		raw = json.RawMessage("{}")
	}
	v, err := decode(raw)
	if err != nil {
		return nil, []ParameterProblem{{Text: err.Error()}}
	}
	parameters, ok := v.(object)
	if !ok {
		return nil, []ParameterProblem{{Text: "must be an object, such as " + s.example()}}
	}
	var problems []ParameterProblem
	for _, m := range parameters {
		if !s.declares(m.name) {
			problems = append(problems, ParameterProblem{
				Parameter: nameOrQuote(m.name),
				Text:      "is not a parameter; " + s.known(),
			})
		}
	}
	if len(problems) == 0 {
		problems = s.violations(plain(parameters))
	}
	slices.SortFunc(problems, func(a, b ParameterProblem) int {
		return cmp.Or(strings.Compare(a.Parameter, b.Parameter), strings.Compare(a.Text, b.Text))
	})
	problems = slices.Compact(problems)
	if n := len(problems); n > maxProblems {
		problems = append(problems[:maxProblems], ParameterProblem{Text: fmt.Sprintf("and %d more", n-maxProblems)})
	}
	return parameters, problems
}

func (s *schema) violations(v any) []ParameterProblem {
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []ParameterProblem{{Text: oneLine(err)}}
	}
	var problems []ParameterProblem
	s.collect(invalid, v, &problems)
	return problems
}

// collect takes the innermost violations, which are the ones that say something;
// of alternatives (anyOf, oneOf) it names the choice and not each way to fail it.
func (s *schema) collect(e *jsonschema.ValidationError, root any, problems *[]ParameterProblem) {
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			*problems = append(*problems, ParameterProblem{
				Parameter: parameterPath(append(slices.Clone(e.InstanceLocation), name)),
				Text:      "is missing" + s.expected(e.InstanceLocation, name),
			})
		}
		return
	case *kind.AnyOf, *kind.OneOf, *kind.Not:
	default:
		if len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				s.collect(cause, root, problems)
			}
			return
		}
	}
	*problems = append(*problems, ParameterProblem{
		Parameter: parameterPath(e.InstanceLocation),
		Text:      violation(e.ErrorKind) + shownValue(root, e.InstanceLocation),
	})
}

// expected says what a missing parameter of the root should be.
func (s *schema) expected(location []string, name string) string {
	property := s.compiled.Properties[name]
	if len(location) > 0 || property == nil || property.Types == nil || property.Types.IsEmpty() {
		return ""
	}
	return "; expected " + typeWords(property.Types.ToStrings())
}

func (s *schema) known() string {
	if len(s.names) == 0 {
		return "this operation takes none"
	}
	names := make([]string, len(s.names))
	for i, name := range s.names {
		names[i] = nameOrQuote(name)
	}
	return "known are " + strings.Join(names, ", ")
}

func (s *schema) example() string {
	if len(s.names) == 0 {
		return "{}"
	}
	return fmt.Sprintf("{%s: …}", quoteShort(s.names[0]))
}

// parameterPath writes ["paths","2","name"] as paths[2].name.
func parameterPath(location []string) string {
	var b strings.Builder
	for i, part := range location {
		switch _, err := strconv.Atoi(part); {
		case i == 0:
			b.WriteString(nameOrQuote(part))
		case err == nil:
			b.WriteString("[" + part + "]")
		default:
			b.WriteString("." + nameOrQuote(part))
		}
	}
	return b.String()
}

// shownValue is the offending value, short; nothing for objects and lists,
// whose type says enough.
func shownValue(root any, location []string) string {
	v := root
	for _, part := range location {
		switch at := v.(type) {
		case map[string]any:
			v = at[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(at) {
				return ""
			}
			v = at[i]
		default:
			return ""
		}
	}
	switch v := v.(type) {
	case string:
		return ", got " + quoteShort(v)
	case json.Number:
		return ", got " + shortNumber(v.String())
	case bool:
		return ", got " + strconv.FormatBool(v)
	case nil:
		return ", got null"
	default:
		return ""
	}
}

func shortNumber(s string) string {
	if len(s) > shownRunes {
		return fmt.Sprintf("%s…(+%d characters)", s[:shownRunes], len(s)-shownRunes)
	}
	return s
}
