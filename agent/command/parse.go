package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersignhq/countersign/approval"
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
		return Value{}, fmt.Errorf("%s is not name=value; put values with spaces into quotes: name=\"two words\"", said(p.word()))
	}
	p.rest = rest
	v := Value{Name: name}
	switch {
	case rest == "" || unicode.IsSpace(first(rest)): // the empty text; the next word is not this value
	case rest[0] == '\'':
		end := strings.IndexByte(rest[1:], '\'')
		if end < 0 {
			return v, fmt.Errorf("the quote after %s= is not closed; add a ' at its end", shownName(name))
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
			return v, fmt.Errorf("the value of %s is not complete JSON; close its quotes and brackets", shownName(name))
		}
		if err := p.list(&v); err != nil {
			return v, err
		}
	default:
		v.Bare = p.word()
	}
	if p.rest != "" && !unicode.IsSpace(first(p.rest)) {
		return v, fmt.Errorf("put a space after the value of %s", shownName(name))
	}
	return v, nil
}

// wordLimit is how many characters of somebody's word an answer repeats.
const wordLimit = 60

// said repeats a word of a person, which may be another's text, in quotes and with visible escapes.
func said(word string) string { return `"` + shownName(word) + `"` }

func shownName(name string) string { return approval.EscapeShort(name, wordLimit) }

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// list reads [a, "b, c", 'd']: a list of bare words, in which a quoted one may hold a comma.
func (p *parser) list(v *Value) error {
	items := []string{}
	for p.rest = p.rest[1:]; ; p.rest = p.rest[1:] {
		item, ok := p.item()
		if !ok {
			return fmt.Errorf("the list after %s= is not closed; close its quotes and add a ] at its end", shownName(v.Name))
		}
		if item != "" {
			items = append(items, item)
		}
		if p.rest[0] == ']' {
			break
		}
	}
	p.rest = p.rest[1:]
	v.JSON, _ = json.Marshal(items)
	return nil
}

// item reads up to the comma or bracket after it, which is then the first of the rest.
func (p *parser) item() (item string, ok bool) {
	p.skip()
	if p.rest != "" && (p.rest[0] == '"' || p.rest[0] == '\'') {
		quote := p.rest[:1]
		quoted, rest, closed := strings.Cut(p.rest[1:], quote)
		p.rest = rest
		p.skip()
		return quoted, closed && p.rest != "" && (p.rest[0] == ',' || p.rest[0] == ']')
	}
	end := strings.IndexAny(p.rest, ",]")
	if end < 0 {
		return "", false
	}
	item = strings.TrimSpace(p.rest[:end])
	p.rest = p.rest[end:]
	return item, true
}
