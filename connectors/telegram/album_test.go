package telegram

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func part(update int64, album string) arrived {
	return arrived{event: event{update: update, message: &incoming{place: place{chat: 1}, album: album}}}
}

// What is written after an album does not overtake it, and does not wait for its silence.
func TestAlbumKeepsOrder(t *testing.T) {
	t.Parallel()
	a := newAlbums(time.Hour)
	opened, release := make(chan struct{}), make(chan struct{})
	result := make(chan error, 1)
	got, role := a.enter(part(1, "x"))
	require.Equal(t, leading, role)
	go func() {
		a.collect(got)
		close(opened)
		<-release
		a.finish(1, got, nil)
		result <- got.err
	}()
	passed := make(chan error, 1)
	go func() { passed <- a.pass(t.Context(), 1) }()
	<-opened // pass has hurried it
	select {
	case <-passed:
		t.Fatal("it overtook the album")
	default:
	}
	close(release)
	require.NoError(t, <-result)
	require.NoError(t, <-passed)
	require.NoError(t, a.pass(t.Context(), 1), "nothing open")
}

func TestAlbumRoles(t *testing.T) {
	t.Parallel()
	a := newAlbums(time.Hour)
	got, role := a.enter(part(1, "x"))
	require.Equal(t, leading, role)
	_, role = a.enter(part(2, "x"))
	require.Equal(t, joined, role)
	_, role = a.enter(part(2, "x"))
	require.Equal(t, joined, role, "sent again while it is open")
	_, role = a.enter(part(3, "y"))
	require.Equal(t, behind, role, "another album of the chat")
	require.Len(t, a.seal(got), 2)
	_, role = a.enter(part(4, "x"))
	require.Equal(t, behind, role, "too late for this one")
	a.finish(1, got, nil)
	_, role = a.enter(part(2, "x"))
	require.Equal(t, repeated, role)
	_, role = a.enter(part(4, "x"))
	require.Equal(t, leading, role, "a late part is a message of its own")
}

func TestAlbumThatFailsMayComeAgain(t *testing.T) {
	t.Parallel()
	a := newAlbums(time.Millisecond)
	broken := errors.New("not taken")
	require.ErrorIs(t, a.join(t.Context(), part(1, "x"), func([]arrived) error { return broken }), broken)
	require.NoError(t, a.join(t.Context(), part(1, "x"), func(parts []arrived) error {
		require.Len(t, parts, 1)
		return nil
	}))
}

func TestAlbumWaiterLeaves(t *testing.T) {
	t.Parallel()
	a := newAlbums(time.Hour)
	_, _ = a.enter(part(1, "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, a.join(ctx, part(2, "x"), nil), context.Canceled)
	require.ErrorIs(t, a.pass(ctx, 1), context.Canceled)
}
