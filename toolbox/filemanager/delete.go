package filemanager

import (
	"cmp"
	"context"

	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

type deletedOutput struct {
	Disk    string   `json:"disk"`
	Deleted []string `json:"deleted"`
	// Failed are those of several that are still there, with the reason.
	Failed []failure `json:"failed,omitempty"`
}

type failure struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func (m *manager) delete() tool.Operation {
	return tool.Operation{
		Name:        "delete",
		Description: "Delete a file or an empty folder, or several.",
		Kind:        tool.Danger,
		Schema:      deleteSchema(),
		Prompt:      "Delete the file at {path} on disk {disk}?",
		Prompts: []tool.PromptVariant{
			{When: "paths", Template: "Delete {count} files on disk {disk}: {paths}?", Count: "paths"},
		},
		Available: m.available(deletable),
		Contents: m.contents(func(ctx context.Context, r request) (map[string]string, error) {
			return hashes(ctx, r.disk, toDelete(r)...)
		}),
		Run:   m.run(deleteAll),
		Check: m.check(deleted),
	}
}

func toDelete(r request) []string {
	if r.Paths != nil {
		return r.Paths
	}
	return []string{r.Path}
}

func deletable(ctx context.Context, r request) error {
	seen := map[string]bool{}
	for _, path := range toDelete(r) {
		info, err := r.disk.Deletable(ctx, path)
		if err != nil {
			return err
		}
		// Else the number in the question would be wrong.
		if seen[info.Path] {
			return &disks.Refusal{Path: path, Reason: "is named twice", Cause: disks.ErrPath}
		}
		seen[info.Path] = true
	}
	return nil
}

func deleteAll(ctx context.Context, r request) (any, error) {
	// All or nothing as far as can be seen beforehand.
	if err := deletable(ctx, r); err != nil {
		return nil, err
	}
	out := deletedOutput{Disk: r.Disk, Deleted: []string{}}
	var first error
	for _, path := range toDelete(r) {
		err := r.disk.Delete(ctx, path)
		if err == nil {
			out.Deleted = append(out.Deleted, path)
			continue
		}
		first = cmp.Or(first, err)
		out.Failed = append(out.Failed, failure{Path: path, Reason: err.Error()})
	}
	if len(out.Deleted) == 0 {
		return nil, first
	}
	return out, nil
}

func deleted(ctx context.Context, r request) (tool.Outcome, error) {
	gone := 0
	paths := toDelete(r)
	for _, path := range paths {
		exists, err := r.disk.Exists(ctx, path)
		if err != nil {
			return tool.Outcome{}, err
		}
		if !exists {
			gone++
		}
	}
	switch gone {
	case len(paths):
		return tool.Outcome{Happened: tool.OutcomeDone, Output: deletedOutput{Disk: r.Disk, Deleted: paths}}, nil
	case 0:
		return tool.Outcome{Happened: tool.OutcomeNotDone}, nil
	}
	return tool.Outcome{}, nil
}
