package filemanager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
	"unicode/utf8"

	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

const (
	// maxRead is how much of a file read gives, in bytes (CONTRACT §7: 100 KB).
	maxRead = 100 << 10
	// maxEntries is how many entries list gives, so that an output stays small.
	maxEntries = 1000
)

type entry struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Type is "file" or "folder".
	Type     string    `json:"type"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
}

func kindOf(info disks.Info) string {
	if info.Folder {
		return "folder"
	}
	return "file"
}

type listOutput struct {
	Disk      string  `json:"disk"`
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"`
	Truncated bool    `json:"truncated,omitempty"`
	Note      string  `json:"note,omitempty"`
}

func (m *manager) list() tool.Operation {
	return tool.Operation{
		Name:        "list",
		Description: "List the files and folders in a folder.",
		Kind:        tool.Read,
		Schema:      schema(map[string]property{"disk": diskProperty, "path": folderProperty}),
		Prompt:      "List the folder {path} on disk {disk}?",
		Idempotent:  true,
		Available: m.available(func(ctx context.Context, r request) error {
			info, err := r.disk.Stat(ctx, r.Path)
			if err == nil && !info.Folder {
				err = &disks.Refusal{Path: r.Path, Reason: "is a file, not a folder", Cause: disks.ErrNotFolder}
			}
			return err
		}),
		Run: m.run(func(ctx context.Context, r request) (any, error) {
			infos, err := r.disk.List(ctx, r.Path)
			if err != nil {
				return nil, err
			}
			out := listOutput{Disk: r.Disk, Path: r.Path, Entries: []entry{}}
			if len(infos) > maxEntries {
				out.Truncated = true
				out.Note = fmt.Sprintf("only the first %d of %d entries", maxEntries, len(infos))
				infos = infos[:maxEntries]
			}
			for _, info := range infos {
				out.Entries = append(out.Entries, entry{
					Name: info.Name(), Path: info.Path, Type: kindOf(info), Size: info.Size, Modified: info.Modified.UTC(),
				})
			}
			return out, nil
		}),
	}
}

type existsOutput struct {
	Disk   string `json:"disk"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	Type   string `json:"type,omitempty"`
}

func (m *manager) exists() tool.Operation {
	return tool.Operation{
		Name:        "exists",
		Description: "Tell whether there is a file or folder at a path.",
		Kind:        tool.Read,
		Schema:      schema(map[string]property{"disk": diskProperty, "path": pathProperty}),
		Prompt:      "Look whether there is something at {path} on disk {disk}?",
		Idempotent:  true,
		Available: m.available(func(ctx context.Context, r request) error {
			_, err := r.disk.Exists(ctx, r.Path)
			// A path below a file: there is nothing, and that is the answer.
			if errors.Is(err, disks.ErrNotFolder) {
				return nil
			}
			return err
		}),
		Run: m.run(func(ctx context.Context, r request) (any, error) {
			out := existsOutput{Disk: r.Disk, Path: r.Path}
			info, err := r.disk.Stat(ctx, r.Path)
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, disks.ErrNotFolder):
				return out, nil
			case err != nil:
				return nil, err
			}
			out.Exists, out.Type = true, kindOf(info)
			return out, nil
		}),
	}
}

type readOutput struct {
	Disk      string `json:"disk"`
	Path      string `json:"path"`
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
	// Size of the whole file in bytes.
	Size int64  `json:"size"`
	Note string `json:"note,omitempty"`
}

func (m *manager) read() tool.Operation {
	return tool.Operation{
		Name:        "read",
		Description: "Read a text file; after 100 KB it is cut. Binary files cannot be read.",
		Kind:        tool.Read,
		Schema:      schema(map[string]property{"disk": diskProperty, "path": pathProperty}),
		Prompt:      "Read the file at {path} on disk {disk}?",
		Idempotent:  true,
		Available: m.available(func(ctx context.Context, r request) error {
			_, err := readText(ctx, r)
			return err
		}),
		Contents: m.contents(hashPath),
		Run: m.run(func(ctx context.Context, r request) (any, error) {
			out, err := readText(ctx, r)
			if err != nil {
				return nil, err
			}
			return out, nil
		}),
	}
}

func readText(ctx context.Context, r request) (readOutput, error) {
	content, info, err := r.disk.Reader(ctx, r.Path)
	if err != nil {
		return readOutput{}, err
	}
	defer content.Close()
	// A little more, to know whether a character at the end is whole.
	text, err := io.ReadAll(io.LimitReader(content, maxRead+utf8.UTFMax))
	if err != nil {
		return readOutput{}, fmt.Errorf("read %s: %w", disks.Quoted(r.Path), err)
	}
	out := readOutput{Disk: r.Disk, Path: r.Path, Size: max(info.Size, int64(len(text)))}
	if len(text) > maxRead {
		text = text[:cut(text, maxRead)]
		out.Truncated = true
		out.Note = fmt.Sprintf("cut at 100 KB: the first %d of %d bytes", len(text), out.Size)
	}
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return readOutput{}, &disks.Refusal{Path: r.Path, Reason: "is not text in UTF-8 but a binary file, which cannot be read", Cause: fs.ErrInvalid}
	}
	out.Content = string(text)
	return out, nil
}

// cut is the last place at or before limit where a character starts.
func cut(text []byte, limit int) int {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return limit
}
