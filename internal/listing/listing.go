// Package listing lists the objects of a bucket to which others are writing.
package listing

import (
	"context"
	"errors"
	"io"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// tries is how often a listing is begun; each time somebody has to finish a file in the middle of it.
const tries = 20

// Objects returns what lies under a prefix, by key. A fileblob fails with NotFound where a file
// that is being written gets its name meanwhile; it is then listed once more. Half-written files
// (fileblob: *.tmp), also those that a crash has left, are among the objects.
func Objects(ctx context.Context, bucket *blob.Bucket, prefix string) ([]*blob.ListObject, error) {
	for try := 1; ; try++ {
		objects, err := once(ctx, bucket, prefix)
		if err == nil || gcerrors.Code(err) != gcerrors.NotFound || try == tries {
			return objects, err
		}
	}
}

func once(ctx context.Context, bucket *blob.Bucket, prefix string) (objects []*blob.ListObject, err error) {
	for found := bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
		object, err := found.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		}
		objects = append(objects, object)
	}
}
