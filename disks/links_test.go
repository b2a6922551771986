//go:build unix

package disks_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/disks"
)

// linked is a file disk with links of every kind in it.
func linked(t *testing.T) (d pair, dir string) {
	t.Helper()
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "s"), []byte("outside"), 0o600))
	dir = t.TempDir()
	d = open(t, "file://"+dir)
	write(t, d.program, "inbound/u/f", "secret")
	write(t, d.program, "docs/a.txt", "A")
	for name, target := range map[string]string{
		"out": outside, "up": "../" + filepath.Base(outside), "in": "inbound", "deep": "docs/../inbound/u", "file": "inbound/u/f",
		"here": ".", "loop": "loop", "nowhere": "missing/x", "good": "docs", "one.txt": "docs/a.txt", "docs/back": "../inbound", "chain": "in/u",
		"abs": filepath.Join(dir, "docs"),
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	return d, dir
}

func TestG01Links(t *testing.T) {
	t.Parallel()
	d, dir := linked(t)
	ctx := t.Context()
	for _, name := range []string{
		"out", "out/", "out/s", "up/s", "in", "in/", "in/u/f", "in/new", "deep", "deep/f", "file", "here/inbound/u/f", "loop", "loop/x",
		"good/back/u/f", "docs/back", "chain/f", "abs/a.txt", "here/here/in/u/f",
	} {
		var refusal *disks.Refusal
		_, _, err := d.agent.Reader(ctx, name)
		require.ErrorAs(t, err, &refusal, name)
		_, err = d.agent.Exists(ctx, name)
		require.ErrorAs(t, err, &refusal, name)
		_, err = d.agent.List(ctx, name)
		require.ErrorAs(t, err, &refusal, name)
		require.ErrorAs(t, d.agent.Write(ctx, name, strings.NewReader("x")), &refusal, name)
		require.ErrorAs(t, d.agent.Append(ctx, name, strings.NewReader("x")), &refusal, name)
		require.ErrorAs(t, d.agent.Delete(ctx, name), &refusal, name)
		_, err = d.agent.Mkdir(ctx, name+"/made")
		require.ErrorAs(t, err, &refusal, name)
		_, err = d.agent.Move(ctx, name, "x")
		require.ErrorAs(t, err, &refusal, name)
		_, err = d.agent.Copy(ctx, name, "x")
		require.ErrorAs(t, err, &refusal, name)
		_, err = d.agent.Copy(ctx, "docs/a.txt", name)
		require.ErrorAs(t, err, &refusal, name)
	}
	require.Equal(t, []string{"docs/", "good/", "here/", "one.txt"}, names(t, d.agent, "/"))
	require.Equal(t, []string{"docs/a.txt"}, names(t, d.agent, "docs"))
	require.Equal(t, "secret", read(t, d.program, "inbound/u/f"))
	left, err := os.ReadDir(filepath.Join(dir, "inbound"))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestLinksThatStayInside(t *testing.T) {
	t.Parallel()
	d, dir := linked(t)
	ctx := t.Context()
	require.Equal(t, "A", read(t, d.agent, "good/a.txt"))
	require.Equal(t, "A", read(t, d.agent, "one.txt"))
	require.Equal(t, "A", read(t, d.agent, "here/here/docs/a.txt"))
	write(t, d.agent, "good/new.txt", "N")
	require.Equal(t, "N", read(t, d.agent, "docs/new.txt"))
	exists, err := d.agent.Exists(ctx, "nowhere")
	require.NoError(t, err)
	require.False(t, exists)

	// Onto itself by another way in.
	same, err := d.agent.Move(ctx, "docs/new.txt", "good/new.txt")
	require.NoError(t, err)
	require.Equal(t, "docs/new.txt", same)
	require.Equal(t, "N", read(t, d.agent, "docs/new.txt"))

	// A link itself is neither deleted nor moved, nor is the whole disk by a link to it.
	for _, name := range []string{"one.txt", "good", "here"} {
		var refusal *disks.Refusal
		require.ErrorAs(t, d.agent.Delete(ctx, name), &refusal, name)
		_, err = d.agent.Move(ctx, name, "elsewhere")
		require.ErrorAs(t, err, &refusal, name)
	}
	_, err = os.Lstat(filepath.Join(dir, "one.txt"))
	require.NoError(t, err)
}

func TestG07FolderWithALinkInIt(t *testing.T) {
	t.Parallel()
	d, _ := linked(t)
	_, err := d.agent.Copy(t.Context(), "docs", "copied")
	require.ErrorIs(t, err, disks.ErrLink)
	_, err = d.agent.Move(t.Context(), "docs", "moved")
	require.ErrorIs(t, err, disks.ErrLink)
	require.Equal(t, []string{"docs/", "good/", "here/", "one.txt"}, names(t, d.agent, "/"))
}

// TestProtectedByIdentity reaches the protected folder of one disk through another disk around it.
func TestProtectedByIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all, err := disks.Open(t.Context(), disks.Params{
		URLs: map[string]string{
			"store": "file://" + dir + "/store", "around": "file://" + dir, "twin": "file://" + dir + "/store",
		},
		Allowed:   []string{"around", "twin"},
		Protected: map[string][]string{"store": {"inbound"}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	store, err := all.Unguarded("store")
	require.NoError(t, err)
	write(t, store, "inbound/u/f", "secret")
	around, err := all.Guarded("around")
	require.NoError(t, err)
	twin, err := all.Guarded("twin")
	require.NoError(t, err)
	for d, name := range map[*disks.Disk]string{around: "store/inbound/u/f", twin: "inbound/u/f"} {
		_, _, err = d.Reader(t.Context(), name)
		require.ErrorIs(t, err, disks.ErrProtected)
		require.ErrorIs(t, d.Write(t.Context(), name, strings.NewReader("x")), disks.ErrProtected)
	}
	require.Empty(t, names(t, around, "store"))
	require.Empty(t, names(t, twin, "/"))
	_, err = around.Move(t.Context(), "store", "x")
	require.ErrorIs(t, err, disks.ErrProtected)
	_, err = around.Copy(t.Context(), "store", "x")
	require.ErrorIs(t, err, disks.ErrProtected)
}

func TestPipesAreNotOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, "file://"+dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "docs"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "docs", "pipe"), 0o600))
	var refusal *disks.Refusal
	_, _, err := d.agent.Reader(t.Context(), "docs/pipe")
	require.ErrorAs(t, err, &refusal)
	require.ErrorAs(t, d.agent.Write(t.Context(), "docs/pipe", strings.NewReader("x")), &refusal)
	_, err = d.agent.Copy(t.Context(), "docs", "x")
	require.ErrorAs(t, err, &refusal)
}

func TestProtectedFolderMustBeReal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "docs"), 0o700))
	require.NoError(t, os.Symlink("docs", filepath.Join(dir, "inbound")))
	_, err := disks.Open(t.Context(), disks.Params{
		URLs:      map[string]string{"local": "file://" + dir},
		Protected: map[string][]string{"local": {"inbound"}},
	})
	require.ErrorContains(t, err, "real folder")
}

// TestLinkToAProtectedFolderThatIsGone: nobody makes it anew by way of a link.
func TestLinkToAProtectedFolderThatIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, "file://"+dir)
	require.NoError(t, os.Remove(filepath.Join(dir, "inbound")))
	require.NoError(t, os.Symlink("inbound", filepath.Join(dir, "ghost")))
	require.ErrorIs(t, d.agent.Write(t.Context(), "ghost/x", strings.NewReader("x")), disks.ErrProtected)
	_, err := d.agent.Mkdir(t.Context(), "ghost")
	require.ErrorIs(t, err, disks.ErrProtected)
	require.NoDirExists(t, filepath.Join(dir, "inbound"))
}
