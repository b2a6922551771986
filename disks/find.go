package disks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// maxLinks is how many links are followed on the way to one path.
const maxLinks = 40

// errChanged means that somebody swapped a name between two looks at it.
var errChanged = errors.New("changed while it was being opened, try again")

// spot is where a path leads once every link on the way was followed.
type spot struct {
	// path is clean and without links.
	path string
	// dir is the deepest folder on the way that exists, not counting the last
	// name; held open, so that nobody can put a link in its place.
	dir *os.Root
	// rest are the names below dir: one if the parent exists, none for the root.
	rest []string
	// info of the last name; nil if there is nothing.
	info fs.FileInfo
	// link tells that the path asked for is itself a link.
	link bool
}

func (s *spot) close() { _ = s.dir.Close() }

// base is the last name, as seen from dir once the parents exist.
func (s *spot) base() string {
	if len(s.rest) == 0 {
		return root
	}
	return s.rest[len(s.rest)-1]
}

// find walks to a path name by name. os.Root would stay inside the root too,
// but it follows a link from one folder of the disk into a protected one.
func (f *fileDisk) find(name string) (*spot, error) {
	banned := f.banned()
	link := false
	for range maxLinks {
		if f.guard.covers(name) {
			return nil, protected(name)
		}
		found, next, last, err := f.walk(name, banned)
		if err != nil {
			return nil, err
		}
		link = link || last
		if found != nil {
			found.link = link
			return found, nil
		}
		name = next
	}
	return nil, &Refusal{Path: name, Reason: "leads through too many links", Cause: ErrLink}
}

// walk goes to the end of a path, or to the first link: then next is the path
// with the link's target in its place, and last tells that it was the last name.
func (f *fileDisk) walk(name string, banned identities) (found *spot, next string, last bool, err error) {
	dir, err := f.root.OpenRoot(root)
	if err != nil {
		return nil, "", false, err
	}
	defer func() {
		if found == nil {
			_ = dir.Close()
		}
	}()
	names := split(name)
	for i, base := range names {
		last = i == len(names)-1
		info, err := dir.Lstat(base)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &spot{path: name, dir: dir, rest: names[i:]}, "", false, nil
		case err != nil:
			return nil, "", false, err
		case info.Mode()&fs.ModeSymlink != 0:
			next, err := target(dir, names, i)
			return nil, next, last, err
		case banned.hold(info):
			return nil, "", false, protected(name)
		case last:
			return &spot{path: name, dir: dir, rest: names[i:], info: info}, "", false, nil
		case !info.IsDir():
			return nil, "", false, isFile(path.Join(names[:i+1]...))
		}
		sub, err := enter(dir, base, info)
		if err != nil {
			return nil, "", false, err
		}
		_ = dir.Close()
		dir = sub
	}
	info, err := dir.Stat(root)
	if err != nil {
		return nil, "", false, err
	}
	return &spot{path: root, dir: dir, info: info}, "", false, nil
}

// target is the path with the i-th name, a link, replaced by where it points.
func target(dir *os.Root, names []string, i int) (string, error) {
	asked := path.Join(names...)
	to, err := dir.Readlink(names[i])
	if err != nil {
		return "", err
	}
	outside := &Refusal{Path: asked, Reason: "is or goes through a link that leads out of the disk", Cause: ErrLink}
	if path.IsAbs(to) {
		return "", outside
	}
	next := path.Join(append([]string{path.Join(names[:i]...), to}, names[i+1:]...)...)
	if next == ".." || strings.HasPrefix(next, "../") {
		return "", outside
	}
	return next, nil
}

// enter opens a folder that was just looked at, and makes sure that it is that one.
func enter(dir *os.Root, base string, seen fs.FileInfo) (*os.Root, error) {
	sub, err := dir.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	if info, err := sub.Stat(root); err != nil || !os.SameFile(info, seen) {
		_ = sub.Close()
		return nil, fmt.Errorf("%s: %w", Quoted(base), errChanged)
	}
	return sub, nil
}

func split(clean string) []string {
	if clean == root {
		return nil
	}
	return strings.Split(clean, "/")
}

// identities are folders known by what they are, not by their name: so a bind
// mount, a second disk over the same folder, or a file system that ignores case
// lead nowhere.
type identities []fs.FileInfo

func (ids identities) hold(info fs.FileInfo) bool {
	for _, id := range ids {
		if os.SameFile(id, info) {
			return true
		}
	}
	return false
}

// banned looks up the protected folders as they are now.
func (f *fileDisk) banned() identities {
	var ids identities
	for _, folder := range f.protected {
		if info, err := folder.root.Lstat(folder.name); err == nil && info.IsDir() {
			ids = append(ids, info)
		}
	}
	return ids
}

// folder is a protected folder of some file disk.
type folder struct {
	root *os.Root
	name string
}
