package tool

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a prompt template: with these a question always fits into one
// message of every channel, however long the values are.
const (
	MaxTemplateRunes = 500
	MaxPlaceholders  = 20
)

// Piece is a part of a prompt template: text, or a placeholder.
type Piece struct {
	Text string
	// Name of the parameter that stands here; empty for text.
	Name string
}

// ParseTemplate splits a prompt template into its pieces. It refuses unbalanced
// or empty braces, control and format characters, and templates over the limits.
// There is no way to write a literal brace.
func ParseTemplate(template string) ([]Piece, error) {
	if n := utf8.RuneCountInString(template); n > MaxTemplateRunes {
		return nil, fmt.Errorf("has %d characters; use at most %d", n, MaxTemplateRunes)
	}
	if !utf8.ValidString(template) || strings.ContainsFunc(template, notForTemplates) {
		return nil, errors.New("holds line breaks, control or format characters; write it in one plain line")
	}
	var pieces []Piece
	placeholders := 0
	for rest := template; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			return append(pieces, Piece{Text: rest}), nil
		}
		if i > 0 {
			pieces = append(pieces, Piece{Text: rest[:i]})
		}
		end := strings.IndexAny(rest[i+1:], "{}")
		if rest[i] != '{' || end < 0 || rest[i+1+end] != '}' {
			return nil, errors.New("has unbalanced braces; write each placeholder as {name}")
		}
		name := rest[i+1 : i+1+end]
		if name == "" {
			return nil, errors.New("has an empty placeholder {}; name a parameter")
		}
		pieces = append(pieces, Piece{Name: name})
		if placeholders++; placeholders > MaxPlaceholders {
			return nil, fmt.Errorf("has more than %d placeholders; name fewer parameters", MaxPlaceholders)
		}
		rest = rest[i+2+end:]
	}
	return pieces, nil
}

func notForTemplates(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
