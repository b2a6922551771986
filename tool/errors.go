package tool

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// DeclarationError is one fault of a declaration: where it is, and what to do.
type DeclarationError struct {
	Tool string
	// Operation is empty where the fault is the tool's own.
	Operation string
	Problem   string
}

func (e *DeclarationError) Error() string { return subject(e.Tool, e.Operation) + ": " + e.Problem }

// Warning is something in a declaration that works and is seldom meant.
type Warning struct {
	Tool      string
	Operation string
	Text      string
}

func (w Warning) String() string { return subject(w.Tool, w.Operation) + ": " + w.Text }

// UnknownError says that there is no such tool or operation.
type UnknownError struct {
	Tool      string
	Operation string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no operation %s", subject(e.Tool, e.Operation))
}

// ParametersError says in words why a call's parameters are not accepted
// (INVALID_PARAMETERS, CONTRACT §1). Values in it are escaped and short.
type ParametersError struct {
	Tool      string
	Operation string
	// Problems are sorted by parameter; there is at least one.
	Problems []ParameterProblem
}

// ParameterProblem is what is wrong with one parameter.
type ParameterProblem struct {
	// Parameter is its path, e.g. "paths[2]"; empty for the parameters as a whole.
	Parameter string
	Text      string
}

func (e *ParametersError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = strings.TrimSpace(p.Parameter + " " + p.Text)
	}
	return fmt.Sprintf("the parameters of %s are not accepted: %s",
		subject(e.Tool, e.Operation), strings.Join(texts, "; "))
}

func subject(toolName, operation string) string {
	if operation == "" {
		return nameOrQuote(toolName)
	}
	return nameOrQuote(toolName) + "." + nameOrQuote(operation)
}

func nameOrQuote(s string) string {
	if validName(s) {
		return s
	}
	return quoteShort(s)
}

// shownRunes is how much of a value an error message shows.
const shownRunes = 60

// quoteShort shows a value of somebody else in an error message: quoted, cut,
// and without characters that are not seen or that reorder what is read.
func quoteShort(s string) string {
	more := ""
	if runes := []rune(s); len(runes) > shownRunes {
		s, more = string(runes[:shownRunes]), fmt.Sprintf("…(+%d characters)", len(runes)-shownRunes)
	}
	// strconv.Quote takes marks for printable, also those that nobody sees.
	if strings.ContainsFunc(s, unseenMark) {
		return strconv.QuoteToASCII(s) + more
	}
	return strconv.Quote(s) + more
}

func unseenMark(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
