package config

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "<secret>"

// Secret is a text that must not be shown: it prints, logs and marshals as
// "<secret>", or as nothing when it is empty.
type Secret string

// Reveal returns the secret itself, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// String implements fmt.Stringer without the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// Format implements fmt.Formatter: every verb, also a wrong one, shows the same.
func (s Secret) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, s.String()) // fmt.State has no way to report it
}

// GoString implements fmt.GoStringer without the secret.
func (s Secret) GoString() string { return s.String() }

// MarshalText writes the redacted form, for encoders that look for it (YAML, map keys).
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON implements json.Marshaler without the secret.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue implements slog.LogValuer without the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
