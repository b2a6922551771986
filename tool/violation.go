package tool

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// violation says in words what a schema wanted. What the schema says is the
// tool author's; values of the call are never part of it.
func violation(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + typeWords(k.Want) + ", not " + typeWords([]string{k.Got})
	case *kind.Enum:
		return "must be one of " + values(k.Want)
	case *kind.Const:
		return "must be " + values([]any{k.Want})
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %s", count(k.Want, "character"))
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %s and has %d", count(k.Want, "character"), k.Got)
	case *kind.Pattern:
		return "must match the pattern " + quoteShort(k.Want)
	case *kind.Format:
		return "must have the format " + quoteShort(k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s and has %d", count(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s and has %d", count(k.Want, "item"), k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("must not have the same item twice (items %d and %d)", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want)
	case *kind.AdditionalProperties:
		names := make([]string, len(k.Properties))
		for i, name := range slices.Sorted(slices.Values(k.Properties)) {
			names[i] = quoteShort(name)
		}
		return "has names that are not declared: " + strings.Join(names, ", ")
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.AnyOf:
		return "fits none of the forms that its schema allows"
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return "fits more than one of the forms of which its schema allows one"
		}
		return "fits none of the forms that its schema allows"
	case *kind.Not:
		return "has a form that its schema excludes"
	case *kind.PropertyNames:
		return "has a name that its schema excludes: " + quoteShort(k.Property)
	default:
		return k.LocalizedString(message.NewPrinter(language.English))
	}
}

var typeNames = map[string]string{
	"string": "a text", "number": "a number", "integer": "a whole number", "boolean": "a boolean (true or false)",
	"array": "a list", "object": "an object", "null": "null",
}

func typeWords(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = typeNames[t]
	}
	return strings.Join(words, " or ")
}

func values(list []any) string {
	words := make([]string, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case string:
			words[i] = quoteShort(v)
		case json.Number:
			words[i] = v.String()
		case map[string]any:
			words[i] = "an object"
		case []any:
			words[i] = "a list"
		case nil:
			words[i] = "null"
		default:
			words[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(words, ", ")
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return shortNumber(r.Num().String())
	}
	f, _ := r.Float64()
	return fmt.Sprint(f)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
