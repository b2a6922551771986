package disks

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
)

// Target returns the clean form of a path where something may be made: allowed,
// and every name above it a folder or free.
func (d *Disk) Target(ctx context.Context, name string) (string, error) {
	clean, err := d.Check(ctx, name)
	if err != nil {
		return "", err
	}
	for parent := path.Dir(clean); parent != root; parent = path.Dir(parent) {
		info, err := d.backend.stat(ctx, parent)
		switch {
		case err == nil && !info.Folder:
			return "", isFile(parent)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", d.explain(name, err)
		}
	}
	return clean, nil
}

// FileTarget is Target for a file that may be there already; a folder may not.
func (d *Disk) FileTarget(ctx context.Context, name string) (string, error) {
	if _, err := d.file(name); err != nil {
		return "", err
	}
	info, err := d.Stat(ctx, name)
	switch {
	case err == nil && info.Folder:
		return "", isFolder(name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return d.Target(ctx, name)
}

// Place returns the path that something named base goes to, before any number:
// the destination itself, or in it if that is a folder or is written as one.
func (d *Disk) Place(ctx context.Context, destination, base string) (string, error) {
	to, err := d.Check(ctx, destination)
	if err != nil {
		return "", err
	}
	info, err := d.backend.stat(ctx, to)
	switch {
	case err == nil && info.Folder, errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(destination, "/"):
		to = path.Join(to, base)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", d.explain(destination, err)
	}
	return d.Target(ctx, to)
}

// Route returns the source and the final destination of a copy or move, before
// any number, after all that can be said without doing it: both are allowed,
// the source exists and is no link, and it does not go inside itself.
func (d *Disk) Route(ctx context.Context, source, destination string) (from Info, to string, err error) {
	if from, err = d.Stat(ctx, source); err != nil {
		return Info{}, "", err
	}
	switch {
	case from.Path == root:
		return Info{}, "", wholeDisk(source)
	case from.Link:
		return Info{}, "", isLink(source)
	}
	if to, err = d.Check(ctx, destination); err != nil || to == from.Path {
		return from, to, err
	}
	if to, err = d.Place(ctx, destination, from.Name()); err != nil {
		return Info{}, "", err
	}
	if to != from.Path && from.Folder && under(to, from.Path) {
		return Info{}, "", &Refusal{Path: source, Reason: "is a folder that would go inside itself", Cause: ErrPath}
	}
	if to != from.Path && from.Folder {
		err = d.explain(source, d.backend.inspect(ctx, from.Path))
	}
	return from, to, err
}

// FreeName returns the path itself if nothing is there, otherwise with the
// first free number: "name-1.ext".
func (d *Disk) FreeName(ctx context.Context, name string) (string, error) {
	clean, err := d.Check(ctx, name)
	if err != nil {
		return "", err
	}
	return d.free(ctx, name, Info{Path: clean})
}

func (d *Disk) free(ctx context.Context, asked string, wanted Info) (string, error) {
	for n := range maxNumber {
		name := wanted.Path
		switch {
		case n > 0 && wanted.Folder:
			name = numberedFolder(name, n, maxName)
		case n > 0:
			name = Numbered(name, n, maxName)
		}
		if d.guard.covers(name) {
			continue
		}
		_, err := d.backend.stat(ctx, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil && !errors.Is(err, ErrLink) && !errors.Is(err, ErrProtected):
			return "", d.explain(asked, err)
		}
	}
	return "", taken(asked)
}
