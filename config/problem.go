package config

import (
	"errors"
	"fmt"
	"strings"
)

// KeyError is one thing that is wrong, and what to do about it.
type KeyError struct {
	// Key is the path in the file, with the index for a list: "people[0].name".
	Key string
	// Variable sets the same key from the environment; empty where there is none.
	Variable string
	// Text says what is wrong and what to write instead; it holds no secret.
	Text string
}

func (p *KeyError) Error() string {
	if p.Variable == "" || p.Variable == p.Key {
		return p.Key + ": " + p.Text
	}
	return p.Key + " (" + p.Variable + "): " + p.Text
}

// problems gathers them, so that all are reported at once.
type problems []error

func (p *problems) add(key, format string, args ...any) {
	root, _, _ := strings.Cut(key, "[")
	*p = append(*p, &KeyError{Key: key, Variable: variable(root), Text: fmt.Sprintf(format, args...)})
}

func (p *problems) join(err error) {
	if err != nil {
		*p = append(*p, err)
	}
}

func (p *problems) err() error {
	return errors.Join(*p...)
}
