package delivered

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"

	"github.com/countersignhq/countersign/internal/listing"
)

// Store keeps files by owner (who may fetch them: a thread or a connector), the uuid of
// the message they answer, and name.
type Store struct {
	bucket *blob.Bucket
}

// New returns a Store in bucket, which the caller closes.
func New(bucket *blob.Bucket) *Store { return &Store{bucket: bucket} }

// Dir opens a bucket in a folder of this machine and makes the folder if there is none.
func Dir(path string) (*blob.Bucket, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for delivered files: %w", err)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the folder for delivered files: %w", err)
	}
	bucket, err := fileblob.OpenBucket(path, &fileblob.Options{
		NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700,
	})
	if err != nil {
		return nil, fmt.Errorf("open the folder for delivered files: %w", err)
	}
	return bucket, nil
}

// Save streams a file in; a file of the same name is replaced, so a retry does no harm.
func (s *Store) Save(ctx context.Context, owner, uuid, name string, content io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a writer whose context ends before Close leaves nothing behind
	writer, err := s.bucket.NewWriter(ctx, key(owner, uuid, name), &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return fmt.Errorf("keep the file %q: %w", name, err)
	}
	if _, err := io.Copy(writer, content); err != nil {
		cancel()
		return fmt.Errorf("keep the file %q: %w", name, errors.Join(err, ignoreCancelled(writer.Close())))
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("keep the file %q: %w", name, err)
	}
	return nil
}

// Open returns a file and its size in bytes; fs.ErrNotExist if there is none.
func (s *Store) Open(ctx context.Context, owner, uuid, name string) (io.ReadCloser, int64, error) {
	reader, err := s.bucket.NewReader(ctx, key(owner, uuid, name), nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, 0, fmt.Errorf("open the file %q: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open the file %q: %w", name, err)
	}
	size := reader.Size()
	return reader, size, nil
}

// Remove deletes the files of one message. No files is no error.
func (s *Store) Remove(ctx context.Context, owner, uuid string) error {
	_, err := s.remove(ctx, folder(owner, uuid), time.Time{})
	return err
}

// Prune deletes what was kept before the given time and returns how many files went.
func (s *Store) Prune(ctx context.Context, before time.Time) (int, error) {
	return s.remove(ctx, prefix, before)
}

func (s *Store) remove(ctx context.Context, under string, before time.Time) (int, error) {
	removed := 0
	files, err := listing.Objects(ctx, s.bucket, under)
	if err != nil {
		return 0, fmt.Errorf("list delivered files: %w", err)
	}
	for _, file := range files {
		if !before.IsZero() && !file.ModTime.Before(before) {
			continue
		}
		if err := s.bucket.Delete(ctx, file.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return removed, fmt.Errorf("delete a delivered file: %w", err)
		}
		removed++
	}
	return removed, nil
}

// prefix keeps to our own objects in a bucket that others use too.
const prefix = "delivered/"

// Keys hold hashes only: no name from outside becomes a path, none can name another's
// file, and none is too long for a disk.
func key(owner, uuid, name string) string { return folder(owner, uuid) + digest(name) }

func folder(owner, uuid string) string { return prefix + digest(owner) + "/" + digest(uuid) + "/" }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) || gcerrors.Code(err) == gcerrors.Canceled {
		return nil
	}
	return err
}
