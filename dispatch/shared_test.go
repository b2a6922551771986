package dispatch

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestSharedReadsAreNeverOlderThanTheQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		reads, goOn := 0, make(chan struct{})
		read := func(context.Context) (int, error) {
			reads++
			if reads == 1 {
				<-goOn
			}
			return reads, nil
		}
		got := make([]int, 50)
		ask := func(n int) { got[n], _ = s.do(t.Context(), read) }
		go ask(0)
		synctest.Wait() // the first read has begun
		for n := range got[1:] {
			go ask(n + 1)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.do(gone, read)
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait() // all of them wait
		close(goOn)
		synctest.Wait()
		require.Equal(t, 1, got[0])
		for _, n := range got[1:] {
			require.Equal(t, 2, n, "the first read began before they asked, and they share the second")
		}
		last, err := s.do(t.Context(), read)
		require.NoError(t, err)
		require.Equal(t, 3, last, "nothing is kept")
	})
}
