package disks

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"
)

// maxNumber is how many other names are tried for a taken one.
const maxNumber = 10_000

// Write stores a file and its parent folders; it replaces a file of that name,
// never a folder. The content is streamed; if reading it fails, nothing changes.
func (d *Disk) Write(ctx context.Context, name string, content io.Reader) error {
	return d.put(ctx, name, content, false)
}

// Create is Write that refuses a taken name: the cause is then fs.ErrExist.
func (d *Disk) Create(ctx context.Context, name string, content io.Reader) error {
	return d.put(ctx, name, content, true)
}

func (d *Disk) put(ctx context.Context, name string, content io.Reader, fresh bool) error {
	clean, err := d.file(name)
	if err != nil {
		return err
	}
	return d.explain(name, d.backend.put(ctx, clean, content, fresh))
}

// Append puts content at the end of a file, which is made if it is missing.
// Two processes that append to one file at once may lose one of the two.
func (d *Disk) Append(ctx context.Context, name string, content io.Reader) error {
	clean, err := d.file(name)
	if err != nil {
		return err
	}
	return d.explain(name, d.backend.add(ctx, clean, content))
}

func (d *Disk) file(name string) (string, error) {
	clean, err := d.clean(name)
	if err == nil && (clean == root || strings.HasSuffix(name, "/")) {
		return "", isFolder(name)
	}
	return clean, err
}

// Mkdir makes a folder and its parents, under another number if the name is
// taken, and returns its path.
func (d *Disk) Mkdir(ctx context.Context, name string) (string, error) {
	clean, err := d.Check(ctx, name)
	if err != nil {
		return "", err
	}
	if clean == root {
		return "", taken(name)
	}
	return d.numbered(ctx, name, Info{Path: clean, Folder: true}, func(free string) error {
		return d.backend.mkdir(ctx, free)
	})
}

// Copy copies a file or a whole folder and returns where it went: the
// destination, in it if that is a folder, and under another number if the name
// is taken. Onto itself nothing changes.
func (d *Disk) Copy(ctx context.Context, source, destination string) (string, error) {
	return d.transfer(ctx, source, destination, d.backend.copy)
}

// Move is Copy that leaves nothing behind.
func (d *Disk) Move(ctx context.Context, source, destination string) (string, error) {
	return d.transfer(ctx, source, destination, d.backend.move)
}

func (d *Disk) transfer(ctx context.Context, source, destination string, do func(ctx context.Context, from, to string) error) (string, error) {
	from, to, err := d.Route(ctx, source, destination)
	if err != nil || from.Path == to {
		return to, err
	}
	return d.numbered(ctx, destination, Info{Path: to, Folder: from.Folder}, func(free string) error {
		return do(ctx, from.Path, free)
	})
}

// numbered does something that needs a free name until a name was free.
func (d *Disk) numbered(ctx context.Context, asked string, wanted Info, do func(free string) error) (string, error) {
	for range maxNumber {
		free, err := d.free(ctx, asked, wanted)
		if err != nil {
			return "", err
		}
		err = do(free)
		if !errors.Is(err, fs.ErrExist) {
			return free, d.explain(asked, err)
		}
	}
	return "", taken(asked)
}

// Delete takes a file or an empty folder away. Links are not deleted.
func (d *Disk) Delete(ctx context.Context, name string) error {
	clean, err := d.clean(name)
	if err != nil {
		return err
	}
	if clean == root {
		return wholeDisk(name)
	}
	return d.explain(name, d.backend.remove(ctx, clean))
}

// Deletable says beforehand what Delete would refuse.
func (d *Disk) Deletable(ctx context.Context, name string) (Info, error) {
	info, err := d.Stat(ctx, name)
	switch {
	case err != nil:
		return Info{}, err
	case info.Path == root:
		return Info{}, wholeDisk(name)
	case info.Link:
		return Info{}, isLink(name)
	case !info.Folder:
		return info, nil
	}
	inside, err := d.List(ctx, name)
	if err == nil && len(inside) > 0 {
		err = notEmpty(name)
	}
	return info, err
}

// Clear takes a folder away with all that is in it; a missing one is no error.
// Only for a disk seen without protection: agents delete what they name.
func (d *Disk) Clear(ctx context.Context, name string) error {
	clean, err := d.clean(name)
	if err != nil {
		return err
	}
	if clean == root || len(d.guard) > 0 {
		return protected(name)
	}
	err = d.backend.removeAll(ctx, clean)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return d.explain(name, err)
}

// Newest is the time of the latest change of anything in a folder.
func (d *Disk) Newest(ctx context.Context, name string) (time.Time, error) {
	clean, err := d.Check(ctx, name)
	if err != nil {
		return time.Time{}, err
	}
	newest, err := d.backend.newest(ctx, clean)
	return newest, d.explain(name, err)
}
