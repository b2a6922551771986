package disks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// locate finds a path whose parent folders are made if they are missing.
func (f *fileDisk) locate(name string) (*spot, error) {
	s, err := f.find(name)
	if err != nil || len(s.rest) <= 1 {
		return s, err
	}
	err = s.dir.MkdirAll(path.Join(s.rest[:len(s.rest)-1]...), folderMode)
	s.close()
	if err != nil {
		return nil, err
	}
	if s, err = f.find(name); err == nil && len(s.rest) > 1 {
		s.close()
		return nil, fmt.Errorf("%s: %w", Quoted(name), errChanged)
	}
	return s, err
}

func (f *fileDisk) put(ctx context.Context, name string, content io.Reader, fresh bool) error {
	s, err := f.locate(name)
	if err != nil {
		return err
	}
	defer s.close()
	mode := fs.FileMode(fileMode)
	if s.info != nil {
		switch {
		case fresh:
			return taken(name)
		case s.info.IsDir():
			return isFolder(name)
		case !s.info.Mode().IsRegular():
			return notOrdinary(name)
		}
		mode = s.info.Mode().Perm()
	}
	partial, err := writePartial(ctx, s.dir, content, mode)
	if err != nil {
		return err
	}
	if fresh {
		err = f.claim(s.dir, partial, s.base())
	} else {
		err = s.dir.Rename(partial, s.base())
	}
	if err != nil {
		_ = s.dir.Remove(partial)
	}
	return err
}

// writePartial writes a file under a hidden name and returns that name.
func writePartial(ctx context.Context, dir *os.Root, content io.Reader, mode fs.FileMode) (string, error) {
	name := hidden + rand.Text()
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(file, reader{ctx, content})
	// The rename must not reach the disk before the content does.
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		_ = dir.Remove(name)
		return "", err
	}
	return name, nil
}

// reader stops reading when its context ends.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// claim gives a file its name unless that is taken. A hard link does it in one
// step; where there are none, a look and a rename under the disk's own lock.
func (f *fileDisk) claim(dir *os.Root, from, to string) error {
	err := dir.Link(from, to)
	switch {
	case err == nil:
		if err := dir.Remove(from); err != nil {
			_ = dir.Remove(to)
			return err
		}
		return nil
	case errors.Is(err, fs.ErrExist):
		return taken(to)
	case errors.Is(err, fs.ErrNotExist):
		return err
	}
	return f.rename(dir, from, to)
}

// rename is a rename that refuses a taken name.
func (f *fileDisk) rename(dir *os.Root, from, to string) error {
	f.names.Lock()
	defer f.names.Unlock()
	_, err := dir.Lstat(to)
	switch {
	case err == nil:
		return taken(to)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return dir.Rename(from, to)
}

func (f *fileDisk) add(ctx context.Context, name string, content io.Reader) error {
	f.names.Lock()
	defer f.names.Unlock()
	before, _, err := f.open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return f.put(ctx, name, content, false)
	}
	if err != nil {
		return err
	}
	defer before.Close()
	return f.put(ctx, name, io.MultiReader(before, content), false)
}

func (f *fileDisk) mkdir(_ context.Context, name string) error {
	s, err := f.locate(name)
	if err != nil {
		return err
	}
	defer s.close()
	if s.info != nil {
		return taken(name)
	}
	err = s.dir.Mkdir(s.base(), folderMode)
	if errors.Is(err, fs.ErrExist) {
		return taken(name)
	}
	return err
}

func (f *fileDisk) remove(_ context.Context, name string) error {
	s, err := f.removable(name)
	if err != nil {
		return err
	}
	defer s.close()
	if s.info.IsDir() {
		if err := sweep(s); err != nil {
			return err
		}
	}
	err = s.dir.Remove(s.base())
	switch {
	case errors.Is(err, syscall.ENOTEMPTY):
		return notEmpty(name)
	case errors.Is(err, fs.ErrNotExist):
		return missing(name)
	}
	return err
}

func (f *fileDisk) removable(name string) (*spot, error) {
	s, err := f.find(name)
	switch {
	case err != nil:
		return nil, err
	case s.link:
		s.close()
		return nil, isLink(name)
	case s.info == nil:
		s.close()
		return nil, missing(name)
	}
	return s, nil
}

// sweep removes what a crash left half-written in a folder that is to go.
func sweep(s *spot) error {
	sub, err := enterFolder(s)
	if err != nil {
		return err
	}
	defer sub.Close()
	names, err := readAllNames(sub)
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := sub.Lstat(name)
		if err == nil && isHidden(name) && time.Since(info.ModTime()) > staleAfter {
			_ = sub.RemoveAll(name)
		}
	}
	return nil
}

func (f *fileDisk) removeAll(_ context.Context, name string) error {
	s, err := f.removable(name)
	if err != nil {
		return err
	}
	defer s.close()
	return s.dir.RemoveAll(s.base())
}
