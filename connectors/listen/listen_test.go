package listen_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/listen"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	b := listen.Backoff{First: time.Second, Most: 5 * time.Second}
	for _, want := range []float64{1, 2, 4, 5, 5} {
		require.InDelta(t, want, b.Wait().Seconds(), 0)
	}
	b.Reset()
	require.Equal(t, time.Second, b.Wait())
}

func TestBeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		beats := 0
		stop := listen.Beat(t.Context(), time.Second, func() { beats++ })
		time.Sleep(3*time.Second + time.Millisecond)
		stop()
		require.Equal(t, 3, beats)
		time.Sleep(time.Minute)
		require.Equal(t, 3, beats, "none after stop")
	})
}

func TestGive(t *testing.T) {
	t.Parallel()
	refusal := errors.New("not this one")
	away := fmt.Errorf("signal: %w", chat.ErrUnreachable)
	for name, tt := range map[string]struct {
		fails []error
		want  error
		tries int
		took  time.Duration
	}{
		"at once":                           {nil, nil, 1, 0},
		"unreachable, for as long as it is": {[]error{away, away, away, away, away, context.DeadlineExceeded}, nil, 7, (1 + 2 + 4 + 4 + 4 + 4) * time.Second},
		"refused a few times":               {[]error{refusal, away, refusal}, nil, 4, (1 + 2 + 4) * time.Second},
		"refused too often":                 {[]error{refusal, away, refusal, refusal, refusal}, listen.ErrRefused, 4, (1 + 2 + 4) * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, tries, told := time.Now(), 0, 0
				h := listen.Handover{
					Backoff: listen.Backoff{First: time.Second, Most: 4 * time.Second}, Refusals: 3,
					Again: func(err error, wait time.Duration) {
						told++
						require.Error(t, err)
						require.Positive(t, wait)
					},
				}
				err := h.Give(t.Context(), func() error {
					if tries++; tries <= len(tt.fails) {
						return tt.fails[tries-1]
					}
					return nil
				})
				require.ErrorIs(t, err, tt.want)
				if tt.want != nil {
					require.ErrorIs(t, err, refusal)
				}
				require.Equal(t, tt.tries, tries)
				require.Equal(t, tt.took, time.Since(began))
				require.Equal(t, tries-1, told)
			})
		})
	}
}

func TestGiveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := listen.Handover{Backoff: listen.Backoff{First: time.Hour}, Refusals: 9, Again: func(error, time.Duration) { cancel() }}
	require.ErrorIs(t, h.Give(ctx, func() error { return chat.ErrUnreachable }), context.Canceled)
}
