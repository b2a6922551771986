package filemanager_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/toolbox/filemanager"
)

// Every operation that can ask does so in every language, and shows the same values.
func TestTranslations(t *testing.T) {
	t.Parallel()
	registry, _, err := tool.NewRegistry(filemanager.New(filemanager.Params{}))
	require.NoError(t, err)
	parameters := json.RawMessage(`{"disk":"D1","path":"P1","content":"C1","destination":"E1","source":"S1","url":"U1"}`)
	for _, op := range registry.Tools()[0].Operations {
		english, err := approval.Render(op, parameters)
		require.NoError(t, err)
		for _, language := range []string{"de", "es", "zh-CN"} {
			prompt, err := approval.RenderIn(language, op, parameters)
			require.NoError(t, err)
			require.NotEqual(t, english, prompt, "%s in %s", op.Name, language)
			for _, value := range []string{"D1", "P1", "E1", "S1", "U1"} {
				require.Equal(t, strings.Contains(english, value), strings.Contains(prompt, value), "%s in %s: %s", op.Name, language, value)
			}
		}
	}
	op, _ := registry.Find("file_manager", "delete")
	prompt, err := approval.RenderIn("de", *op, []byte(`{"disk":"local","paths":["a","b\u202ec"]}`))
	require.NoError(t, err)
	require.Equal(t, `2 Dateien auf dem Laufwerk local löschen: a, b\u{202E}c?`, prompt)
}
