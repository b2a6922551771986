package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
)

const diskEnv = envPrefix + "DISKS_"

func (l *loader) loadEnvironment(environ []string) *koanf.Koanf {
	_, l.config.Temporal.AddressSet = l.variable(addressEnv)
	layer := koanf.New(delimiter)
	targets := map[string]Key{}
	var set []string
	for _, key := range Keys() {
		if name, value, ok := l.lookup(key); ok {
			targets[name] = key
			set = append(set, name+"="+value)
			l.config.sources[key.Path] = name
		}
	}
	provider := env.Provider(delimiter, env.Opt{
		EnvironFunc: func() []string { return set },
		TransformFunc: func(name, value string) (string, any) {
			return l.transform(targets[name], name, value)
		},
	})
	if err := layer.Load(provider, nil); err != nil {
		l.problems.add("environment", "%v", err)
	}
	l.loadDisks(layer, environ)
	l.warn(environ)
	return layer
}

// lookup finds the one variable that sets a key; two that differ are a problem.
func (l *loader) lookup(key Key) (name, value string, ok bool) {
	for _, candidate := range key.Env {
		found, set := l.variable(candidate)
		switch {
		case !set:
		case !ok:
			name, value, ok = candidate, found, true
		case found != value:
			l.problems.add(key.Path, "%s and %s are both set and differ; keep one of them", name, candidate)
		}
	}
	return name, value, ok
}

func (l *loader) transform(key Key, name, value string) (string, any) {
	if !key.complex() {
		return key.koanfPath(), value
	}
	// A list is no document for the parser; under a name it is.
	document, err := yaml.Parser().Unmarshal([]byte("value:\n  " + strings.ReplaceAll(value, "\n", "\n  ")))
	if err != nil {
		l.problems.add(key.Path, "%s; write %s as YAML or JSON", withoutValues(err), name)
		return "", nil
	}
	parsed := withoutNulls(document)["value"]
	l.unknown(parsed, key.kind, key.Path)
	return key.koanfPath(), parsed
}

// loadDisks takes COUNTERSIGN_DISKS_NAME=url, for one disk each. A dash in the
// file's name of a disk is an underscore in the variable's.
func (l *loader) loadDisks(layer *koanf.Koanf, environ []string) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		disk, isDisk := strings.CutPrefix(name, diskEnv)
		value, set := l.variable(name)
		if !isDisk || disk == "" || !set {
			continue
		}
		if err := layer.Set("disks"+delimiter+strings.ToLower(disk), value); err != nil {
			l.problems.add(name, "%v", err)
		}
		l.config.sources["disks"] = name
	}
}

// warn names variables that look like misspelt ones. Unknown ones are not
// refused: an orchestrator sets some of its own under our prefix.
func (l *loader) warn(environ []string) {
	known := []string{fileEnv}
	for _, key := range Keys() {
		known = append(known, key.Env...)
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, diskEnv) || slices.Contains(known, name) {
			continue
		}
		if near, ok := nearest(strings.TrimPrefix(name, envPrefix), trimmed(known)); ok {
			l.config.Warnings = append(l.config.Warnings,
				fmt.Sprintf("%s is not known and was ignored; did you mean %s?", name, envPrefix+near))
		}
	}
}

func trimmed(names []string) []string {
	var short []string
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, envPrefix); ok {
			short = append(short, rest)
		}
	}
	return short
}

// nearest returns the name that differs least, if it is near enough to be meant.
func nearest(name string, names []string) (string, bool) {
	best, score := "", 0.0
	for _, candidate := range names {
		if s := levenshtein.Match(strings.ToLower(name), strings.ToLower(candidate), nil); s > score {
			best, score = candidate, s
		}
	}
	const nearEnough = 0.7
	return best, score >= nearEnough
}
