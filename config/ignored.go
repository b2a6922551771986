package config

import (
	"regexp"
	"slices"
	"strings"
)

// starterEnv are read by the command line alone: where the gateway is, and its token.
var starterEnv = []string{envPrefix + "URL", envPrefix + "TOKEN"}

const documentedPrefix = "LARACLAW_"

// kubernetes are the variables that it makes for a service named countersign.
var kubernetes = regexp.MustCompile(`^COUNTERSIGN_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$`)

// Variable is one that looks like a setting of ours and is none.
type Variable struct {
	Name string
	// Near is the one that may be meant; empty where none is near.
	Near string
}

// Ignored are the variables under our prefixes (COUNTERSIGN_, LARACLAW_) that no key has,
// by name. What Kubernetes sets for a service of our name is left out.
func Ignored(environ []string) (ignored []Variable) {
	known := append([]string{fileEnv}, starterEnv...)
	for _, key := range Keys() {
		known = append(known, key.Env...)
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		ours := strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, documentedPrefix)
		link := kubernetes.MatchString(name) || name == envPrefix+"PORT" && strings.Contains(value, "://")
		if !ours || link || slices.Contains(known, name) || strings.HasPrefix(name, diskEnv) && name != diskEnv {
			continue
		}
		ignored = append(ignored, Variable{Name: name, Near: nearVariable(name, known)})
	}
	slices.SortFunc(ignored, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return ignored
}

// nearVariable looks at what follows the prefix, under the other prefix too.
func nearVariable(name string, known []string) string {
	_, rest, _ := strings.Cut(name, "_")
	full := map[string]string{}
	var short []string
	for _, candidate := range known {
		_, tail, found := strings.Cut(candidate, "_")
		if !found || !strings.HasPrefix(candidate, envPrefix) && !strings.HasPrefix(candidate, documentedPrefix) {
			continue
		}
		if _, taken := full[tail]; !taken || strings.HasPrefix(name, candidate[:len(candidate)-len(tail)]) {
			full[tail] = candidate
		}
		short = append(short, tail)
	}
	if near, ok := nearest(rest, short); ok {
		return full[near]
	}
	return ""
}
