package disks

import (
	"errors"
	"fmt"
	"io/fs"
)

// What a Refusal is about; fs.ErrNotExist and fs.ErrExist are causes too.
var (
	// ErrPath: the path breaks the rules of Clean.
	ErrPath = errors.New("path refused")
	// ErrProtected: the path is in, or above, a protected folder.
	ErrProtected = errors.New("path protected")
	// ErrLink: a link on the way may not be followed.
	ErrLink = errors.New("link refused")
	// ErrFolder: a folder where a file is needed.
	ErrFolder = errors.New("is a folder")
	// ErrNotFolder: a file where a folder is needed.
	ErrNotFolder = errors.New("is not a folder")
	// ErrNotEmpty: the folder still holds something.
	ErrNotEmpty = errors.New("folder not empty")
	// ErrDisk: no such disk, or not one of the allowed ones.
	ErrDisk = errors.New("disk refused")
)

// Refusal says, in words for the person, why a path cannot be used as asked.
// Errors that are no Refusal come from the disk itself.
type Refusal struct {
	// Path as it was given: the sender's data, shown quoted.
	Path string
	// Reason goes on after the path: "does not exist".
	Reason string
	Cause  error
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s %s", Quoted(r.Path), r.Reason) }

func (r *Refusal) Unwrap() error { return r.Cause }

// Quoted shows a path as data: in quotes, anything invisible escaped, and cut
// after 200 bytes with the number of bytes left out.
func Quoted(path string) string {
	const most = 200
	if len(path) <= most {
		return fmt.Sprintf("%q", path)
	}
	head := CutBytes(path, most)
	return fmt.Sprintf("%q… (%d bytes more)", head, len(path)-len(head))
}

func missing(path string) error {
	return &Refusal{Path: path, Reason: "does not exist", Cause: fs.ErrNotExist}
}

func taken(path string) error {
	return &Refusal{Path: path, Reason: "exists already", Cause: fs.ErrExist}
}

func isFolder(path string) error {
	return &Refusal{Path: path, Reason: "is a folder, not a file", Cause: ErrFolder}
}

func isFile(path string) error {
	return &Refusal{Path: path, Reason: "is a file, not a folder", Cause: ErrNotFolder}
}

func notEmpty(path string) error {
	return &Refusal{Path: path, Reason: "is a folder that is not empty; delete what is in it first", Cause: ErrNotEmpty}
}

func protected(path string) error {
	return &Refusal{Path: path, Reason: "is protected; message attachments are reached with save_attachment and attach_to_reply only", Cause: ErrProtected}
}

func wholeDisk(path string) error {
	return &Refusal{Path: path, Reason: "is the whole disk, which cannot be moved, copied or deleted", Cause: ErrProtected}
}

func isLink(path string) error {
	return &Refusal{Path: path, Reason: "is a link, which cannot be moved, copied or deleted", Cause: ErrLink}
}
