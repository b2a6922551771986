package disks

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
)

func (f *fileDisk) copy(ctx context.Context, from, to string) error {
	source, target, err := f.ends(from, to)
	if err != nil {
		return err
	}
	defer source.close()
	defer target.close()
	if !source.info.IsDir() {
		content, err := openFile(source.dir, source.base(), source.info)
		if err != nil {
			return err
		}
		defer content.Close()
		return f.put(ctx, to, content, true)
	}
	tree, err := enterFolder(source)
	if err != nil {
		return err
	}
	defer tree.Close()
	if err := f.inspectTree(ctx, tree, source.path); err != nil {
		return err
	}
	return f.build(ctx, target, func(partial *os.Root) error { return f.copyTree(ctx, tree, partial) })
}

// ends finds the source, and the free target with its parents made.
func (f *fileDisk) ends(from, to string) (source, target *spot, err error) {
	source, err = f.find(from)
	if err != nil {
		return nil, nil, err
	}
	if source.info == nil {
		source.close()
		return nil, nil, missing(from)
	}
	target, err = f.locate(to)
	if err == nil && target.info != nil {
		target.close()
		err = taken(to)
	}
	if err != nil {
		source.close()
		return nil, nil, err
	}
	return source, target, nil
}

// build makes a folder under a hidden name and gives it its own when it is complete.
func (f *fileDisk) build(_ context.Context, target *spot, fill func(*os.Root) error) error {
	name := hidden + rand.Text()
	if err := target.dir.Mkdir(name, folderMode); err != nil {
		return err
	}
	partial, err := target.dir.OpenRoot(name)
	if err == nil {
		err = errors.Join(fill(partial), partial.Close())
	}
	if err == nil {
		err = f.rename(target.dir, name, target.base())
	}
	if err != nil {
		_ = target.dir.RemoveAll(name)
	}
	return err
}

func (f *fileDisk) inspect(ctx context.Context, folder string) error {
	s, err := f.find(folder)
	if err != nil {
		return err
	}
	defer s.close()
	if s.info == nil {
		return missing(folder)
	}
	tree, err := enterFolder(s)
	if err != nil {
		return err
	}
	defer tree.Close()
	return f.inspectTree(ctx, tree, s.path)
}

// inspectTree looks at each entry of a folder that is to be copied or moved, and
// refuses links, pipes and the like, and protected folders.
func (f *fileDisk) inspectTree(ctx context.Context, tree *os.Root, name string) error {
	banned := f.banned()
	return fs.WalkDir(tree.FS(), root, func(below string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		info, err := tree.Lstat(below)
		if err != nil {
			return err
		}
		return f.admit(info, path.Join(name, below), banned)
	})
}

func (f *fileDisk) admit(info fs.FileInfo, name string, banned identities) error {
	switch {
	case info.IsDir():
		if banned.hold(info) {
			return protected(name)
		}
	case info.Mode()&fs.ModeSymlink != 0:
		return &Refusal{Path: name, Reason: "is a link; a folder with links in it cannot be moved or copied", Cause: ErrLink}
	case !info.Mode().IsRegular():
		return notOrdinary(name)
	}
	return nil
}

// copyTree copies what inspect admitted, and looks again at each entry.
func (f *fileDisk) copyTree(ctx context.Context, from, to *os.Root) error {
	names, err := readNames(from)
	if err != nil {
		return err
	}
	banned := f.banned()
	for _, name := range names {
		info, err := from.Lstat(name)
		if err != nil {
			return err
		}
		if err := f.admit(info, name, banned); err != nil {
			return err
		}
		if err := f.copyEntry(ctx, from, to, name, info); err != nil {
			return err
		}
	}
	return nil
}

func (f *fileDisk) copyEntry(ctx context.Context, from, to *os.Root, name string, info fs.FileInfo) error {
	if info.IsDir() {
		sub, err := enter(from, name, info)
		if err != nil {
			return err
		}
		defer sub.Close()
		if err := to.Mkdir(name, folderMode); err != nil {
			return err
		}
		made, err := to.OpenRoot(name)
		if err != nil {
			return err
		}
		defer made.Close()
		return f.copyTree(ctx, sub, made)
	}
	content, err := openFile(from, name, info)
	if err != nil {
		return err
	}
	defer content.Close()
	partial, err := writePartial(ctx, to, content, info.Mode().Perm())
	if err != nil {
		return err
	}
	return to.Rename(partial, name)
}

func (f *fileDisk) move(ctx context.Context, from, to string) error {
	source, target, err := f.ends(from, to)
	if err != nil {
		return err
	}
	defer source.close()
	defer target.close()
	if source.info.IsDir() {
		tree, err := enterFolder(source)
		if err != nil {
			return err
		}
		err = f.inspectTree(ctx, tree, source.path)
		_ = tree.Close()
		if err != nil {
			return err
		}
		err = f.rename(f.root, source.path, target.path)
		if !errors.Is(err, syscall.EXDEV) {
			return err
		}
	} else {
		if !source.info.Mode().IsRegular() {
			return notOrdinary(from)
		}
		err = f.claim(f.root, source.path, target.path)
		if !errors.Is(err, syscall.EXDEV) {
			return err
		}
	}
	// The destination is on another file system, mounted somewhere below the root.
	if err := f.copy(ctx, from, to); err != nil {
		return err
	}
	return f.root.RemoveAll(source.path)
}
