package archtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	files, err := sources("../..")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, line := range violations(table, files) {
		t.Error(line)
	}
}

// Each row is shown to refuse what the design names.
func TestTableRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pkg, file, imported string }{
		{"tool", "tool.go", module + "chat"},
		{"chat", "chat.go", module + "tool"},
		{"chat", "chat.go", module + "config"},
		{"tool", "fx.go", module + "app"},
		{"approval", "policy.go", module + "contract"},
		{"approval", "policy.go", "go.temporal.io/sdk/workflow"},
		{"approval", "policy.go", "go.uber.org/fx"},
		{"contract", "names.go", module + "activities"},
		{"contract", "names.go", module + "connectors/telegram"},
		{"contract", "names.go", "go.uber.org/fx"},
		{"workflows", "turn.go", module + "activities"},
		{"workflows", "turn.go", module + "connectors/api"},
		{"workflows", "turn.go", module + "config"},
		{"workflows", "turn.go", module + "rediscompat"},
		{"workflows", "turn.go", "github.com/redis/go-redis/v9"},
		{"workflows", "turn.go", "go.temporal.io/sdk/client"},
		{"workflows", "turn.go", "go.uber.org/fx"},
		{"activities", "run.go", module + "workflows"},
		{"activities", "run.go", module + "connectors/telegram"},
		{"activities", "run.go", "github.com/redis/go-redis/v9"},
		{"connectors/telegram", "inbound.go", module + "connectors/slack"},
		{"connectors/telegram", "inbound.go", module + "inbox"},
		{"connectors/telegram", "inbound.go", module + "dispatch"},
		{"connectors/slack", "inbound.go", "go.temporal.io/sdk/client"},
		{"connectors/slack", "inbound.go", "github.com/redis/go-redis/v9"},
		{"connectors/slack/blocks", "x.go", module + "connectors/email"},
		{"connectors/matrix", "x.go", "fmt"}, // no row
		{"dispatch", "start.go", module + "connectors/web"},
		{"dispatch", "start.go", module + "activities"},
		{"toolbox/filemanager", "x.go", "go.temporal.io/sdk/activity"},
		{"toolbox/filemanager", "x.go", module + "connectors/web"},
		{"toolbox/filemanager", "x.go", module + "toolbox/workspace"},
		{"devstack", "x.go", module + "config"},
		{"config", "x.go", module + "approval"},
		{"worker", "main.go", module + "config"},
		{"starter", "main.go", module + "dispatch"},
		{"worker", "main.go", "go.uber.org/fx"},
		{"gateway", "x.go", "go.temporal.io/sdk/client"},
		{"gateway", "x.go", module + "dispatch"},
		{"internal/helpers", "x.go", "fmt"}, // no row
		{"helpers", "x.go", "fmt"},          // no row
	} {
		lines := violations(table, []source{{pkg: tt.pkg, name: tt.file, imports: []string{tt.imported}}})
		require.Len(t, lines, 1, "%s importing %s", tt.pkg, tt.imported)
	}
}

func TestTableAllows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pkg, file, imported string }{
		{"approval", "policy.go", module + "tool"},
		{"workflows", "turn.go", "go.temporal.io/sdk/workflow"},
		{"workflows", "turn.go", module + "contract"},
		{"connectors/web", "page.go", module + "inbox"},
		{"connectors/telegram", "fx.go", "go.uber.org/fx"},
		{"rediscompat", "fx.go", module + "config"},
		{"rediscompat", "mirror.go", "github.com/redis/go-redis/v9"},
		{"toolbox/filemanager", "x.go", module + "disks"},
		{"gateway", "x.go", module + "gateway/ratelimit"},
		{"app", "app.go", module + "connectors/telegram"},
		{"worker", "main.go", module + "app"},
		{"starter", "main.go", module + "app/client"},
		{"dispatch", "x.go", "go.temporal.io/sdk/client"},
		{"chat", "x.go", "golang.org/x/text/unicode/norm"},
	} {
		require.Empty(t, violations(table, []source{{pkg: tt.pkg, name: tt.file, imports: []string{tt.imported}}}))
	}
}
