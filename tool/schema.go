package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const draft202012 = "https://json-schema.org/draft/2020-12/schema"

// schema is the compiled form of Operation.Schema.
type schema struct {
	compiled *jsonschema.Schema
	// names are the declared parameters, sorted: the root's "properties".
	names []string
	// notes are keywords at the root that have no effect here.
	notes []string
}

// ParameterNames returns the sorted names of the parameters that an operation's
// schema declares: those of "properties" at its root.
func ParameterNames(schemaText string) ([]string, error) {
	root, err := decodeSchema(schemaText)
	if err != nil {
		return nil, err
	}
	return propertyNames(root), nil
}

// compileSchema reads a JSON Schema of draft 2020-12. Formats are checked, not
// only noted; references to other documents are refused: nothing is loaded.
func compileSchema(schemaText string) (*schema, error) {
	root, err := decodeSchema(schemaText)
	if err != nil {
		return nil, err
	}
	const location = "https://countersign.invalid/schema.json" // never fetched
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(location, plain(root)); err != nil {
		return nil, fmt.Errorf("schema is not a JSON Schema: %s", oneLine(err))
	}
	compiled, err := compiler.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("schema is not a JSON Schema of draft 2020-12: %s", oneLine(err))
	}
	result := &schema{compiled: compiled, names: propertyNames(root)}
	for _, name := range compiled.Required {
		if !slices.Contains(result.names, name) {
			return nil, fmt.Errorf("schema requires %s, which its properties do not declare; declare it", quoteShort(name))
		}
	}
	if v, ok := root.find("additionalProperties"); ok && v != false {
		result.notes = append(result.notes, "additionalProperties has no effect: names that are not declared are always refused")
	}
	if _, ok := root.find("patternProperties"); ok {
		result.notes = append(result.notes, "patternProperties has no effect at the root: each parameter is declared by its name")
	}
	return result, nil
}

func decodeSchema(schemaText string) (object, error) {
	if strings.TrimSpace(schemaText) == "" {
		return nil, errors.New(`schema is empty; without parameters write {"type":"object"}`)
	}
	v, err := decode([]byte(schemaText))
	if err != nil {
		return nil, fmt.Errorf("schema is not JSON: %w", err)
	}
	root, ok := v.(object)
	if !ok {
		return nil, errors.New(`schema is not an object; write {"type":"object","properties":{…}}`)
	}
	if draft, ok := root.find("$schema"); ok && draft != draft202012 {
		return nil, fmt.Errorf("schema is of another draft; leave $schema out or use %s", draft202012)
	}
	if typ, ok := root.find("type"); !ok || typ != any("object") {
		return nil, errors.New(`schema must have "type": "object"`)
	}
	return root, nil
}

func propertyNames(root object) []string {
	properties, _ := root.find("properties")
	members, _ := properties.(object)
	names := make([]string, 0, len(members))
	for _, m := range members {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return names
}

func (s *schema) declares(name string) bool { return slices.Contains(s.names, name) }

// isList tells whether a parameter is declared as an array and nothing else.
func (s *schema) isList(name string) bool {
	property := s.compiled.Properties[name]
	for hops := 0; property != nil && hops < maxDepth; hops++ {
		if property.Types != nil && !property.Types.IsEmpty() {
			return slices.Equal(property.Types.ToStrings(), []string{"array"})
		}
		property = property.Ref
	}
	return false
}

// noLoader refuses references to other documents: a declaration must not reach
// for files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to another document %s; put it under $defs", quoteShort(url))
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
