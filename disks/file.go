package disks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	fileMode   = 0o640
	folderMode = 0o750
	// maxLooks is how often a file is looked for that is being replaced all the time.
	maxLooks = 100
	// staleAfter is when a half-written file must be the rest of a crash.
	staleAfter = time.Hour
)

// fileDisk is a folder of this machine. It works on os.Root, not on gocloud's
// fileblob, which knows neither empty folders nor links.
type fileDisk struct {
	root *os.Root
	// names is held while a name that must be free is taken, where the file system has no way to do both at once.
	names     *sync.Mutex
	guard     guard
	protected []folder
}

// folderURL returns the folder of a file URL, in the forms that gocloud's
// fileblob takes: file:///absolute, file://localhost/absolute, file://./relative.
func folderURL(u *url.URL) (string, error) {
	for name := range u.Query() {
		// What these ask for is how this package works anyway.
		if !slices.Contains([]string{"create_dir", "metadata", "no_tmp_dir"}, name) {
			return "", fmt.Errorf("file URL: unknown parameter %q", name)
		}
	}
	dir := u.Path
	switch u.Host {
	case "", "localhost":
	case ".":
		dir = strings.TrimPrefix(dir, "/")
	default:
		return "", errors.New("file URL: write file:///folder, with three slashes")
	}
	if u.Opaque != "" || dir == "" {
		return "", errors.New("file URL: no folder in it; write file:///folder")
	}
	return filepath.Abs(filepath.FromSlash(dir))
}

func (f *fileDisk) resolve(_ context.Context, name string) (string, error) {
	s, err := f.find(name)
	if err != nil {
		return "", err
	}
	defer s.close()
	return s.path, nil
}

func (f *fileDisk) stat(_ context.Context, name string) (Info, error) {
	s, err := f.find(name)
	if err != nil {
		return Info{}, err
	}
	defer s.close()
	if s.info == nil {
		return Info{}, missing(name)
	}
	info := infoOf(s.path, s.info)
	info.Link = s.link
	return info, nil
}

func infoOf(name string, info fs.FileInfo) Info {
	known := Info{Path: name, Folder: info.IsDir(), Modified: info.ModTime()}
	if !known.Folder {
		known.Size = info.Size()
	}
	return known
}

func (f *fileDisk) list(_ context.Context, name string) ([]Info, error) {
	s, err := f.find(name)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if s.info == nil {
		return nil, missing(name)
	}
	sub, err := enterFolder(s)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	names, err := readNames(sub)
	if err != nil {
		return nil, err
	}
	var infos []Info
	for _, base := range names {
		full := path.Join(s.path, base)
		there, err := f.find(full)
		if err != nil {
			// A link that may not be followed, a protected folder, or gone meanwhile: not shown.
			continue
		}
		if there.info != nil {
			info := infoOf(full, there.info)
			info.Link = there.link
			infos = append(infos, info)
		}
		there.close()
	}
	return infos, nil
}

// enterFolder opens the folder that a spot is.
func enterFolder(s *spot) (*os.Root, error) {
	if !s.info.IsDir() {
		return nil, isFile(s.path)
	}
	return enter(s.dir, s.base(), s.info)
}

// readNames returns the sorted names in a folder, less the half-written ones.
func readNames(dir *os.Root) ([]string, error) {
	names, err := readAllNames(dir)
	return slices.DeleteFunc(names, isHidden), err
}

func readAllNames(dir *os.Root) ([]string, error) {
	open, err := dir.Open(root)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	names, err := open.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func isHidden(base string) bool { return strings.HasPrefix(base, hidden) }

func (f *fileDisk) open(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	for attempt := 1; ; attempt++ {
		content, info, err := f.tryOpen(name)
		if !errors.Is(err, errChanged) || attempt == maxLooks || ctx.Err() != nil {
			return content, info, err
		}
	}
}

func (f *fileDisk) tryOpen(name string) (io.ReadCloser, Info, error) {
	s, err := f.find(name)
	if err != nil {
		return nil, Info{}, err
	}
	defer s.close()
	switch {
	case s.info == nil:
		return nil, Info{}, missing(name)
	case s.info.IsDir():
		return nil, Info{}, isFolder(name)
	}
	content, err := openFile(s.dir, s.base(), s.info)
	if err != nil {
		return nil, Info{}, err
	}
	return content, infoOf(s.path, s.info), nil
}

// openFile opens an ordinary file that was just looked at, and makes sure that it is that one.
func openFile(dir *os.Root, base string, seen fs.FileInfo) (*os.File, error) {
	if !seen.Mode().IsRegular() {
		return nil, notOrdinary(base)
	}
	// Never wait for the other end of a pipe that somebody puts there.
	content, err := dir.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", Quoted(base), errChanged)
		}
		return nil, err
	}
	if info, err := content.Stat(); err != nil || !os.SameFile(info, seen) {
		_ = content.Close()
		return nil, fmt.Errorf("%s: %w", Quoted(base), errChanged)
	}
	return content, nil
}

func notOrdinary(name string) error {
	return &Refusal{Path: name, Reason: "is neither an ordinary file nor a folder", Cause: ErrLink}
}

func (f *fileDisk) newest(_ context.Context, name string) (time.Time, error) {
	s, err := f.find(name)
	if err != nil {
		return time.Time{}, err
	}
	defer s.close()
	if s.info == nil {
		return time.Time{}, missing(name)
	}
	sub, err := enterFolder(s)
	if err != nil {
		return time.Time{}, err
	}
	defer sub.Close()
	newest := s.info.ModTime()
	err = fs.WalkDir(sub.FS(), root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return nil
	})
	return newest, err
}
