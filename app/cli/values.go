package cli

import (
	"encoding/json"
	"fmt"
	"strings"
)

// parameters builds an operation's parameters from words: key=value, where the value is a
// string, or, if it looks like it, a quoted string, a list [a,b] or a JSON object; and
// key:=value, where it is JSON (numbers, true, false, null).
func parameters(words []string) (json.RawMessage, error) {
	values := make(map[string]any, len(words))
	for _, word := range words {
		key, text, found := strings.Cut(word, "=")
		key, raw := strings.CutSuffix(key, ":")
		if !found || key == "" {
			return nil, fmt.Errorf("%q is no key=value", word)
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("%s is there twice", key)
		}
		value, err := value(text, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		values[key] = value
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("write the parameters as JSON: %w", err)
	}
	return encoded, nil
}

func value(text string, raw bool) (any, error) {
	trimmed := strings.TrimSpace(text)
	switch {
	case raw:
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%q is not JSON; a plain text goes after = alone", text)
		}
		return json.RawMessage(text), nil
	case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, `"`):
		if json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed), nil
		}
	case strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]"):
		if json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed), nil
		}
		return items(trimmed[1 : len(trimmed)-1])
	case len(trimmed) > 1 && strings.HasPrefix(trimmed, "'") && strings.HasSuffix(trimmed, "'"):
		return trimmed[1 : len(trimmed)-1], nil
	}
	return text, nil
}

// items splits a list at its commas; an item with a comma or a blank at its ends is quoted.
func items(text string) ([]string, error) {
	list := []string{}
	for rest := text; strings.TrimSpace(rest) != ""; {
		rest = strings.TrimLeft(rest, " \t")
		item := ""
		if quote := rest[0]; quote == '"' || quote == '\'' {
			end := strings.IndexByte(rest[1:], quote)
			if end < 0 {
				return nil, fmt.Errorf("a quotation mark is not closed in [%s]", text)
			}
			item, rest = rest[1:end+1], strings.TrimLeft(rest[end+2:], " \t")
			if rest != "" && rest[0] != ',' {
				return nil, fmt.Errorf("a comma is missing after %q in [%s]", item, text)
			}
		} else {
			end := strings.IndexByte(rest, ',')
			if end < 0 {
				end = len(rest)
			}
			item, rest = strings.TrimSpace(rest[:end]), rest[end:]
			if item == "" {
				return nil, fmt.Errorf("an item is empty in [%s]", text)
			}
		}
		list = append(list, item)
		rest = strings.TrimPrefix(rest, ",")
	}
	return list, nil
}
