package config_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/config"
)

const composeFile = "../docker-compose.yml"

// composeProject reads the file as docker compose does: schema, anchors,
// variables, references between services, volumes and networks.
func composeProject(t *testing.T, env map[string]string) *types.Project {
	t.Helper()
	content, err := os.ReadFile(composeFile)
	require.NoError(t, err)
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  "..",
		ConfigFiles: []types.ConfigFile{{Filename: composeFile, Content: content}},
		Environment: env,
	})
	require.NoError(t, err)
	return project
}

func TestComposeFileIsValid(t *testing.T) {
	t.Parallel()
	project := composeProject(t, map[string]string{})
	require.ElementsMatch(t,
		[]string{"worker", "gateway", "temporal", "temporal-ui", "postgresql", "redis"}, project.ServiceNames())
	worker := project.Services["worker"]
	require.GreaterOrEqual(t, worker.GetScale(), 2)
	require.Equal(t, types.ShellCommand{"--roles", "engine"}, worker.Command)
	require.Equal(t, types.ShellCommand{"--roles", "gateway"}, project.Services["gateway"].Command)
	for name, service := range project.Services {
		require.True(t, service.Build != nil || strings.Contains(service.Image, ":"), "%s has no version", name)
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s is open to others", name)
		}
		for on, condition := range service.DependsOn {
			require.Equal(t, types.ServiceConditionHealthy, condition.Condition)
			require.NotNil(t, project.Services[on].HealthCheck, "%s waits for the health of %s", name, on)
		}
	}
}

func TestComposeSetsOnlyWhatIsKnown(t *testing.T) {
	t.Parallel()
	known := []string{"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE"}
	for _, key := range config.Keys() {
		known = append(known, key.Env...)
	}
	project := composeProject(t, map[string]string{})
	for _, name := range []string{"worker", "gateway"} {
		for variable := range project.Services[name].Environment {
			require.True(t, slices.Contains(known, variable), "%s sets %s, which nothing reads", name, variable)
		}
	}
}

// What the containers get is a configuration, with nothing set and with much.
func TestComposeEnvironmentIsAConfiguration(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"nothing": {},
		"much": {
			"LARACLAW_TELEGRAM_TOKEN":             "7:t",
			"COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET": "s",
			"COUNTERSIGN_PUBLIC_URL":              "https://countersign.example.test",
			"COUNTERSIGN_PEOPLE":                  `[{"name":"ada","owner":true,"telegram":[1001]}]`,
			"LARACLAW_SLACK_BOT_TOKEN":            "xoxb-t",
			"LARACLAW_SLACK_SIGNING_SECRET":       "s",
		},
	} {
		for service, definition := range composeProject(t, env).Services {
			if definition.Build == nil {
				continue
			}
			given := map[string]string{}
			for variable, value := range definition.Environment {
				given[variable] = *value
			}
			c, err := load("", given)
			require.NoError(t, err, "%s: %s", name, service)
			require.Equal(t, "file:///var/lib/countersign/files", c.Disks["local"])
			require.Equal(t, name == "much", c.Telegram.Enabled)
			require.True(t, c.Temporal.AddressSet)
			require.True(t, c.IsSet("redis.url"))
			require.Empty(t, c.Warnings)
		}
	}
}

func TestDockerfileBuildsWithTheModulesGo(t *testing.T) {
	t.Parallel()
	dockerfile, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	gomod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(gomod))
	require.Len(t, version, 2)
	require.Contains(t, string(dockerfile), "FROM golang:"+version[1]+"-")
	require.Contains(t, string(dockerfile), "ENV COUNTERSIGN_DATA_DIR=/var/lib/countersign")
}
