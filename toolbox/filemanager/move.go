package filemanager

import (
	"context"
	"path"

	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

type movedOutput struct {
	Disk string `json:"disk"`
	From string `json:"from"`
	// Path where it is now: with a number where the name was taken.
	Path string `json:"path"`
}

var moveSchema = schema(map[string]property{"disk": diskProperty, "path": pathProperty, "destination": destinationProperty})

func (m *manager) move() tool.Operation {
	op := m.transfer((*disks.Disk).Move)
	op.Name = "move"
	op.Description = "Move or rename a file or folder. A destination that is a folder, or ends in /, takes it in; a taken name gets a number."
	op.Prompt = "Move {path} to {destination} on disk {disk}?"
	op.Check = m.check(func(ctx context.Context, r request) (tool.Outcome, error) {
		there, err := r.disk.Exists(ctx, r.Path)
		if err != nil || there {
			return landed(ctx, r, err)
		}
		arrived, err := r.disk.Exists(ctx, r.Destination)
		if err != nil || !arrived {
			// Gone from one place and not in the other: somebody else may have taken it.
			return tool.Outcome{}, err
		}
		return tool.Outcome{Happened: tool.OutcomeDone, Output: movedOutput{Disk: r.Disk, From: r.Path, Path: r.Destination}}, nil
	})
	return op
}

func (m *manager) copy() tool.Operation {
	op := m.transfer((*disks.Disk).Copy)
	op.Name = "copy"
	op.Description = "Copy a file or folder. A destination that is a folder, or ends in /, takes it in; a taken name gets a number."
	op.Prompt = "Copy {path} to {destination} on disk {disk}?"
	op.Check = m.check(func(ctx context.Context, r request) (tool.Outcome, error) { return landed(ctx, r, nil) })
	return op
}

// landed settles a copy, or a move whose source is still there: it did not
// happen if there is nothing where it would have gone. If there is something,
// it may have been there before.
func landed(ctx context.Context, r request, err error) (tool.Outcome, error) {
	if err != nil {
		return tool.Outcome{}, err
	}
	source, err := r.disk.Stat(ctx, r.Path)
	if err != nil {
		return tool.Outcome{}, nil
	}
	target, err := r.disk.Stat(ctx, r.Destination)
	if err == nil && target.Folder && !source.Folder {
		return notDoneIfMissing(ctx, r, path.Join(target.Path, source.Name()))
	}
	return notDoneIfMissing(ctx, r, r.Destination)
}

func (m *manager) transfer(do func(d *disks.Disk, ctx context.Context, source, destination string) (string, error)) tool.Operation {
	return tool.Operation{
		Kind:   tool.Write,
		Schema: moveSchema,
		Available: m.available(func(ctx context.Context, r request) error {
			_, _, err := r.disk.Route(ctx, r.Path, r.Destination)
			return err
		}),
		Contents: m.contents(hashPath),
		Run: m.run(func(ctx context.Context, r request) (any, error) {
			final, err := do(r.disk, ctx, r.Path, r.Destination)
			if err != nil {
				return nil, err
			}
			return movedOutput{Disk: r.Disk, From: r.Path, Path: final}, nil
		}),
	}
}
