package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// DefaultName is the name of a workspace that was never named, or was reset.
const DefaultName = "Untitled workspace"

// Draft is what the workspace is called now.
type Draft struct {
	Name string `json:"name"`
	// Revision is the id of the call that wrote it; empty for a workspace that was never touched.
	Revision string `json:"revision,omitempty"`
}

// Publication is what was published last.
type Publication struct {
	Name string `json:"name"`
	// Revision of the draft that was published.
	Revision string    `json:"revision,omitempty"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// State is the workspace as it is.
type State struct {
	Draft Draft
	// Last is nil where nothing was published yet.
	Last *Publication
}

// Published tells whether the last publication is of this very draft.
func (s State) Published() bool { return s.Last != nil && s.Last.Revision == s.Draft.Revision }

// Store keeps the workspace. Each write replaces the whole of its object, or nothing of it.
type Store interface {
	// Read returns the state; a workspace that was never written has DefaultName.
	Read(ctx context.Context) (State, error)
	WriteDraft(ctx context.Context, draft Draft) error
	WritePublication(ctx context.Context, publication Publication) error
}

// The objects of a Store in a bucket.
const (
	draftKey       = "workspace/draft.json"
	publicationKey = "workspace/published.json"
)

// NewStore returns a Store in bucket, which the caller closes.
func NewStore(bucket *blob.Bucket) Store { return store{bucket} }

type store struct{ bucket *blob.Bucket }

func (s store) Read(ctx context.Context) (State, error) {
	state := State{Draft: Draft{Name: DefaultName}}
	if _, err := s.read(ctx, draftKey, &state.Draft); err != nil {
		return State{}, err
	}
	var last Publication
	found, err := s.read(ctx, publicationKey, &last)
	if err != nil {
		return State{}, err
	}
	if found {
		state.Last = &last
	}
	return state, nil
}

func (s store) WriteDraft(ctx context.Context, draft Draft) error {
	return s.write(ctx, draftKey, draft)
}

func (s store) WritePublication(ctx context.Context, publication Publication) error {
	return s.write(ctx, publicationKey, publication)
}

func (s store) read(ctx context.Context, key string, into any) (found bool, err error) {
	content, err := s.bucket.ReadAll(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		return false, fmt.Errorf("read the workspace: %w", err)
	}
	return true, nil
}

func (s store) write(ctx context.Context, key string, from any) error {
	content, err := json.Marshal(from)
	if err == nil {
		err = s.bucket.WriteAll(ctx, key, content, nil)
	}
	if err != nil {
		return fmt.Errorf("write the workspace: %w", err)
	}
	return nil
}
