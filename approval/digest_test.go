package approval_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
)

func digest(t *testing.T, toolName, operation, parameters string, contents map[string]string) string {
	t.Helper()
	sum, err := approval.Digest(toolName, operation, json.RawMessage(parameters), contents)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{64}$`, sum)
	return sum
}

func TestG14DigestSame(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]string{
		"order of names": {`{"a":1,"b":{"x":1,"y":2}}`, `{ "b": {"y":2, "x":1}, "a":1 }`},
		"spelling":       {`{"a":"\u0041","n":1.0}`, `{"a":"A","n":1}`},
		"nothing":        {``, `{}`},
	} {
		require.Equal(t, digest(t, "t", "o", pair[0], nil), digest(t, "t", "o", pair[1], nil), name)
	}
	require.Equal(t,
		digest(t, "t", "o", "", map[string]string{"a": "1", "b": "2", "c": "3"}),
		digest(t, "t", "o", "", map[string]string{"c": "3", "b": "2", "a": "1"}))
	require.Equal(t, digest(t, "t", "o", "", nil), digest(t, "t", "o", "", map[string]string{}))
}

func TestG14DigestDiffers(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, tc := range []struct {
		name, tool, operation, parameters string
		contents                          map[string]string
	}{
		{"base", "t", "o", `{"a":1}`, nil},
		{"tool", "u", "o", `{"a":1}`, nil},
		{"operation", "t", "p", `{"a":1}`, nil},
		{"moved letter", "to", "", `{"a":1}`, nil},
		{"value", "t", "o", `{"a":2}`, nil},
		{"type", "t", "o", `{"a":"1"}`, nil},
		{"name", "t", "o", `{"A":1}`, nil},
		{"null is not absent", "t", "o", `{"a":1,"b":null}`, nil},
		{"order of a list", "t", "o", `{"a":[1,2]}`, nil},
		{"order of a list, other", "t", "o", `{"a":[2,1]}`, nil},
		{"2^53", "t", "o", `{"a":9007199254740992}`, nil},
		{"2^53 + 1", "t", "o", `{"a":9007199254740993}`, nil},
		{"2^53 + 1 as text", "t", "o", `{"a":"9007199254740993"}`, nil},
		{"0.1", "t", "o", `{"a":0.1}`, nil},
		{"a little more", "t", "o", `{"a":0.10000000000000000000001}`, nil},
		{"file", "t", "o", `{"a":1}`, map[string]string{"report.pdf": "aa"}},
		{"content of the file", "t", "o", `{"a":1}`, map[string]string{"report.pdf": "ab"}},
		{"name of the file", "t", "o", `{"a":1}`, map[string]string{"report.pd": "faa"}},
		{"name is no UTF-8", "t", "o", `{"a":1}`, map[string]string{"\xff": "aa"}},
		{"name is other no UTF-8", "t", "o", `{"a":1}`, map[string]string{"\xfe": "aa"}},
		{"contents swapped", "t", "o", `{"a":1}`, map[string]string{"x": "1", "y": "2"}},
		{"contents swapped, other", "t", "o", `{"a":1}`, map[string]string{"x": "2", "y": "1"}},
	} {
		sum := digest(t, tc.tool, tc.operation, tc.parameters, tc.contents)
		require.NotContains(t, seen, sum, "%s is like %s", tc.name, seen[sum])
		seen[sum] = tc.name
	}
}

// The digest stands in histories: it must not change from release to release.
func TestDigestIsPinned(t *testing.T) {
	t.Parallel()
	require.Equal(t, "e409da1e1846a14388af3854c195dc062543932cd367b617cfce5935ec41649d",
		digest(t, "file_manager", "delete", `{"disk":"local","path":"reports/old.csv"}`, map[string]string{"reports/old.csv": "00ff"}))
}

func TestG14DigestRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"duplicates": `{"a":1,"a":2}`, "trailing": `{} 1`, "not JSON": `{a:1}`, "lone surrogate": `"\ud800"`,
	} {
		sum, err := approval.Digest("t", "o", json.RawMessage(in), nil)
		require.ErrorContains(t, err, "digest of the parameters of t.o", name)
		require.Empty(t, sum)
	}
}

func FuzzDigest(f *testing.F) {
	f.Add(`{"a":1,"b":[true,"x"]}`, `{"b":[true,"x"],"a":1.0}`)
	f.Add(`9007199254740993`, `9007199254740992`)
	f.Fuzz(func(t *testing.T, a, b string) {
		one, errA := approval.Digest("t", "o", json.RawMessage(a), nil)
		two, errB := approval.Digest("t", "o", json.RawMessage(b), nil)
		if errA != nil || errB != nil || one != two {
			return
		}
		var x, y any
		require.NoError(t, json.Unmarshal(orEmpty(a), &x))
		require.NoError(t, json.Unmarshal(orEmpty(b), &y))
		require.Equal(t, x, y, "one digest, one meaning")
	})
}

func orEmpty(s string) []byte {
	if len(s) > 0 && json.Valid([]byte(s)) {
		return []byte(s)
	}
	return []byte("{}")
}
