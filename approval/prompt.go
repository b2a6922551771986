package approval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/countersignhq/countersign/tool"
)

// Limits of what is shown of a call, in characters (CONTRACT §3: long values are
// cut with the number of characters left out).
const (
	// MaxValue is how much of one value is shown.
	MaxValue = 200
	// MaxPrompt is how long a prompt can get; with many placeholders each value
	// gets less, so that the template's own words are never cut.
	MaxPrompt = 1500
	// cutMark is room for "…(+2801 characters)".
	cutMark = 25
)

// Question returns what a person reads in English, exactly as in CONTRACT §3; package words has the
// other languages.
func Question(prompt string) string {
	return "⚠️ " + prompt + " Reply 'Yes' to confirm."
}

// Render makes the prompt of a call: the operation's template, or that of the
// first variant whose When is among the parameters (null counts as absent), with
// the parameters' values in it as data.
//
// Strings are shown as Escape shows them, numbers and booleans as JSON, lists
// joined with ", ", objects as compact JSON. An empty string, an empty list and a
// parameter that is not there are shown as "". The result is one line without
// control or format characters, at most MaxPrompt characters.
func Render(op tool.Operation, parameters json.RawMessage) (string, error) {
	return RenderIn("", op, parameters)
}

// RenderIn is Render with the operation's words in a language, in English where it has none in it.
// The values are the same in all languages. What a person reads around it is chat.LineQuestion.
func RenderIn(language string, op tool.Operation, parameters json.RawMessage) (string, error) {
	op = op.In(language)
	call, err := readParameters(parameters)
	if err != nil {
		return "", fmt.Errorf("prompt of %s: %w", op.Name, err)
	}
	template, counted := choose(op, call)
	if strings.TrimSpace(template) == "" {
		return "", fmt.Errorf("prompt of %s: there is no template; declare a prompt", op.Name)
	}
	pieces, err := tool.ParseTemplate(template)
	if err != nil {
		return "", fmt.Errorf("prompt of %s: the template %w", op.Name, err)
	}
	room := valueRoom(pieces)
	var b strings.Builder
	for _, piece := range pieces {
		switch {
		case piece.Name == "":
			b.WriteString(piece.Text)
		case piece.Name == "count" && counted != "":
			n, err := length(call[counted])
			if err != nil {
				return "", fmt.Errorf("prompt of %s: {count} of %s: %w", op.Name, Escape(counted), err)
			}
			b.WriteString(strconv.Itoa(n))
		default:
			segments, err := value(call[piece.Name])
			if err != nil {
				return "", fmt.Errorf("prompt of %s: {%s}: %w", op.Name, piece.Name, err)
			}
			b.WriteString(shorten(segments, room))
		}
	}
	return b.String(), nil
}

// readParameters takes them apart without rounding numbers; nothing is {}.
func readParameters(parameters json.RawMessage) (map[string]json.RawMessage, error) {
	if strings.TrimSpace(string(parameters)) == "" {
		return nil, nil
	}
	canonical, err := tool.Canonical(parameters)
	if err != nil {
		return nil, err
	}
	var call map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &call); err != nil {
		return nil, fmt.Errorf("the parameters are not an object: %w", err)
	}
	return call, nil
}

func choose(op tool.Operation, call map[string]json.RawMessage) (template, counted string) {
	for _, variant := range op.Prompts {
		if v, ok := call[variant.When]; ok && string(v) != "null" {
			return variant.Template, variant.Count
		}
	}
	return op.Prompt, ""
}

// valueRoom shares out what the template's own words leave.
func valueRoom(pieces []tool.Piece) int {
	words, values := 0, 0
	for _, piece := range pieces {
		if piece.Name != "" {
			values++
		}
		words += utf8.RuneCountInString(piece.Text)
	}
	if values == 0 {
		return MaxValue
	}
	return min(MaxValue, (MaxPrompt-words)/values-cutMark)
}

func length(raw json.RawMessage) (int, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return 0, fmt.Errorf("not a list: %w", err)
	}
	return len(items), nil
}

// value returns the segments of a parameter in canonical form.
func value(raw json.RawMessage) ([]segment, error) {
	if len(raw) == 0 || raw[0] != '[' {
		one, err := single(raw)
		return []segment{one}, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return []segment{nothing}, nil
	}
	segments := make([]segment, 0, 2*len(items))
	for i, item := range items {
		if i > 0 {
			segments = append(segments, segment{", ", styleLiteral})
		}
		one, err := single(item)
		if err != nil {
			return nil, err
		}
		segments = append(segments, one)
	}
	return slices.Clip(segments), nil
}

var nothing = segment{`""`, styleLiteral}

func single(raw json.RawMessage) (segment, error) {
	if len(raw) == 0 {
		return nothing, nil
	}
	if raw[0] != '"' {
		return segment{string(raw), styleJSON}, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return segment{}, err
	}
	if text == "" {
		return nothing, nil
	}
	return segment{text, styleData}, nil
}
