package disks_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/internal/testtools"
)

func TestOpenReportsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := disks.Open(t.Context(), disks.Params{
		URLs: map[string]string{
			"ftp": "ftp://user:secret@host/x", "host": "file://etc/passwd", "odd": "file:///tmp?nope=1", "bad": "s3://%zz?key=secret",
		},
		Allowed:   []string{"local"},
		Protected: map[string][]string{"ftp": {"a/b", "..", ""}, "gone": {"inbound"}},
	})
	require.Error(t, err)
	for _, part := range []string{"disk ftp", "disk host", "disk odd", "disk bad", `"local"`, `"a/b"`, `".."`, `""`, `"gone"`} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "secret")
}

func TestDisksByName(t *testing.T) {
	t.Parallel()
	all, err := disks.Open(t.Context(), disks.Params{
		URLs:    map[string]string{"local": "mem://", "private": "mem://"},
		Allowed: []string{"local"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	require.Equal(t, []string{"local"}, all.Allowed())
	for _, name := range []string{"private", "none", "", "LOCAL"} {
		_, err = all.Guarded(name)
		require.ErrorIs(t, err, disks.ErrDisk, name)
		require.ErrorContains(t, err, "(local)")
	}
	_, err = all.Unguarded("private")
	require.NoError(t, err)
	_, err = all.Unguarded("none")
	require.ErrorIs(t, err, disks.ErrDisk)
}

func TestOverlappingDisks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bucket, err := url.Parse(testtools.S3(t))
	require.NoError(t, err)
	within := func(prefix string) string {
		u := *bucket
		query := u.Query()
		query.Set("prefix", prefix)
		u.RawQuery = query.Encode()
		return u.String()
	}
	for name, c := range map[string]struct {
		store, other string
		ok           bool
	}{
		"in a protected folder":      {"file://" + dir, "file://" + dir + "/inbound/u", false},
		"beside it":                  {"file://" + dir, "file://" + dir + "/docs", true},
		"same bucket":                {bucket.String(), bucket.String(), false},
		"bucket around a prefix":     {within("a/"), bucket.String(), false},
		"two prefixes of one bucket": {within("a/"), within("b/"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := disks.Open(t.Context(), disks.Params{
				URLs:      map[string]string{"store": c.store, "other": c.other},
				Allowed:   []string{"other"},
				Protected: map[string][]string{"store": {"inbound"}},
			})
			if !c.ok {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.NoError(t, all.Close())
		})
	}
}

func TestNumbersSkipProtectedNames(t *testing.T) {
	t.Parallel()
	all, err := disks.Open(t.Context(), disks.Params{
		URLs:      map[string]string{"local": "mem://"},
		Allowed:   []string{"local"},
		Protected: map[string][]string{"local": {"mail-1"}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	d, err := all.Guarded("local")
	require.NoError(t, err)
	for _, want := range []string{"mail", "mail-2"} {
		got, err := d.Mkdir(t.Context(), "mail")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
