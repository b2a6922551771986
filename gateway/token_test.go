package gateway

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnsureToken(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	var out bytes.Buffer
	hash, err := EnsureToken(dir, &out)
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(dir, "token"))
	require.NoError(t, err)
	token := strings.TrimSpace(string(content))
	require.True(t, strings.HasPrefix(token, "cs_"))
	require.Len(t, token, 3+43)
	require.Equal(t, TokenHash(token), hash)
	require.Equal(t, 1, strings.Count(out.String(), token))
	require.NoError(t, os.Chmod(filepath.Join(dir, "token"), 0o644))

	out.Reset()
	again, err := EnsureToken(dir, &out)
	require.NoError(t, err)
	require.Equal(t, hash, again)
	require.Empty(t, out.String(), "printed once")
	info, err := os.Stat(filepath.Join(dir, "token"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("\n"), 0o600))
	_, err = EnsureToken(dir, &out)
	require.ErrorContains(t, err, "delete the file")
}

func TestEnsureTokenTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hashes := make([]string, 8)
	outs := make([]bytes.Buffer, 8)
	var group sync.WaitGroup
	for i := range hashes {
		group.Go(func() { hashes[i], _ = EnsureToken(dir, &outs[i]) })
	}
	group.Wait()
	printed := 0
	for i := range hashes {
		require.Equal(t, hashes[0], hashes[i])
		require.NotEmpty(t, hashes[i])
		printed += min(1, outs[i].Len())
	}
	require.Equal(t, 1, printed)
}

// countName counts the members of a JSON object whose name is name in any letter case.
func countName(body []byte, name string) (count int) {
	tokens := json.NewDecoder(bytes.NewReader(body))
	_, _ = tokens.Token()
	for tokens.More() {
		key, err := tokens.Token()
		if err != nil {
			return count
		}
		if text, ok := key.(string); ok && strings.EqualFold(text, name) {
			count++
		}
		var value json.RawMessage
		if tokens.Decode(&value) != nil {
			return count
		}
	}
	return count
}
