package app

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/disks"
)

// A connector finds what an earlier delivery of the same message has stored.
func TestSavedFile(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"folder": "file://" + t.TempDir(), "objects": "mem://"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := disks.Open(t.Context(), disks.Params{URLs: map[string]string{"files": address}})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, all.Close()) })
			disk, err := all.Unguarded("files")
			require.NoError(t, err)
			store, err := attachments.New(attachments.Params{Disk: disk})
			require.NoError(t, err)
			f := files{store}

			_, err = f.Saved(t.Context(), "u1", "a.csv")
			require.ErrorIs(t, err, fs.ErrNotExist, "not even the folder is there")
			stored, err := f.Save(t.Context(), "u1", "../re\u202eport.csv", strings.NewReader("a;b"))
			require.NoError(t, err)
			again, err := f.Saved(t.Context(), "u1", "../re\u202eport.csv")
			require.NoError(t, err)
			require.Equal(t, stored, again)
			_, err = f.Saved(t.Context(), "u1", "other.csv")
			require.ErrorIs(t, err, fs.ErrNotExist)
			_, err = f.Saved(t.Context(), "u2", "report.csv")
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}
