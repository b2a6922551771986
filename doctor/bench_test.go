package doctor_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/doctor"
)

// load makes a configuration of one file.
func load(t *testing.T, file string) *config.Config {
	t.Helper()
	cfg, err := loadFile(file)
	require.NoError(t, err)
	return cfg
}

func loadFile(file string) (*config.Config, error) {
	return config.Load(func(string) (string, bool) { return "", false }, nil, func(name string) ([]byte, error) {
		if name != config.DefaultFile || file == "" {
			return nil, fs.ErrNotExist
		}
		return []byte(file), nil
	})
}

// examined are the findings of one area, in their order.
type examined []doctor.Finding

// says wants a text in what was found or in how to mend it, and none of the secrets.
func (e examined) says(t *testing.T, want string, secrets ...string) {
	t.Helper()
	text := ""
	for _, f := range e {
		text += f.Detail + " → " + f.Mend + "\n"
	}
	require.Contains(t, text, want)
	for _, secret := range append(secrets, "hidden") {
		require.NotContains(t, text, secret)
	}
}

// examine runs one area. Every warning and failure says how to mend it.
func examine(t *testing.T, check func(context.Context, *doctor.Notes)) examined {
	t.Helper()
	report := doctor.Run(t.Context(), doctor.Params{Areas: []doctor.Area{{Name: "here", Check: check}}})
	for _, f := range report.Findings {
		require.Equal(t, "here", f.Area)
		require.Equal(t, f.Status == doctor.Warn || f.Status == doctor.Fail, f.Mend != "", "%+v", f)
		require.NotContains(t, f.Detail+f.Mend, "\n")
	}
	return report.Findings
}

// short are the findings as "status check", so that a table can hold them.
func (e examined) short() (lines []string) {
	for _, f := range e {
		lines = append(lines, string(f.Status)+" "+f.Check)
	}
	return lines
}

// has wants one finding with that status whose detail or mend holds text.
func (e examined) has(t *testing.T, status doctor.Status, check, text string) {
	t.Helper()
	for _, f := range e {
		if f.Status == status && f.Check == check && strings.Contains(f.Detail+" → "+f.Mend, text) {
			return
		}
	}
	require.Failf(t, "not found", "%s %s %q in %+v", status, check, text, []doctor.Finding(e))
}

func temporary(text string) error {
	return &chat.Error{Op: "call", Temporary: true, Err: errorOf(text)}
}
func final(text string) error { return &chat.Error{Op: "call", Err: errorOf(text)} }

type errorOf string

func (e errorOf) Error() string { return string(e) }
