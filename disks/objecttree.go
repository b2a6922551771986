package disks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// keys returns every key of a file or folder, markers of folders included.
func (o *objectDisk) keys(ctx context.Context, name string) ([]string, error) {
	info, err := o.stat(ctx, name)
	if err != nil {
		return nil, err
	}
	if !info.Folder {
		return []string{name}, nil
	}
	var keys []string
	err = o.each(ctx, &blob.ListOptions{Prefix: prefix(name)}, func(object *blob.ListObject) error {
		keys = append(keys, object.Key)
		return nil
	})
	return keys, err
}

// inspect has nothing to refuse: there are no links, and a protected folder is at the root only.
func (o *objectDisk) inspect(context.Context, string) error { return nil }

func (o *objectDisk) copy(ctx context.Context, from, to string) error {
	_, err := o.duplicate(ctx, from, to)
	return err
}

// duplicate copies and returns the keys copied. The content goes through this
// process: a copy within the store cannot refuse a taken name.
func (o *objectDisk) duplicate(ctx context.Context, from, to string) ([]string, error) {
	keys, err := o.keys(ctx, from)
	if err != nil {
		return nil, err
	}
	if err := o.fits(ctx, to); err != nil {
		return nil, err
	}
	var made []string
	for _, key := range keys {
		copied := to + strings.TrimPrefix(key, from)
		if err := o.duplicateOne(ctx, key, copied); err != nil {
			// Nothing half done: what was copied so far goes, also when the caller has given up.
			return nil, errors.Join(err, o.drop(context.WithoutCancel(ctx), made))
		}
		made = append(made, copied)
	}
	return keys, nil
}

func (o *objectDisk) duplicateOne(ctx context.Context, from, to string) error {
	content, err := o.bucket.NewReader(ctx, from, nil)
	if err != nil {
		return err
	}
	defer content.Close()
	return o.upload(ctx, to, content, true)
}

func (o *objectDisk) move(ctx context.Context, from, to string) error {
	keys, err := o.duplicate(ctx, from, to)
	if err != nil {
		return err
	}
	return o.drop(ctx, keys)
}

// drop deletes keys, what is in a folder before the folder's marker.
func (o *objectDisk) drop(ctx context.Context, keys []string) error {
	for _, key := range slices.Backward(keys) {
		err := o.bucket.Delete(ctx, key)
		if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return err
		}
	}
	return nil
}

func (o *objectDisk) remove(ctx context.Context, name string) error {
	keys, err := o.keys(ctx, name)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key != name && key != prefix(name) {
			return notEmpty(name)
		}
	}
	return o.drop(ctx, keys)
}

func (o *objectDisk) removeAll(ctx context.Context, name string) error {
	keys, err := o.keys(ctx, name)
	if err != nil {
		return err
	}
	return o.drop(ctx, keys)
}
