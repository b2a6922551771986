package attachments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/countersignhq/countersign/disks"
)

// Params of New.
type Params struct {
	// Disk is the attachments disk (LARACLAW_ATTACHMENTS_DISK), unguarded.
	Disk *disks.Disk
	// Inbound and Outbound are folder names at its root; empty means "inbound" and "outbound".
	Inbound, Outbound string
	// MaxBytes is the largest file that Set takes; zero means any size.
	MaxBytes int64
}

// Store is the attachments disk. Safe for concurrent use.
type Store struct {
	disk              *disks.Disk
	inbound, outbound string
	maxBytes          int64

	mu sync.Mutex
	// writing are the folders that are being written to, by path.
	writing map[string]*writing
}

// writing holds the folded names of the files that are being written to one folder.
type writing struct {
	sync.Mutex
	names map[string]bool
	// users is guarded by the store's mutex.
	users int
}

func (s *Store) join(folder string) *writing {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.writing[folder]
	if w == nil {
		w = &writing{names: map[string]bool{}}
		s.writing[folder] = w
	}
	w.users++
	return w
}

func (s *Store) leave(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.writing[folder]
	w.users--
	if w.users == 0 {
		delete(s.writing, folder)
	}
}

// New checks the folder names and returns the store.
func New(params Params) (*Store, error) {
	if params.Disk == nil {
		return nil, errors.New("attachments: no disk")
	}
	s := &Store{
		disk: params.Disk, maxBytes: params.MaxBytes, writing: map[string]*writing{},
		inbound: params.Inbound, outbound: params.Outbound,
	}
	if s.inbound == "" {
		s.inbound = "inbound"
	}
	if s.outbound == "" {
		s.outbound = "outbound"
	}
	for _, name := range []string{s.inbound, s.outbound} {
		if err := oneName(name); err != nil {
			return nil, fmt.Errorf("attachments folder: %w", err)
		}
	}
	if disks.FoldName(s.inbound) == disks.FoldName(s.outbound) {
		return nil, fmt.Errorf("attachments: incoming and outgoing files need two folders, both are %q", s.inbound)
	}
	return s, nil
}

// oneName refuses what is not the plain name of one file or folder.
func oneName(name string) error {
	clean, err := disks.Clean(name)
	switch {
	case err != nil:
		return err
	case clean != name || clean == "." || strings.Contains(clean, "/"):
		return &disks.Refusal{Path: name, Reason: "is not one plain name", Cause: disks.ErrPath}
	}
	return nil
}

// DiskName is the name of the attachments disk.
func (s *Store) DiskName() string { return s.disk.Name() }

// Protected are the folders of this store that no agent may reach by itself.
func (s *Store) Protected() []string { return []string{s.inbound, s.outbound} }

// Inbound is the folder of the files that came with a message.
func (s *Store) Inbound(uuid string) Folder { return s.folder(s.inbound, uuid) }

// Outbound is the folder of the files that go out with the reply to a message.
func (s *Store) Outbound(uuid string) Folder { return s.folder(s.outbound, uuid) }

// folder keeps a refused uuid until the folder is used.
func (s *Store) folder(parent, uuid string) Folder {
	if err := oneName(uuid); err != nil {
		return Folder{err: fmt.Errorf("message uuid: %w", err)}
	}
	return Folder{store: s, uuid: uuid, path: path.Join(parent, uuid)}
}

// Locate splits a path as chat.File.Path has it, {folder}/{uuid}/{name}, into
// its folder and name. inbound tells which of the two folders it is.
func (s *Store) Locate(name string) (folder Folder, base string, inbound bool, err error) {
	clean, err := disks.Clean(name)
	if err != nil {
		return Folder{}, "", false, err
	}
	parts := strings.Split(clean, "/")
	if len(parts) != 3 || parts[0] != s.inbound && parts[0] != s.outbound {
		return Folder{}, "", false, &disks.Refusal{Path: name, Reason: "is not the path of an attachment", Cause: disks.ErrPath}
	}
	return s.folder(parts[0], parts[1]), parts[2], parts[0] == s.inbound, nil
}

// OpenPath opens the file that chat.File.Path names; the caller closes it.
func (s *Store) OpenPath(ctx context.Context, name string) (io.ReadCloser, error) {
	folder, base, _, err := s.Locate(name)
	if err != nil {
		return nil, err
	}
	content, _, err := folder.Open(ctx, base)
	return content, err
}

// Prune removes the folders of messages in which nothing has changed for
// longer than olderThan, and tells how many. It goes on after a failure and
// reports all of them.
func (s *Store) Prune(ctx context.Context, olderThan time.Duration, now time.Time) (removed int, err error) {
	var errs []error
	for _, parent := range s.Protected() {
		n, err := s.prune(ctx, parent, now.Add(-olderThan))
		removed += n
		errs = append(errs, err)
	}
	return removed, errors.Join(errs...)
}

func (s *Store) prune(ctx context.Context, parent string, before time.Time) (removed int, err error) {
	exists, err := s.disk.Exists(ctx, parent)
	if err != nil || !exists {
		return 0, err
	}
	entries, err := s.disk.List(ctx, parent)
	if err != nil {
		return 0, fmt.Errorf("prune attachments: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if !entry.Folder || entry.Link {
			continue
		}
		old, err := s.pruneOne(ctx, entry.Path, before)
		if err != nil {
			errs = append(errs, fmt.Errorf("prune attachments: %w", err))
		}
		if old {
			removed++
		}
	}
	return removed, errors.Join(errs...)
}

func (s *Store) pruneOne(ctx context.Context, folder string, before time.Time) (bool, error) {
	newest, err := s.disk.Newest(ctx, folder)
	if err != nil || !newest.Before(before) {
		return false, err
	}
	if err := s.disk.Clear(ctx, folder); err != nil {
		return false, err
	}
	return true, nil
}
