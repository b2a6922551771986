package emailtest

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Maildir is a mailbox on the disk, as a delivering server fills it and Dovecot
// reads it.
type Maildir struct {
	Path  string
	owner *user.User
	count atomic.Int64
}

func newMaildir(t testing.TB, path string, owner *user.User) *Maildir {
	t.Helper()
	m := &Maildir{Path: path, owner: owner}
	for _, dir := range []string{"", "tmp", "new", "cur"} {
		dir = filepath.Join(path, dir)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		m.own(t, dir)
	}
	return m
}

func (m *Maildir) own(t testing.TB, path string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	uid, err := strconv.Atoi(m.owner.Uid)
	require.NoError(t, err)
	gid, err := strconv.Atoi(m.owner.Gid)
	require.NoError(t, err)
	require.NoError(t, os.Chown(path, uid, gid))
}

// Deliver puts a mail into the mailbox, now or as if it had come at that time.
func (m *Maildir) Deliver(t testing.TB, raw string, at ...time.Time) {
	t.Helper()
	name := fmt.Sprintf("%d.M%dP%d.test", time.Now().Unix(), m.count.Add(1), os.Getpid())
	path := filepath.Join(m.Path, "tmp", name)
	require.NoError(t, os.WriteFile(path, []byte(CRLF(raw)), 0o600))
	m.own(t, path)
	for _, when := range at {
		require.NoError(t, os.Chtimes(path, when, when)) // Dovecot's INTERNALDATE
	}
	require.NoError(t, os.Rename(path, filepath.Join(m.Path, "new", name)))
}

// Mails are those that were delivered, as they lie on the disk.
func (m *Maildir) Mails(t testing.TB) []string {
	t.Helper()
	var mails []string
	for _, dir := range []string{"cur", "new"} {
		entries, err := os.ReadDir(filepath.Join(m.Path, dir))
		require.NoError(t, err)
		for _, e := range entries {
			raw, err := os.ReadFile(filepath.Join(m.Path, dir, e.Name()))
			require.NoError(t, err)
			mails = append(mails, string(raw))
		}
	}
	return mails
}
