package telegram

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecentForgets(t *testing.T) {
	t.Parallel()
	r := newRecent[int, int](10)
	for n := range 1000 {
		r.set(n, n)
		r.set(n, n+1)
		for kept := max(0, n-9); kept <= n; kept++ {
			got, known := r.find(kept)
			require.True(t, known, "the last ten are kept")
			require.Equal(t, kept+1, got)
		}
		require.LessOrEqual(t, len(r.young)+len(r.old), 20)
	}
	_, known := r.find(0)
	require.False(t, known)
}
