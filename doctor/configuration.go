package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/countersignhq/countersign/config"
)

// Configuration is what config.Load said, and what it passed over.
type Configuration struct {
	// Config is nil where it cannot be used; then Err joins a *config.KeyError for each problem.
	Config *config.Config
	Err    error
	// File that was read, if it is there; and the environment.
	File    string
	Environ []string
	// Tools tells what the tools say about policy and scope; optional.
	Tools func() error
}

// Check notes every problem with its key.
func (c Configuration) Check(_ context.Context, n *Notes) {
	problems := keyErrors(c.Err)
	for _, p := range problems {
		check, text := "key", p.Error()
		if key, ok := errors.AsType[*config.KeyError](p); ok {
			check, text = named(key), key.Text
		}
		n.Fail(check, "change it in "+orDefault(c.File, config.DefaultFile)+" or in the environment; countersign.example.yaml explains every key", "%s", text)
	}
	if len(problems) == 0 && c.Config != nil {
		if c.File != "" {
			n.OK("file", "%s and the environment can be used", c.File)
		} else {
			n.OK("file", "no %s here: the environment and the defaults are used", config.DefaultFile)
		}
	}
	c.variables(n)
	if c.Config != nil && c.Tools != nil {
		if err := c.Tools(); err != nil {
			n.Fail("policy", "correct the name or the value under policy or scope; `starter tools list` shows what there is", "%v", err)
		}
	}
}

// named is the key, and its variable where it has one of its own.
func named(key *config.KeyError) string {
	if key.Variable == "" || key.Variable == key.Key {
		return key.Key
	}
	return key.Key + " (" + key.Variable + ")"
}

func keyErrors(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, part := range joined.Unwrap() {
			all = append(all, keyErrors(part)...)
		}
		return all
	}
	if _, ok := err.(*config.KeyError); ok { //nolint:errorlint // this one itself
		return []error{err}
	}
	if inner := errors.Unwrap(err); inner != nil {
		return keyErrors(inner)
	}
	return []error{err}
}

func (c Configuration) variables(n *Notes) {
	var told []string
	for _, v := range config.Ignored(c.Environ) {
		told = append(told, v.Name)
		mend := "take it away, or look for its name in countersign.example.yaml"
		if v.Near != "" {
			mend = "did you mean " + v.Near + "?"
		}
		n.Warn(v.Name, mend, "no setting has this name; it is ignored")
	}
	if c.Config == nil {
		return
	}
	for _, warning := range c.Config.Warnings {
		name, _, _ := strings.Cut(warning, " ")
		if !slices.Contains(told, name) {
			n.Warn("warning", "see countersign.example.yaml", "%s", warning)
		}
	}
}

// Unusable stands for an area that cannot be checked while the configuration is wrong.
func Unusable(name string) Area {
	return Area{Name: name, Check: func(_ context.Context, n *Notes) {
		n.Off(name, "not checked: mend the configuration first")
	}}
}
