package attachments_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/internal/testtools"
)

var kinds = map[string]func(t *testing.T) string{
	"file": func(t *testing.T) string { return "file://" + t.TempDir() },
	"mem":  func(*testing.T) string { return "mem://" },
	"s3":   func(t *testing.T) string { return testtools.S3(t) },
}

func onEachKind(t *testing.T, params attachments.Params, test func(t *testing.T, s *attachments.Store)) {
	t.Helper()
	for name, address := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, address(t), params))
		})
	}
}

func open(t *testing.T, address string, params attachments.Params) *attachments.Store {
	t.Helper()
	all, err := disks.Open(t.Context(), disks.Params{URLs: map[string]string{"files": address}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	params.Disk, err = all.Unguarded("files")
	require.NoError(t, err)
	store, err := attachments.New(params)
	require.NoError(t, err)
	return store
}

func set(t *testing.T, f attachments.Folder, name, content string) chat.File {
	t.Helper()
	file, err := f.Set(t.Context(), name, strings.NewReader(content))
	require.NoError(t, err)
	return file
}

func stored(t *testing.T, f attachments.Folder) []string {
	t.Helper()
	files, err := f.List(t.Context())
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		names = append(names, file.Name)
	}
	return names
}

func TestSetListOpenClear(t *testing.T) {
	t.Parallel()
	onEachKind(t, attachments.Params{}, func(t *testing.T, s *attachments.Store) {
		in := s.Inbound("01J9A")
		require.Empty(t, stored(t, in))
		require.NoError(t, in.Clear(t.Context()), "nothing to clear")

		file := set(t, in, "../../outbound/b.txt", "hello")
		require.Equal(t, chat.File{
			Name: "b.txt", Path: "inbound/01J9A/b.txt", Size: 5,
			SHA256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
		}, file)
		empty := set(t, in, "a.csv", "") // B11
		require.Zero(t, empty.Size)
		set(t, s.Outbound("01J9A"), "c.txt", "C")

		files, err := in.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []chat.File{
			{Name: "a.csv", Path: "inbound/01J9A/a.csv"}, {Name: "b.txt", Path: "inbound/01J9A/b.txt", Size: 5},
		}, files)

		content, opened, err := in.Open(t.Context(), "b.txt")
		require.NoError(t, err)
		all, err := io.ReadAll(content)
		require.NoError(t, err)
		require.NoError(t, content.Close())
		require.Equal(t, "hello", string(all))
		require.Equal(t, int64(5), opened.Size)

		_, _, err = in.Open(t.Context(), "none.txt")
		require.ErrorIs(t, err, fs.ErrNotExist)
		for _, name := range []string{"", ".", "..", "../01J9B/x", "x/y", "../../outbound/01J9A/c.txt"} {
			_, _, err = in.Open(t.Context(), name)
			require.ErrorIs(t, err, disks.ErrPath, name)
		}

		content, err = s.OpenPath(t.Context(), file.Path)
		require.NoError(t, err)
		all, err = io.ReadAll(content)
		require.NoError(t, err)
		require.NoError(t, content.Close())
		require.Equal(t, "hello", string(all))
		for _, name := range []string{"", "inbound/01J9A", "other/01J9A/b.txt", "inbound/01J9A/x/b.txt", "../inbound/01J9A/b.txt", "INBOUND/01J9A/b.txt"} {
			_, err = s.OpenPath(t.Context(), name)
			require.ErrorIs(t, err, disks.ErrPath, name)
		}

		require.NoError(t, in.Clear(t.Context()))
		require.Empty(t, stored(t, in))
		require.Equal(t, []string{"c.txt"}, stored(t, s.Outbound("01J9A")))
	})
}

func TestB06OneNameSeveralTimes(t *testing.T) {
	t.Parallel()
	onEachKind(t, attachments.Params{}, func(t *testing.T, s *attachments.Store) {
		in := s.Inbound("u")
		var names []string
		for i, name := range []string{"image.jpg", "image.jpg", "image.jpg", "IMAGE.jpg", "e\u0301.txt", "É.txt", "photo", "photo"} {
			names = append(names, set(t, in, name, fmt.Sprint(i)).Name)
		}
		require.Equal(t, []string{"image.jpg", "image-1.jpg", "image-2.jpg", "IMAGE-3.jpg", "é.txt", "É-1.txt", "photo", "photo-1"}, names)
		for i, name := range names {
			content, _, err := in.Open(t.Context(), name)
			require.NoError(t, err)
			all, err := io.ReadAll(content)
			require.NoError(t, err)
			require.NoError(t, content.Close())
			require.Equal(t, fmt.Sprint(i), string(all))
		}
		slices.Sort(names)
		require.Equal(t, names, stored(t, in))
		long := strings.Repeat("x", 300) + ".png"
		require.Len(t, set(t, in, long, "").Name, 200)
		second := set(t, in, long, "").Name
		require.Len(t, second, 200)
		require.True(t, strings.HasSuffix(second, "-1.png"))
	})
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	onEachKind(t, attachments.Params{}, func(t *testing.T, s *attachments.Store) {
		const writers = 10
		out := s.Outbound("u")
		files := make([]chat.File, writers)
		errs := make([]error, writers)
		var group sync.WaitGroup
		for i := range writers {
			group.Go(func() {
				name := []string{"chart.png", "CHART.png"}[i%2]
				files[i], errs[i] = out.Set(t.Context(), name, strings.NewReader(strings.Repeat("x", i)))
			})
		}
		group.Wait()
		require.NoError(t, errors.Join(errs...))
		folded := map[string]bool{}
		for i, file := range files {
			require.Equal(t, int64(i), file.Size)
			folded[disks.FoldName(file.Name)] = true
		}
		require.Len(t, folded, writers)
		require.Len(t, stored(t, out), writers)
	})
}

func TestNothingHalfDone(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection lost")
	onEachKind(t, attachments.Params{MaxBytes: 1 << 20}, func(t *testing.T, s *attachments.Store) {
		in := s.Inbound("u")
		_, err := in.Set(t.Context(), "a.txt", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken)

		_, err = in.Set(t.Context(), "a.txt", strings.NewReader(strings.Repeat("x", 1<<20+1)))
		var tooLarge *attachments.TooLargeError
		require.ErrorAs(t, err, &tooLarge)
		require.Equal(t, "larger than 1 MB", tooLarge.Error())
		require.Empty(t, stored(t, in))

		// The name is free again, and a file of exactly the limit fits.
		require.Equal(t, "a.txt", set(t, in, "a.txt", strings.Repeat("x", 1<<20)).Name)
	})
}

func TestNotListedWhileWriting(t *testing.T) {
	t.Parallel()
	onEachKind(t, attachments.Params{}, func(t *testing.T, s *attachments.Store) {
		in := s.Inbound("u")
		from, to := io.Pipe()
		done := make(chan error, 1)
		go func() {
			_, err := in.Set(t.Context(), "slow.txt", from)
			done <- err
		}()
		_, err := io.WriteString(to, "first half")
		require.NoError(t, err)
		require.Empty(t, stored(t, in))
		_, _, err = in.Open(t.Context(), "slow.txt")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.Equal(t, "slow-1.txt", set(t, in, "slow.txt", "quick").Name)
		require.NoError(t, to.Close())
		require.NoError(t, <-done)
		require.Equal(t, []string{"slow-1.txt", "slow.txt"}, stored(t, in))
	})
}

func TestUUIDsAreChecked(t *testing.T) {
	t.Parallel()
	s := open(t, "mem://", attachments.Params{})
	for _, uuid := range []string{"", ".", "..", "/", "a/b", "../outbound", `a\b`, "a\n", " a", "a.", "%2e%2e", "a%2fb", "/a", "a/"} {
		for _, folder := range []attachments.Folder{s.Inbound(uuid), s.Outbound(uuid)} {
			_, err := folder.Set(t.Context(), "x", strings.NewReader(""))
			require.ErrorIs(t, err, disks.ErrPath, "%q", uuid)
			_, err = folder.List(t.Context())
			require.ErrorIs(t, err, disks.ErrPath, "%q", uuid)
			_, _, err = folder.Open(t.Context(), "x")
			require.ErrorIs(t, err, disks.ErrPath, "%q", uuid)
			require.ErrorIs(t, folder.Clear(t.Context()), disks.ErrPath, "%q", uuid)
		}
	}
	require.Equal(t, "inbound/order:42/x", set(t, s.Inbound("order:42"), "x", "").Path)
}

func TestPrune(t *testing.T) {
	t.Parallel()
	onEachKind(t, attachments.Params{Inbound: "in", Outbound: "out"}, func(t *testing.T, s *attachments.Store) {
		removed, err := s.Prune(t.Context(), time.Hour, time.Now())
		require.NoError(t, err)
		require.Zero(t, removed)
		set(t, s.Inbound("a"), "1.txt", "1")
		set(t, s.Inbound("a"), "2.txt", "2")
		set(t, s.Outbound("b"), "3.txt", "3")
		removed, err = s.Prune(t.Context(), time.Hour, time.Now().Add(59*time.Minute))
		require.NoError(t, err)
		require.Zero(t, removed)
		removed, err = s.Prune(t.Context(), time.Hour, time.Now().Add(61*time.Minute))
		require.NoError(t, err)
		require.Equal(t, 2, removed)
		require.Empty(t, stored(t, s.Inbound("a")))
		require.Empty(t, stored(t, s.Outbound("b")))
	})
}

// TestPruneGoesByTheNewestFile: a folder stays as long as anything in it is
// young, a file that is still being written included; links are left alone.
func TestPruneGoesByTheNewestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, "file://"+dir, attachments.Params{})
	now := time.Now()
	age := func(name string, days int) {
		when := now.AddDate(0, 0, -days)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), when, when))
	}
	for _, uuid := range []string{"old", "mixed", "writing"} {
		set(t, s.Inbound(uuid), "a.txt", "a")
		set(t, s.Inbound(uuid), "b.txt", "b")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "inbound/writing/.countersign-X"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "keep"), 0o700))
	require.NoError(t, os.Symlink("../keep", filepath.Join(dir, "inbound/link")))
	for _, uuid := range []string{"old", "mixed", "writing"} {
		age("inbound/"+uuid+"/a.txt", 40)
		if uuid != "mixed" {
			age("inbound/"+uuid+"/b.txt", 35)
		}
		age("inbound/"+uuid, 31)
	}
	age("keep", 50)
	removed, err := s.Prune(t.Context(), 30*24*time.Hour, now)
	require.NoError(t, err)
	require.Equal(t, 1, removed)
	require.NoDirExists(t, filepath.Join(dir, "inbound/old"))
	require.DirExists(t, filepath.Join(dir, "inbound/mixed"))
	require.DirExists(t, filepath.Join(dir, "inbound/writing"))
	require.DirExists(t, filepath.Join(dir, "keep"))
}

func TestNewChecksItsFolders(t *testing.T) {
	t.Parallel()
	all, err := disks.Open(t.Context(), disks.Params{URLs: map[string]string{"files": "mem://"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	disk, err := all.Unguarded("files")
	require.NoError(t, err)
	for _, params := range []attachments.Params{
		{}, {Disk: disk, Inbound: "a/b"}, {Disk: disk, Outbound: ".."}, {Disk: disk, Inbound: "/"}, {Disk: disk, Inbound: "mail", Outbound: "Mail"},
	} {
		_, err := attachments.New(params)
		require.Error(t, err)
	}
	store, err := attachments.New(attachments.Params{Disk: disk})
	require.NoError(t, err)
	require.Equal(t, []string{"inbound", "outbound"}, store.Protected())
	require.Equal(t, "files", store.DiskName())
}

// A file is taken back alone; the folder goes with its last one.
func TestRemove(t *testing.T) {
	t.Parallel()
	onEachKind(t, attachments.Params{}, func(t *testing.T, s *attachments.Store) {
		t.Helper()
		folder := s.Inbound("01980000-0000-7000-8000-00000000000a")
		other := s.Inbound("01980000-0000-7000-8000-00000000000b")
		set(t, other, "a.csv", "theirs")
		first := set(t, folder, "a.csv", "one")
		second := set(t, folder, "a.csv", "two")
		require.NoError(t, folder.Remove(t.Context(), second.Name))
		require.Equal(t, []string{"a.csv"}, stored(t, folder))
		require.NoError(t, folder.Remove(t.Context(), second.Name), "gone already")
		require.Error(t, folder.Remove(t.Context(), "../"+other.UUID()+"/a.csv"))
		require.NoError(t, folder.Remove(t.Context(), first.Name))
		require.Empty(t, stored(t, folder))
		require.Equal(t, []string{"a.csv"}, stored(t, other))
	})
}
