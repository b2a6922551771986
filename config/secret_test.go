package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/countersignhq/countersign/config"
)

func TestSecretIsNeverShown(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Telegram.Token = "hunter2"
	c.Redis.URL = "redis://:hunter2@host"
	shown := []string{}
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%d", "%x"} {
		shown = append(shown, fmt.Sprintf(verb, c.Telegram.Token), fmt.Sprintf(verb, *c))
	}
	asJSON, err := json.Marshal(c)
	require.NoError(t, err)
	asYAML, err := yaml.Marshal(c)
	require.NoError(t, err)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "token", c.Telegram.Token)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "token", c.Telegram.Token)
	for _, text := range append(shown, string(asJSON), string(asYAML), log.String()) {
		require.NotContains(t, text, "hunter2")
		require.Regexp(t, `<secret>|\\u003csecret\\u003e`, text)
	}
	require.Equal(t, "hunter2", c.Telegram.Token.Reveal())
	require.Empty(t, config.Secret("").String(), "an empty one is seen to be empty")
}
