package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Call is a command as it was written.
type Call struct {
	Tool, Operation string
	Values          []Value
}

// Value is one name=value of a command.
type Value struct {
	Name string
	// JSON is the value where it was written as a list, an object or a double-quoted string.
	JSON json.RawMessage
	// Bare is the text of a value without quotes, whose type the operation's schema decides.
	Bare string
}

// Parse reads "/tool operation name=value …". Values may be bare words, 'single' or "double"
// quoted, JSON lists and objects, or lists of bare words: [a, b]. Values may span lines.
func Parse(text string) (Call, error) {
	p := &parser{rest: strings.TrimSpace(text)}
	if !strings.HasPrefix(p.rest, "/") {
		return Call{}, errors.New("a command starts with a slash")
	}
	p.rest = p.rest[1:]
	call := Call{}
	call.Tool, _, _ = strings.Cut(p.word(), "@") // Telegram appends @bot in groups
	call.Operation = p.word()
	for p.skip(); p.rest != ""; p.skip() {
		v, err := p.value()
		if err != nil {
			return Call{}, err
		}
		call.Values = append(call.Values, v)
	}
	return call, nil
}

type parser struct{ rest string }

func (p *parser) skip() { p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace) }

func (p *parser) word() string {
	p.skip()
	end := strings.IndexFunc(p.rest, unicode.IsSpace)
	if end < 0 {
		end = len(p.rest)
	}
	w := p.rest[:end]
	p.rest = p.rest[end:]
	return w
}

func (p *parser) value() (Value, error) {
	name, rest, ok := strings.Cut(p.rest, "=")
	if !ok || name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
		return Value{}, fmt.Errorf("%q is not name=value; put values with spaces into quotes: name=\"two words\"", p.word())
	}
	p.rest = rest
	v := Value{Name: name}
	switch {
	case rest == "":
	case rest[0] == '\'':
		end := strings.IndexByte(rest[1:], '\'')
		if end < 0 {
			return v, fmt.Errorf("the quote after %s= is not closed; add a ' at its end", name)
		}
		v.JSON, _ = json.Marshal(rest[1 : 1+end])
		p.rest = rest[end+2:]
	case strings.IndexByte(`"[{`, rest[0]) >= 0:
		decoder := json.NewDecoder(strings.NewReader(rest))
		if err := decoder.Decode(&v.JSON); err == nil {
			p.rest = rest[decoder.InputOffset():]
			break
		}
		if rest[0] != '[' {
			return v, fmt.Errorf("the value of %s is not complete JSON; close its quotes and brackets", name)
		}
		return p.list(v)
	default:
		v.Bare = p.word()
	}
	if p.rest != "" && !unicode.IsSpace(rune(p.rest[0])) {
		return v, fmt.Errorf("put a space after the value of %s", name)
	}
	return v, nil
}

// list reads [a, b]: a list of bare words.
func (p *parser) list(v Value) (Value, error) {
	end := strings.IndexByte(p.rest, ']')
	if end < 0 {
		return v, fmt.Errorf("the list after %s= is not closed; add a ] at its end", v.Name)
	}
	items := []string{}
	for item := range strings.SplitSeq(p.rest[1:end], ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, strings.Trim(item, `"'`))
		}
	}
	v.JSON, _ = json.Marshal(items)
	p.rest = p.rest[end+1:]
	return v, nil
}
