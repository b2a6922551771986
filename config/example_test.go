package config_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/config"
)

const exampleFile = "../countersign.example.yaml"

// disabled finds the keys that the example shows without setting them.
var disabled = regexp.MustCompile(`(?m)^(\s*)#((?:- )?[a-z_][a-z_.-]*:)`)

func TestExampleFileIsValidAsItIs(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(exampleFile)
	require.NoError(t, err)
	c, err := load(string(content), nil)
	require.NoError(t, err)
	require.False(t, c.Telegram.Enabled, "nothing is switched on by copying the example")
	require.Empty(t, c.People)
	// What it sets is what would be anyway, so that copying it changes nothing.
	c.Disks = config.Default().Disks
	for _, key := range config.Keys() {
		require.Equal(t, valueAt(config.Default(), key.Path), valueAt(c, key.Path), key.Path)
	}
}

func TestExampleFileHoldsEveryKey(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(exampleFile)
	require.NoError(t, err)
	c, err := load(disabled.ReplaceAllString(string(content), "$1$2"), nil)
	require.NoError(t, err)
	for _, key := range config.Keys() {
		require.True(t, c.IsSet(key.Path), "%s is not in the example", key.Path)
		if !strings.HasPrefix(key.Env[0], "COUNTERSIGN_") {
			require.Contains(t, string(content), "["+key.Env[0]+"]", "the documented name of %s", key.Path)
		}
	}
	requireEveryField(t, "people", c.People[0], c.People[1])
	requireEveryField(t, "conversations", c.Conversations["telegram:-100123"])
	requireEveryField(t, "policy", c.Policy["file_manager.delete"])
	requireEveryField(t, "approvers", *c.Policy["file_manager.delete"].Approvers)
}

// requireEveryField wants each field to be shown in at least one of the values.
func requireEveryField[T any](t *testing.T, what string, values ...T) {
	t.Helper()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		shown := field.Name == "Loosen" // shown at its zero value, which is the safe one
		for _, value := range values {
			shown = shown || !reflect.ValueOf(value).FieldByIndex(field.Index).IsZero()
		}
		require.True(t, shown, "%s.%s is not in the example", what, field.Name)
	}
}

// valueAt finds a key's value by its path in the file.
func valueAt(c *config.Config, path string) any {
	at := reflect.ValueOf(*c)
	for name := range strings.SplitSeq(path, ".") {
		for i := range at.NumField() {
			if at.Type().Field(i).Tag.Get("koanf") == name {
				at = at.Field(i)
				break
			}
		}
	}
	return at.Interface()
}
