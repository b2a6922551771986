package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a JSON value that comes from outside.
const maxDepth = 100

// object is a JSON object in the order it was written, its names unique. A
// slice and not a map, so that nothing here depends on the order of a map.
type object []member

type member struct {
	name  string
	value any
}

// decode reads one JSON value strictly (see Canonical) as nil, bool, string,
// json.Number in its canonical form, []any or object.
func decode(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("the JSON is not valid UTF-8; send it as UTF-8")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, fmt.Errorf("not one JSON value: %w", err)
	}
	if err := refuseLoneSurrogates(raw); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decodeValue(decoder, 0)
}

func decodeValue(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, fmt.Errorf("not one JSON value: %w", err)
	}
	switch token := token.(type) {
	case json.Number:
		text, err := canonicalNumber(token.String())
		return json.Number(text), err
	case json.Delim:
		if depth >= maxDepth {
			return nil, fmt.Errorf("the JSON is nested deeper than %d levels", maxDepth)
		}
		if token == '{' {
			return decodeObject(decoder, depth)
		}
		return decodeArray(decoder, depth)
	default:
		return token, nil
	}
}

func decodeObject(decoder *json.Decoder, depth int) (any, error) {
	result := object{}
	seen := map[string]struct{}{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("not one JSON value: %w", err)
		}
		name, ok := token.(string)
		if !ok {
			return nil, errors.New("not one JSON value: a name is not a string")
		}
		if _, ok := seen[name]; ok {
			return nil, fmt.Errorf("the name %s is there twice; give it once", quoteShort(name))
		}
		seen[name] = struct{}{}
		value, err := decodeValue(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		result = append(result, member{name: name, value: value})
	}
	_, err := decoder.Token() // the closing brace
	return result, err
}

func decodeArray(decoder *json.Decoder, depth int) (any, error) {
	result := []any{}
	for decoder.More() {
		value, err := decodeValue(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		result = append(result, value)
	}
	_, err := decoder.Token() // the closing bracket
	return result, err
}

// plain turns objects into maps, the form that the schema library reads.
func plain(v any) any {
	switch v := v.(type) {
	case object:
		result := make(map[string]any, len(v))
		for _, m := range v {
			result[m.name] = plain(m.value)
		}
		return result
	case []any:
		result := make([]any, len(v))
		for i, item := range v {
			result[i] = plain(item)
		}
		return result
	default:
		return v
	}
}

func (o object) find(name string) (any, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// refuseLoneSurrogates finds \ud800 and the like without their other half.
// encoding/json would turn all of them into U+FFFD, one and the same value.
// raw is valid JSON, so a backslash is always inside a string.
func refuseLoneSurrogates(raw []byte) error {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first, ok := escapedUnit(raw[i:])
		if !ok {
			i++ // a short escape: skip what it escapes, it may be a backslash
			continue
		}
		i += 5
		if !utf16.IsSurrogate(first) {
			continue
		}
		second, ok := escapedUnit(raw[i+1:])
		if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
			return errors.New(`a \u escape is half of a surrogate pair; send the character itself`)
		}
		i += 6
	}
	return nil
}

// escapedUnit reads \uXXXX at the start of raw.
func escapedUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(unit), err == nil
}
