package attachments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/disks"
)

// TooLargeError is Set's refusal of a file over the limit; the text fits chat.File.Problem.
type TooLargeError struct {
	// Limit in bytes.
	Limit int64
}

func (e *TooLargeError) Error() string { return "larger than " + size(e.Limit) }

func size(n int64) string {
	const kilo, mega = 1 << 10, 1 << 20
	switch {
	case n >= mega && n%mega == 0:
		return fmt.Sprintf("%d MB", n/mega)
	case n >= kilo && n%kilo == 0:
		return fmt.Sprintf("%d KB", n/kilo)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Folder holds the files of one message in one direction. A folder for a uuid
// that is none fails in each method.
type Folder struct {
	store *Store
	uuid  string
	path  string
	err   error
}

// UUID is the message's.
func (f Folder) UUID() string { return f.uuid }

// Set streams a file into the folder, under a safe form of the name and with a
// number if the folder has that name already, in any letter case. The file
// shows when it is complete; after an error there is nothing of it. A file
// over the limit is a *TooLargeError.
func (f Folder) Set(ctx context.Context, name string, content io.Reader) (chat.File, error) {
	if f.err != nil {
		return chat.File{}, f.err
	}
	base, release, err := f.reserve(ctx, SafeName(name))
	if err != nil {
		return chat.File{}, err
	}
	defer release()
	sum := sha256.New()
	counted := &meter{from: io.TeeReader(content, sum), limit: f.store.maxBytes}
	full := path.Join(f.path, base)
	if err := f.store.disk.Create(ctx, full, counted); err != nil {
		return chat.File{}, fmt.Errorf("store attachment %s: %w", disks.Quoted(base), err)
	}
	return chat.File{Name: base, Path: full, Size: counted.read, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// reserve chooses a free name. The names that are being written count too:
// they do not show on the disk yet.
func (f Folder) reserve(ctx context.Context, name string) (string, func(), error) {
	writing := f.store.join(f.path)
	writing.Lock()
	defer writing.Unlock()
	there, err := f.entries(ctx)
	if err != nil {
		f.store.leave(f.path)
		return "", nil, err
	}
	used := maps.Clone(writing.names)
	for _, entry := range there {
		used[disks.FoldName(entry.Name())] = true
	}
	base := name
	for n := 1; used[disks.FoldName(base)]; n++ {
		base = Numbered(name, n)
	}
	key := disks.FoldName(base)
	writing.names[key] = true
	return base, func() {
		writing.Lock()
		delete(writing.names, key)
		writing.Unlock()
		f.store.leave(f.path)
	}, nil
}

func (f Folder) entries(ctx context.Context) ([]disks.Info, error) {
	entries, err := f.store.disk.List(ctx, f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list attachments: %w", err)
	}
	return entries, nil
}

// List returns the complete files in the folder, by name, without their
// hashes; none if there is no folder.
func (f Folder) List(ctx context.Context) ([]chat.File, error) {
	if f.err != nil {
		return nil, f.err
	}
	entries, err := f.entries(ctx)
	if err != nil {
		return nil, err
	}
	var files []chat.File
	for _, entry := range entries {
		if !entry.Folder {
			files = append(files, chat.File{Name: entry.Name(), Path: path.Join(f.path, entry.Name()), Size: entry.Size})
		}
	}
	return files, nil
}

// Open opens a file by its stored name; fs.ErrNotExist is the cause if there is
// none. The caller closes it.
func (f Folder) Open(ctx context.Context, name string) (io.ReadCloser, chat.File, error) {
	if f.err != nil {
		return nil, chat.File{}, f.err
	}
	if err := oneName(name); err != nil {
		return nil, chat.File{}, err
	}
	content, info, err := f.store.disk.Reader(ctx, path.Join(f.path, name))
	if err != nil {
		return nil, chat.File{}, fmt.Errorf("open attachment: %w", err)
	}
	return content, chat.File{Name: name, Path: path.Join(f.path, name), Size: info.Size}, nil
}

// Remove takes a file back, and the folder if nothing else is in it; a missing one is no error.
func (f Folder) Remove(ctx context.Context, name string) error {
	if f.err != nil {
		return f.err
	}
	if err := oneName(name); err != nil {
		return err
	}
	err := f.store.disk.Delete(ctx, path.Join(f.path, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove attachment: %w", err)
	}
	left, err := f.entries(ctx)
	if err != nil || len(left) > 0 {
		return err
	}
	return f.Clear(ctx)
}

// Clear removes the folder with all its files; a missing one is no error.
func (f Folder) Clear(ctx context.Context) error {
	if f.err != nil {
		return f.err
	}
	if err := f.store.disk.Clear(ctx, f.path); err != nil {
		return fmt.Errorf("clear attachments: %w", err)
	}
	return nil
}

// meter counts what is read, and fails once it is more than the limit.
type meter struct {
	from  io.Reader
	limit int64
	read  int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.from.Read(p)
	m.read += int64(n)
	if m.limit > 0 && m.read > m.limit {
		return 0, &TooLargeError{Limit: m.limit}
	}
	return n, err
}
