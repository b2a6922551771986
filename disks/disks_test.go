package disks_test

import (
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/internal/testtools"
)

// kinds are the disks that every test of behaviour runs on.
var kinds = map[string]func(t *testing.T) string{
	"file": func(t *testing.T) string { return "file://" + t.TempDir() + "/made/when/missing" },
	"mem":  func(*testing.T) string { return "mem://" },
	"s3":   func(t *testing.T) string { return testtools.S3(t) },
}

// pair is one disk seen both ways.
type pair struct{ agent, program *disks.Disk }

func onEachKind(t *testing.T, test func(t *testing.T, d pair)) {
	t.Helper()
	for name, makeURL := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, makeURL(t)))
		})
	}
}

func open(t *testing.T, address string) pair {
	t.Helper()
	all, err := disks.Open(t.Context(), disks.Params{
		URLs:      map[string]string{"local": address},
		Allowed:   []string{"local"},
		Protected: map[string][]string{"local": {"inbound", "outbound"}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	agent, err := all.Guarded("local")
	require.NoError(t, err)
	program, err := all.Unguarded("local")
	require.NoError(t, err)
	return pair{agent, program}
}

func write(t *testing.T, d *disks.Disk, name, content string) {
	t.Helper()
	require.NoError(t, d.Write(t.Context(), name, strings.NewReader(content)), name)
}

func read(t *testing.T, d *disks.Disk, name string) string {
	t.Helper()
	content, _, err := d.Reader(t.Context(), name)
	require.NoError(t, err, name)
	defer content.Close()
	all, err := io.ReadAll(content)
	require.NoError(t, err)
	return string(all)
}

func names(t *testing.T, d *disks.Disk, folder string) []string {
	t.Helper()
	infos, err := d.List(t.Context(), folder)
	require.NoError(t, err)
	var all []string
	for _, info := range infos {
		name := info.Path
		if info.Folder {
			name += "/"
		}
		all = append(all, name)
	}
	return all
}

func TestFilesAndFolders(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		ctx := t.Context()
		write(t, d.agent, "/docs/2029/a.txt", "hello")
		write(t, d.agent, "docs/b%20:1.txt", "B")
		require.Equal(t, []string{"docs/2029/", "docs/b%20:1.txt"}, names(t, d.agent, "docs"))
		require.Equal(t, []string{"docs/"}, names(t, d.agent, ""))

		info, err := d.agent.Stat(ctx, "docs//2029/./a.txt")
		require.NoError(t, err)
		require.Equal(t, "docs/2029/a.txt", info.Path)
		require.Equal(t, int64(5), info.Size)
		require.False(t, info.Folder)
		require.False(t, info.Modified.IsZero())
		info, err = d.agent.Stat(ctx, "docs")
		require.NoError(t, err)
		require.True(t, info.Folder)

		write(t, d.agent, "docs/2029/a.txt", "hello again")
		require.Equal(t, "hello again", read(t, d.agent, "docs/2029/a.txt"))
		require.NoError(t, d.agent.Append(ctx, "docs/2029/a.txt", strings.NewReader(", and more")))
		require.NoError(t, d.agent.Append(ctx, "docs/new.txt", strings.NewReader("first")))
		require.Equal(t, "hello again, and more", read(t, d.agent, "docs/2029/a.txt"))
		require.Equal(t, "first", read(t, d.agent, "docs/new.txt"))

		digest, err := d.agent.Digest(ctx, "docs/new.txt")
		require.NoError(t, err)
		require.Equal(t, "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e", digest)

		require.ErrorIs(t, d.agent.Create(ctx, "docs/new.txt", strings.NewReader("x")), fs.ErrExist)
		require.Equal(t, "first", read(t, d.agent, "docs/new.txt"))

		require.ErrorIs(t, d.agent.Delete(ctx, "docs"), disks.ErrNotEmpty)
		require.NoError(t, d.agent.Delete(ctx, "docs/new.txt"))
		require.ErrorIs(t, d.agent.Delete(ctx, "docs/new.txt"), fs.ErrNotExist)
		exists, err := d.agent.Exists(ctx, "docs/new.txt")
		require.NoError(t, err)
		require.False(t, exists)
	})
}

func TestWrongKindOfThing(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		ctx := t.Context()
		write(t, d.agent, "docs/a.txt", "A")
		_, _, err := d.agent.Reader(ctx, "docs")
		require.ErrorIs(t, err, disks.ErrFolder)
		_, _, err = d.agent.Reader(ctx, "none")
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = d.agent.List(ctx, "docs/a.txt")
		require.ErrorIs(t, err, disks.ErrNotFolder)
		_, err = d.agent.List(ctx, "none")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorIs(t, d.agent.Write(ctx, "docs", strings.NewReader("")), disks.ErrFolder)
		require.ErrorIs(t, d.agent.Write(ctx, "new/", strings.NewReader("")), disks.ErrFolder)
		require.ErrorIs(t, d.agent.Write(ctx, "/", strings.NewReader("")), disks.ErrFolder)
		require.ErrorIs(t, d.agent.Write(ctx, "docs/a.txt/b", strings.NewReader("")), disks.ErrNotFolder)
		_, err = d.agent.Mkdir(ctx, "docs/a.txt/b")
		require.ErrorIs(t, err, disks.ErrNotFolder)
		require.ErrorIs(t, d.agent.Append(ctx, "docs", strings.NewReader("")), disks.ErrFolder)
		for name, cause := range map[string]error{
			"docs/a.txt/b": disks.ErrNotFolder, "docs/a.txt/b/c": disks.ErrNotFolder, "docs": disks.ErrFolder, "new/": disks.ErrFolder, "": disks.ErrFolder,
			"inbound/x": disks.ErrProtected,
		} {
			_, err = d.agent.FileTarget(ctx, name)
			require.ErrorIs(t, err, cause, name)
		}
		for _, name := range []string{"docs/a.txt", "docs/b", "x/y/z"} {
			target, err := d.agent.FileTarget(ctx, name)
			require.NoError(t, err)
			require.Equal(t, name, target)
		}
		require.Equal(t, "A", read(t, d.agent, "docs/a.txt"))
	})
}

func TestMkdir(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		ctx := t.Context()
		for _, want := range []string{"new/v1.2", "new/v1.2-1", "new/v1.2-2"} {
			made, err := d.agent.Mkdir(ctx, "new/v1.2/")
			require.NoError(t, err)
			require.Equal(t, want, made)
		}
		require.Equal(t, []string{"new/v1.2/", "new/v1.2-1/", "new/v1.2-2/"}, names(t, d.agent, "new"))
		require.Empty(t, names(t, d.agent, "new/v1.2"))
		require.NoError(t, d.agent.Delete(ctx, "new/v1.2"))
		_, err := d.agent.Stat(ctx, "new/v1.2")
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = d.agent.Mkdir(ctx, "/")
		require.ErrorIs(t, err, fs.ErrExist)
	})
}

func TestB11EmptyFile(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		write(t, d.agent, "empty.csv", "")
		info, err := d.agent.Stat(t.Context(), "empty.csv")
		require.NoError(t, err)
		require.Zero(t, info.Size)
		copied, err := d.agent.Copy(t.Context(), "empty.csv", "again.csv")
		require.NoError(t, err)
		require.Empty(t, read(t, d.agent, copied))
		require.Equal(t, []string{"again.csv", "empty.csv"}, names(t, d.agent, "/"))
	})
}

func TestCopyAndMove(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source, destination, want string
	}{
		{"free name", "a.txt", "b.txt", "b.txt"},
		{"new folders", "a.txt", "x/y/b.txt", "x/y/b.txt"},
		{"taken name gets a number", "a.txt", "taken.txt", "taken-2.txt"},
		{"into a folder", "a.txt", "docs", "docs/a.txt"},
		{"into a folder that is to come", "a.txt", "later/", "later/a.txt"},
		{"into a folder with that name taken", "a.txt", "full", "full/a-1.txt"},
		{"onto itself", "a.txt", "./docs/../a.txt", "a.txt"},
		{"onto itself by its folder", "a.txt", "/", "a.txt"},
		{"folder", "docs", "papers", "papers"},
		{"folder into a folder", "docs", "full", "full/docs"},
		{"folder onto itself", "docs", "docs/", "docs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onEachKind(t, func(t *testing.T, d pair) {
				for name, content := range map[string]string{
					"a.txt": "A", "taken.txt": "T", "taken-1.txt": "T1", "full/a.txt": "F", "docs/deep/d.txt": "D", "docs/e.txt": "E",
				} {
					write(t, d.agent, name, content)
				}
				_, err := d.agent.Mkdir(t.Context(), "docs/hollow")
				require.NoError(t, err)
				check := func(got string) {
					require.Equal(t, c.want, got)
					if c.source == "docs" {
						require.Equal(t, "D", read(t, d.agent, got+"/deep/d.txt"))
						require.Equal(t, []string{got + "/deep/", got + "/e.txt", got + "/hollow/"}, names(t, d.agent, got))
					} else {
						require.Equal(t, "A", read(t, d.agent, got))
					}
					require.Equal(t, "T", read(t, d.agent, "taken.txt"))
					require.Equal(t, "F", read(t, d.agent, "full/a.txt"))
				}
				got, err := d.agent.Copy(t.Context(), c.source, c.destination)
				require.NoError(t, err)
				check(got)
				exists, err := d.agent.Exists(t.Context(), c.source)
				require.NoError(t, err)
				require.True(t, exists, "a copy leaves its source")
				if c.want == c.source {
					got, err = d.agent.Move(t.Context(), c.source, c.destination)
					require.NoError(t, err)
					check(got)
					return
				}
				remove(t, d.program, c.want)
				got, err = d.agent.Move(t.Context(), c.source, c.destination)
				require.NoError(t, err)
				check(got)
				exists, err = d.agent.Exists(t.Context(), c.source)
				require.NoError(t, err)
				require.False(t, exists, "a move leaves nothing")
			})
		})
	}
}

// remove takes away what a copy made, and the folder it made for it.
func remove(t *testing.T, d *disks.Disk, name string) {
	t.Helper()
	require.NoError(t, d.Clear(t.Context(), name))
}

func TestG07MovingWhatHoldsProtected(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		ctx := t.Context()
		write(t, d.program, "inbound/u/f", "secret")
		write(t, d.program, "outbound/u/o", "reply")
		write(t, d.agent, "a/b.txt", "A")
		write(t, d.agent, "a/inbound/c.txt", "C")
		for _, c := range []struct{ source, destination string }{
			{".", "old"}, {"/", "old"}, {"", "old"}, {"inbound", "x"}, {"a", "inbound"}, {"inbound/u/f", "pub/f"},
			{"a", "outbound"}, {"a/b.txt", "outbound/"}, {"a/b.txt", "INBOUND/u/g"}, {"a", "outbound/u/a"},
			{"a/inbound", "/"}, {"a", "a/c"}, {"a", "a/b/../c"}, {"a/../inbound/u/f", "x"},
		} {
			_, err := d.agent.Move(ctx, c.source, c.destination)
			require.Error(t, err, "move %q to %q", c.source, c.destination)
			var refusal *disks.Refusal
			require.ErrorAs(t, err, &refusal, "move %q to %q", c.source, c.destination)
			_, err = d.agent.Copy(ctx, c.source, c.destination)
			require.ErrorAs(t, err, &refusal, "copy %q to %q", c.source, c.destination)
		}
		for _, name := range []string{"", ".", "/", "a/..", "inbound", "outbound/u", "inbound/u/f"} {
			var refusal *disks.Refusal
			require.ErrorAs(t, d.agent.Delete(ctx, name), &refusal, "delete %q", name)
		}
		require.ErrorIs(t, d.agent.Clear(ctx, "a"), disks.ErrProtected)
		require.Equal(t, []string{"a/"}, names(t, d.agent, "/"))
		require.Equal(t, "secret", read(t, d.program, "inbound/u/f"))
		require.Equal(t, []string{"outbound/u/o"}, names(t, d.program, "outbound/u"))
	})
}

func TestG04G05ProtectedBySpelling(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, d pair) {
		ctx := t.Context()
		write(t, d.program, "inbound/x", "secret")
		for _, name := range []string{
			"inbound", "inbound/x", "inbound/none", "./inbound/x", "inbound//x", "a/../inbound/x", `inbound\x`, "inbound /x", "inbound./x",
			"/inbound/x", "%2e%2e/inbound", "INBOU~1/x", "inbound::$DATA", "in\u200bbound/x", "INBOUND/x", "Outbound/x", "OutBound",
			"ｉｎｂｏｕｎｄ/x", "%69nbound/x",
		} {
			var refusal *disks.Refusal
			_, err := d.agent.Stat(ctx, name)
			require.ErrorAs(t, err, &refusal, name)
			require.NotErrorIs(t, err, fs.ErrNotExist, "nothing is said about what is there: %q", name)
			_, err = d.agent.Exists(ctx, name)
			require.ErrorAs(t, err, &refusal, name)
			_, err = d.agent.List(ctx, name)
			require.ErrorAs(t, err, &refusal, name)
			_, _, err = d.agent.Reader(ctx, name)
			require.ErrorAs(t, err, &refusal, name)
			require.ErrorAs(t, d.agent.Write(ctx, name, strings.NewReader("x")), &refusal, name)
			require.ErrorAs(t, d.agent.Append(ctx, name, strings.NewReader("x")), &refusal, name)
			_, err = d.agent.Mkdir(ctx, name)
			require.ErrorAs(t, err, &refusal, name)
			_, err = d.agent.FreeName(ctx, name)
			require.ErrorAs(t, err, &refusal, name)
		}
		require.Equal(t, "secret", read(t, d.program, "inbound/x"))
		require.Equal(t, []string{"inbound/x"}, names(t, d.program, "inbound"))
	})
}
