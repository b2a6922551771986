package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// Longer values than these are folded: they are all there, one click away.
const (
	foldedAfter = 240 // characters
	foldedLines = 6
)

// parameter is one value of a call, whole.
type parameter struct {
	Name string
	// Pieces of the value; what stands for a character that cannot be seen is marked.
	Pieces []piece
	// Block values keep their lines; Folded ones are shown by their Summary first.
	Block, Folded bool
	Summary       string
	Text          bool // not a number, a list, …
}

// piece is a part of a value: text as it is, or the escape of what cannot be seen.
type piece struct {
	Text    string
	Escaped bool
}

// parameters lists the members of a call's parameters in their order. What is no object is one
// value without a name. language is that of what is said about them.
func parameters(language string, raw json.RawMessage) []parameter {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return []parameter{newParameter(language, "", raw)}
	}
	var list []parameter
	for decoder.More() {
		name, err := decoder.Token()
		var value json.RawMessage
		if err == nil {
			err = decoder.Decode(&value)
		}
		if err != nil {
			return []parameter{newParameter(language, "", raw)}
		}
		list = append(list, newParameter(language, fmt.Sprint(name), value))
	}
	return list
}

func newParameter(language, name string, raw json.RawMessage) parameter {
	var text string
	isText := json.Unmarshal(raw, &text) == nil && strings.HasPrefix(strings.TrimSpace(string(raw)), `"`)
	if !isText {
		text = indent(raw)
	}
	p := parameter{Name: visible(name), Pieces: pieces(text), Text: isText}
	lines, characters := strings.Count(text, "\n")+1, utf8.RuneCountInString(text)
	p.Block = lines > 1
	if lines > foldedLines || characters > foldedAfter {
		p.Block, p.Folded = true, true
		p.Summary = words.Say(language, chat.Text(linePageCharacters, "count", strconv.Itoa(characters)))
		if lines > 1 {
			in := words.Say(language, chat.Text(linePageLines, "count", strconv.Itoa(lines)))
			p.Summary = words.Say(language, chat.Text(linePageInLines, "characters", p.Summary, "lines", in))
		}
	}
	return p
}

// pieces splits a text so that what cannot be seen, or turns the text around, is shown as a
// marked escape: the person must read what the tool gets. Line breaks stay.
func pieces(text string) []piece {
	var list []piece
	plain := func(s string) {
		if s == "" {
			return
		}
		if n := len(list); n > 0 && !list[n-1].Escaped {
			list[n-1].Text += s
			return
		}
		list = append(list, piece{Text: s})
	}
	start := 0
	for at, r := range text {
		_, size := utf8.DecodeRuneInString(text[at:])
		if shown(r) && (r != utf8.RuneError || size > 1) {
			continue
		}
		plain(text[start:at])
		start = at + size
		list = append(list, piece{Text: escape(r), Escaped: true})
	}
	plain(text[start:])
	return list
}

func shown(r rune) bool {
	return r == '\n' || unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escape(r rune) string {
	switch r {
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	default:
		return fmt.Sprintf(`\u{%04X}`, r)
	}
}

// visible is pieces where nothing can be marked.
func visible(text string) string {
	var b strings.Builder
	for _, p := range pieces(text) {
		b.WriteString(p.Text)
	}
	return b.String()
}

func indent(raw json.RawMessage) string {
	if len(raw) == 0 || strings.TrimSpace(string(raw)) == "null" {
		return ""
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, raw, "", "  ") != nil {
		return string(raw)
	}
	return pretty.String()
}
