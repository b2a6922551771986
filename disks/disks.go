package disks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/memblob" // mem://
	_ "gocloud.dev/blob/s3blob"  // s3://
)

// Params of Open.
type Params struct {
	// URLs of the disks by name: file:///folder, s3://bucket?region=…, mem://.
	URLs map[string]string
	// Allowed are the disks that agents see (LARACLAW_ALLOWED_DISKS), in this order.
	Allowed []string
	// Protected are the folders at a disk's root that no agent reaches, by disk.
	Protected map[string][]string
}

// Disks are the opened disks.
type Disks struct {
	allowed []string
	guarded map[string]*Disk
	plain   map[string]*Disk
	closers []func() error
}

// Open opens every disk, and makes the folder of a file disk if it is missing.
// All problems are reported at once. Close the result after use.
func Open(ctx context.Context, params Params) (*Disks, error) {
	d := &Disks{allowed: slices.Clone(params.Allowed), guarded: map[string]*Disk{}, plain: map[string]*Disk{}}
	o := opener{disks: d, params: params, roots: map[string]*os.Root{}, urls: map[string]*url.URL{}}
	if err := o.open(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Allowed are the names of the disks that agents see.
func (d *Disks) Allowed() []string { return slices.Clone(d.allowed) }

// Guarded returns a disk as an agent sees it: it must be allowed, and protected
// folders are out of reach. The cause of the refusal is ErrDisk.
func (d *Disks) Guarded(name string) (*Disk, error) {
	if !slices.Contains(d.allowed, name) {
		return nil, &Refusal{Path: name, Reason: "is not one of the allowed disks (" + strings.Join(d.allowed, ", ") + ")", Cause: ErrDisk}
	}
	return d.guarded[name], nil
}

// Unguarded returns a disk as the program itself uses it. Paths that an agent
// or a sender made up do not belong on it.
func (d *Disks) Unguarded(name string) (*Disk, error) {
	disk, ok := d.plain[name]
	if !ok {
		return nil, &Refusal{Path: name, Reason: "is not a configured disk", Cause: ErrDisk}
	}
	return disk, nil
}

// Close closes every disk.
func (d *Disks) Close() error {
	var errs []error
	for _, closer := range d.closers {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// opener holds what is needed while disks are being opened.
type opener struct {
	disks  *Disks
	params Params
	roots  map[string]*os.Root
	urls   map[string]*url.URL
}

func (o *opener) open(ctx context.Context) error {
	errs := o.check()
	names := slices.Sorted(maps.Keys(o.params.URLs))
	// All roots first: a protected folder is protected on every disk that leads to it.
	for _, name := range names {
		if err := o.openRoot(name); err != nil {
			errs = append(errs, fmt.Errorf("disk %s: %w", name, err))
		}
	}
	errs = append(errs, o.overlaps()...)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, name := range names {
		if err := o.openDisk(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("disk %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (o *opener) check() []error {
	var errs []error
	for _, name := range o.params.Allowed {
		if _, ok := o.params.URLs[name]; !ok {
			errs = append(errs, fmt.Errorf("allowed disk %q has no URL; add it under disks", name))
		}
	}
	for name, folders := range o.params.Protected {
		if _, ok := o.params.URLs[name]; !ok {
			errs = append(errs, fmt.Errorf("disk %q with protected folders has no URL; add it under disks", name))
		}
		for _, folder := range folders {
			if clean, err := Clean(folder); err != nil || clean != folder || clean == root || strings.Contains(clean, "/") {
				errs = append(errs, fmt.Errorf("protected folder %q of disk %s must be one plain folder name", folder, name))
			}
		}
	}
	return errs
}

func (o *opener) openRoot(name string) error {
	u, err := url.Parse(o.params.URLs[name])
	if err != nil {
		// url.Error repeats the URL, which may hold a secret.
		return errors.New("its URL cannot be parsed; write file:///folder or s3://bucket")
	}
	o.urls[name] = u
	switch u.Scheme {
	case "s3", "mem":
		return nil
	case "file":
	default:
		return fmt.Errorf("unknown kind of disk %q; known are file://, s3:// and mem://", u.Scheme)
	}
	dir, err := folderURL(u)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open its folder: %w", err)
	}
	o.roots[name] = opened
	o.disks.closers = append(o.disks.closers, opened.Close)
	return o.keep(opened, o.params.Protected[name])
}

// keep makes the protected folders, so that they are known by what they are
// before somebody else can make them, and refuses links in their place.
func (o *opener) keep(opened *os.Root, folders []string) error {
	for _, name := range folders {
		if err := opened.MkdirAll(name, folderMode); err != nil {
			return fmt.Errorf("make protected folder %s: %w", name, err)
		}
		info, err := opened.Lstat(name)
		if err != nil {
			return fmt.Errorf("look at protected folder %s: %w", name, err)
		}
		if !info.IsDir() {
			return fmt.Errorf("protected folder %s must be a real folder, not a link", name)
		}
	}
	return nil
}

func (o *opener) openDisk(ctx context.Context, name string) error {
	guard := newGuard(o.params.Protected[name])
	if opened, ok := o.roots[name]; ok {
		names := &sync.Mutex{}
		o.disks.plain[name] = &Disk{name: name, backend: &fileDisk{root: opened, names: names}}
		o.disks.guarded[name] = &Disk{name: name, guard: guard, backend: &fileDisk{
			root: opened, names: names, guard: guard, protected: o.protectedFolders(),
		}}
		return nil
	}
	bucket, err := blob.OpenBucket(ctx, o.urls[name].String())
	if err != nil {
		return fmt.Errorf("open %s bucket: %w", o.urls[name].Scheme, err)
	}
	o.disks.closers = append(o.disks.closers, bucket.Close)
	backend := &objectDisk{bucket: bucket}
	o.disks.plain[name] = &Disk{name: name, backend: backend}
	o.disks.guarded[name] = &Disk{name: name, guard: guard, backend: backend}
	return nil
}

// protectedFolders are those of all file disks: another disk may lead there too.
func (o *opener) protectedFolders() []folder {
	var all []folder
	for name, folders := range o.params.Protected {
		if opened, ok := o.roots[name]; ok {
			for _, base := range folders {
				all = append(all, folder{root: opened, name: base})
			}
		}
	}
	return all
}

// overlaps finds allowed disks that would show protected folders from a side
// that cannot be guarded: a disk inside one, or a bucket that is another disk too.
func (o *opener) overlaps() []error {
	var errs []error
	for _, name := range o.params.Allowed {
		for other, folders := range o.params.Protected {
			if name == other || len(folders) == 0 {
				continue
			}
			if o.inside(name, other, folders) {
				errs = append(errs, fmt.Errorf("disk %s lies in a protected folder of disk %s; choose another folder, or take it out of the allowed disks", name, other))
			}
			if o.sameBucket(name, other) {
				errs = append(errs, fmt.Errorf("disks %s and %s overlap in one bucket, so protected folders could be reached; give each a prefix of its own", name, other))
			}
		}
	}
	return errs
}

func (o *opener) inside(name, other string, folders []string) bool {
	mine, ok := o.roots[name]
	theirs, known := o.roots[other]
	if !ok || !known {
		return false
	}
	inner, err := filepath.EvalSymlinks(mine.Name())
	outer, err2 := filepath.EvalSymlinks(theirs.Name())
	if err != nil || err2 != nil {
		return true
	}
	for _, folder := range folders {
		below, err := filepath.Rel(filepath.Join(outer, folder), inner)
		if err == nil && filepath.IsLocal(below) {
			return true
		}
	}
	return false
}

func (o *opener) sameBucket(name, other string) bool {
	mine, theirs := o.urls[name], o.urls[other]
	if mine == nil || theirs == nil || mine.Scheme != "s3" || theirs.Scheme != "s3" || mine.Host != theirs.Host {
		return false
	}
	a, b := mine.Query().Get("prefix"), theirs.Query().Get("prefix")
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
