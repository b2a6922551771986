package slack

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The manifest that people paste asks for what the connector needs, and points at its paths.
func TestManifest(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/connectors/slack-manifest.yaml")
	require.NoError(t, err)
	var manifest struct {
		OAuth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Settings struct {
			Events struct {
				URL string `yaml:"request_url"`
			} `yaml:"event_subscriptions"`
			Interactivity struct {
				URL string `yaml:"request_url"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(content, &manifest))
	require.ElementsMatch(t, scopes, manifest.OAuth.Scopes.Bot)
	const host = "https://countersign.example.com"
	require.Equal(t, host+EventsPath, manifest.Settings.Events.URL)
	require.Equal(t, host+InteractivityPath, manifest.Settings.Interactivity.URL)
}
