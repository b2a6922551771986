package disks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Info is what a disk knows of a file or folder.
type Info struct {
	// Path is clean, from the disk's root.
	Path string
	// Folder is set for folders; Size is then zero.
	Folder bool
	// Size in bytes.
	Size int64
	// Modified is when the content last changed; zero for folders of an object store.
	Modified time.Time
	// Link is set if the path that was asked for is a link; the rest is about what it leads to.
	Link bool
}

// Name is the last element of the path.
func (i Info) Name() string { return path.Base(i.Path) }

// backend is one kind of storage. It gets clean paths only, none of them in a
// protected folder as it is written; links into one are the backend's to
// refuse. Files and folders appear complete or not at all, and what is made
// never replaces anything unless that is said.
type backend interface {
	// resolve follows every link on the way, of names that exist.
	resolve(ctx context.Context, name string) (string, error)
	stat(ctx context.Context, name string) (Info, error)
	list(ctx context.Context, name string) ([]Info, error)
	open(ctx context.Context, name string) (io.ReadCloser, Info, error)
	// put stores a file, with its parent folders; fresh refuses a taken name with fs.ErrExist.
	put(ctx context.Context, name string, content io.Reader, fresh bool) error
	// add puts content at the end of a file, which is made if it is missing.
	add(ctx context.Context, name string, content io.Reader) error
	mkdir(ctx context.Context, name string) error
	// inspect says beforehand what copy and move would refuse of what is in a folder.
	inspect(ctx context.Context, folder string) error
	// copy and move take a file or a whole folder to a name that is free.
	copy(ctx context.Context, from, to string) error
	move(ctx context.Context, from, to string) error
	// remove takes a file or an empty folder away, removeAll a folder with all that is in it.
	remove(ctx context.Context, name string) error
	removeAll(ctx context.Context, name string) error
	// newest is the latest change of anything in a folder, half-written files included.
	newest(ctx context.Context, name string) (time.Time, error)
}

// Disk is one named disk, seen with or without its protection. Every path that
// it is given goes through Clean. Safe for concurrent use.
type Disk struct {
	name    string
	guard   guard
	backend backend
}

// Name is the disk's name in the configuration.
func (d *Disk) Name() string { return d.name }

// Check returns the clean form of a path that may be used on this disk, whether
// or not there is anything. It follows links, but not into protected folders.
func (d *Disk) Check(ctx context.Context, name string) (string, error) {
	clean, err := d.clean(name)
	if err != nil {
		return "", err
	}
	resolved, err := d.backend.resolve(ctx, clean)
	return resolved, d.explain(name, err)
}

func (d *Disk) clean(name string) (string, error) {
	clean, err := Clean(name)
	if err != nil {
		return "", err
	}
	if d.guard.covers(clean) {
		return "", protected(name)
	}
	return clean, nil
}

// explain tells of a failure of the disk which disk and path it was; a refusal says that itself.
func (d *Disk) explain(name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Refusal](err); ok {
		return err
	}
	return fmt.Errorf("disk %s, %s: %w", d.name, Quoted(name), err)
}

// Stat tells what there is at a path; fs.ErrNotExist is the cause if nothing is.
func (d *Disk) Stat(ctx context.Context, name string) (Info, error) {
	clean, err := d.clean(name)
	if err != nil {
		return Info{}, err
	}
	info, err := d.backend.stat(ctx, clean)
	return info, d.explain(name, err)
}

// Exists tells whether there is a file or folder.
func (d *Disk) Exists(ctx context.Context, name string) (bool, error) {
	_, err := d.Stat(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}

// List returns what is in a folder, by name, without protected folders and
// without links that may not be followed.
func (d *Disk) List(ctx context.Context, name string) ([]Info, error) {
	clean, err := d.clean(name)
	if err != nil {
		return nil, err
	}
	all, err := d.backend.list(ctx, clean)
	if err != nil {
		return nil, d.explain(name, err)
	}
	shown := all[:0]
	for _, info := range all {
		if !d.guard.covers(info.Path) {
			shown = append(shown, info)
		}
	}
	return shown, nil
}

// Reader opens a file; the caller closes it.
func (d *Disk) Reader(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	clean, err := d.clean(name)
	if err != nil {
		return nil, Info{}, err
	}
	content, info, err := d.backend.open(ctx, clean)
	return content, info, d.explain(name, err)
}

// Digest is the SHA-256 of a file's content, in hexadecimal.
func (d *Disk) Digest(ctx context.Context, name string) (string, error) {
	content, _, err := d.Reader(ctx, name)
	if err != nil {
		return "", err
	}
	defer content.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return "", fmt.Errorf("disk %s: read %s: %w", d.name, Quoted(name), err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Fingerprint is Digest for a file. For a folder it is a hash over the names,
// sizes and times of all that is in it: enough to see that something changed
// without reading it all.
func (d *Disk) Fingerprint(ctx context.Context, name string) (string, error) {
	info, err := d.Stat(ctx, name)
	if err != nil {
		return "", err
	}
	if !info.Folder {
		return d.Digest(ctx, name)
	}
	sum := sha256.New()
	if err := d.fingerprint(ctx, info.Path, sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (d *Disk) fingerprint(ctx context.Context, folder string, to io.Writer) error {
	entries, err := d.List(ctx, folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Folder {
			fmt.Fprintf(to, "%q/\n", entry.Path)
			if err := d.fingerprint(ctx, entry.Path, to); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(to, "%q %d %d\n", entry.Path, entry.Size, entry.Modified.UnixNano())
	}
	return nil
}

// under tells whether a clean path is a folder itself or in it.
func under(clean, folder string) bool {
	return folder == root || clean == folder || strings.HasPrefix(clean, folder+"/")
}
