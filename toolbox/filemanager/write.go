package filemanager

import (
	"context"
	"strings"

	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

type pathOutput struct {
	Disk string `json:"disk"`
	// Path where it is now: with a number where the name was taken.
	Path string `json:"path"`
	// Size of the file in bytes.
	Size int64 `json:"size"`
}

func (m *manager) write() tool.Operation {
	return tool.Operation{
		Name:        "write",
		Description: "Write a text file; a file of that name is replaced, missing folders are made.",
		Kind:        tool.Write,
		Schema:      schema(map[string]property{"disk": diskProperty, "path": pathProperty, "content": contentProperty}),
		Prompt:      "Write the file at {path} on disk {disk}?",
		Idempotent:  true,
		Available:   m.available(targetFile),
		Run: m.run(func(ctx context.Context, r request) (any, error) {
			if err := r.disk.Write(ctx, r.Path, strings.NewReader(r.Content)); err != nil {
				return nil, err
			}
			return written(ctx, r)
		}),
	}
}

func (m *manager) append() tool.Operation {
	return tool.Operation{
		Name:        "append",
		Description: "Add text at the end of a file, which is made if it is missing.",
		Kind:        tool.Write,
		Schema:      schema(map[string]property{"disk": diskProperty, "path": pathProperty, "content": contentProperty}),
		Prompt:      "Add to the file at {path} on disk {disk}?",
		Available:   m.available(targetFile),
		Run: m.run(func(ctx context.Context, r request) (any, error) {
			if err := r.disk.Append(ctx, r.Path, strings.NewReader(r.Content)); err != nil {
				return nil, err
			}
			return written(ctx, r)
		}),
	}
}

func targetFile(ctx context.Context, r request) error {
	_, err := r.disk.FileTarget(ctx, r.Path)
	return err
}

// written describes a file that was just written. That it was written stays
// true if looking at it fails, or if somebody else is faster.
func written(ctx context.Context, r request) (any, error) {
	out := pathOutput{Disk: r.Disk, Path: r.Path}
	if info, err := r.disk.Stat(ctx, r.Path); err == nil {
		out.Path, out.Size = info.Path, info.Size
	}
	return out, nil
}

type folderOutput struct {
	Disk string `json:"disk"`
	Path string `json:"path"`
}

func (m *manager) mkdir() tool.Operation {
	return tool.Operation{
		Name:        "mkdir",
		Description: "Make a folder, and the folders above it; a taken name gets a number.",
		Kind:        tool.Write,
		Schema:      schema(map[string]property{"disk": diskProperty, "path": pathProperty}),
		Prompt:      "Make the folder {path} on disk {disk}?",
		Available: m.available(func(ctx context.Context, r request) error {
			clean, err := r.disk.Target(ctx, r.Path)
			if err == nil && clean == "." {
				err = &disks.Refusal{Path: r.Path, Reason: "is the disk itself; name a folder to make", Cause: disks.ErrPath}
			}
			return err
		}),
		Run: m.run(func(ctx context.Context, r request) (any, error) {
			made, err := r.disk.Mkdir(ctx, r.Path)
			if err != nil {
				return nil, err
			}
			return folderOutput{Disk: r.Disk, Path: made}, nil
		}),
		Check: m.check(func(ctx context.Context, r request) (tool.Outcome, error) {
			// If something is there, it may have been there before.
			return notDoneIfMissing(ctx, r, r.Path)
		}),
	}
}

// check makes an operation's Check. Where the disk cannot be asked any more, the outcome is unknown.
func (m *manager) check(settle func(ctx context.Context, r request) (tool.Outcome, error)) func(context.Context, tool.Call) (tool.Outcome, error) {
	return func(ctx context.Context, call tool.Call) (tool.Outcome, error) {
		r, err := m.request(call)
		if err != nil {
			return tool.Outcome{}, err
		}
		return settle(ctx, r)
	}
}

func notDoneIfMissing(ctx context.Context, r request, path string) (tool.Outcome, error) {
	exists, err := r.disk.Exists(ctx, path)
	if err == nil && !exists {
		return tool.Outcome{Happened: tool.OutcomeNotDone}, nil
	}
	return tool.Outcome{}, err
}
