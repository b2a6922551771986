package disks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// objectDisk is an object store. A folder is a common start of keys; an empty
// one is kept by an object without content whose key ends in a slash.
type objectDisk struct{ bucket *blob.Bucket }

func (o *objectDisk) resolve(_ context.Context, name string) (string, error) { return name, nil }

// prefix is how the keys in a folder start.
func prefix(name string) string {
	if name == root {
		return ""
	}
	return name + "/"
}

func (o *objectDisk) stat(ctx context.Context, name string) (Info, error) {
	if name == root {
		return Info{Path: root, Folder: true}, nil
	}
	attributes, err := o.bucket.Attributes(ctx, name)
	switch {
	case err == nil:
		return Info{Path: name, Size: attributes.Size, Modified: attributes.ModTime}, nil
	case gcerrors.Code(err) != gcerrors.NotFound:
		return Info{}, err
	}
	_, err = o.bucket.List(&blob.ListOptions{Prefix: prefix(name)}).Next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		return Info{}, missing(name)
	case err != nil:
		return Info{}, err
	}
	return Info{Path: name, Folder: true}, nil
}

func (o *objectDisk) list(ctx context.Context, name string) ([]Info, error) {
	info, err := o.stat(ctx, name)
	if err != nil {
		return nil, err
	}
	if !info.Folder {
		return nil, isFile(name)
	}
	var infos []Info
	err = o.each(ctx, &blob.ListOptions{Prefix: prefix(name), Delimiter: "/"}, func(object *blob.ListObject) error {
		base := strings.TrimSuffix(strings.TrimPrefix(object.Key, prefix(name)), "/")
		if base == "" || strings.Contains(base, "/") {
			// The folder's own marker, or a key that no clean path leads to.
			return nil
		}
		infos = append(infos, Info{Path: path.Join(name, base), Folder: object.IsDir, Size: object.Size, Modified: object.ModTime})
		return nil
	})
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(a.Path, b.Path) })
	return infos, err
}

func (o *objectDisk) each(ctx context.Context, options *blob.ListOptions, do func(*blob.ListObject) error) error {
	objects := o.bucket.List(options)
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(object); err != nil {
			return err
		}
	}
}

func (o *objectDisk) open(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	content, err := o.bucket.NewReader(ctx, name, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		info, err := o.stat(ctx, name)
		if err == nil && info.Folder {
			err = isFolder(name)
		}
		if err == nil {
			err = fmt.Errorf("%s: %w", Quoted(name), errChanged)
		}
		return nil, Info{}, err
	}
	if err != nil {
		return nil, Info{}, err
	}
	return content, Info{Path: name, Size: content.Size(), Modified: content.ModTime()}, nil
}

func (o *objectDisk) newest(ctx context.Context, name string) (time.Time, error) {
	var newest time.Time
	err := o.each(ctx, &blob.ListOptions{Prefix: prefix(name)}, func(object *blob.ListObject) error {
		if object.ModTime.After(newest) {
			newest = object.ModTime
		}
		return nil
	})
	if err == nil && newest.IsZero() {
		err = missing(name)
	}
	return newest, err
}

func (o *objectDisk) put(ctx context.Context, name string, content io.Reader, fresh bool) error {
	if err := o.fits(ctx, name); err != nil {
		return err
	}
	info, err := o.stat(ctx, name)
	switch {
	case err == nil && fresh:
		return taken(name)
	case err == nil && info.Folder:
		return isFolder(name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return o.upload(ctx, name, content, fresh)
}

// fits refuses a path through a name that is a file: S3 would take it, and no file disk could be its copy.
func (o *objectDisk) fits(ctx context.Context, name string) error {
	for parent := path.Dir(name); parent != root; parent = path.Dir(parent) {
		exists, err := o.bucket.Exists(ctx, parent)
		if err != nil {
			return err
		}
		if exists {
			return isFile(parent)
		}
	}
	return nil
}

func (o *objectDisk) upload(ctx context.Context, key string, content io.Reader, fresh bool) error {
	// Closing a writer whose context has ended throws away what was written.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	writer, err := o.bucket.NewWriter(ctx, key, &blob.WriterOptions{IfNotExist: fresh})
	if err != nil {
		return err
	}
	if _, err := io.Copy(writer, reader{ctx, content}); err != nil {
		cancel()
		_ = writer.Close()
		return err
	}
	err = writer.Close()
	if fresh && gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return taken(key)
	}
	return err
}

func (o *objectDisk) add(ctx context.Context, name string, content io.Reader) error {
	before, _, err := o.open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.put(ctx, name, content, false)
	}
	if err != nil {
		return err
	}
	defer before.Close()
	return o.upload(ctx, name, io.MultiReader(before, content), false)
}

func (o *objectDisk) mkdir(ctx context.Context, name string) error {
	if err := o.fits(ctx, name); err != nil {
		return err
	}
	_, err := o.stat(ctx, name)
	switch {
	case err == nil:
		return taken(name)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return o.upload(ctx, prefix(name), strings.NewReader(""), true)
}
