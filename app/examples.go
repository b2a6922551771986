package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"go.uber.org/fx"
	"gocloud.dev/blob/fileblob"

	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/connectors/web"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/toolbox/workspace"
)

// examples are the example tools; without a store they are off.
type examples struct{ store workspace.Store }

// examplesOn tells whether they are: as configured, and else with --dev.
func examplesOn(f flags, cfg *config.Config) bool {
	if cfg.IsSet("examples") {
		return cfg.Examples
	}
	return f.dev
}

func provideExamples(lc fx.Lifecycle, f flags, cfg *config.Config) (examples, error) {
	if !examplesOn(f, cfg) {
		return examples{}, nil
	}
	bucket, err := fileblob.OpenBucket(filepath.Join(cfg.DataDir, "examples"), &fileblob.Options{
		CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite,
	})
	if err != nil {
		return examples{}, fmt.Errorf("open the folder of the examples: %w", err)
	}
	lc.Append(fx.StopHook(bucket.Close))
	return examples{workspace.NewStore(bucket)}, nil
}

func (e examples) tools() []tool.Tool {
	if e.store == nil {
		return nil
	}
	return []tool.Tool{workspace.New(e.store)}
}

// show puts the examples' pages on the web page.
func (e examples) show(p *web.Params) {
	if e.store == nil {
		return
	}
	p.Workspace = workspacePage(e)
}

// workspacePage is the workspace as its page sees it.
type workspacePage struct{ store workspace.Store }

// State implements web.Workspace.
func (w workspacePage) State(ctx context.Context) (web.WorkspaceState, error) {
	state, err := w.store.Read(ctx)
	shown := web.WorkspaceState{Name: state.Draft.Name, Revision: state.Draft.Revision, Published: state.Published()}
	if state.Last != nil {
		shown.LastName, shown.LastBy, shown.LastAt = state.Last.Name, state.Last.By, state.Last.At
	}
	return shown, err
}

// Publish implements web.Workspace.
func (w workspacePage) Publish(ctx context.Context, code, revision, by string) error {
	err := workspace.Publish(ctx, w.store, code, revision, by, now())
	switch {
	case errors.Is(err, workspace.ErrCode):
		return web.ErrWorkspaceCode
	case errors.Is(err, workspace.ErrChanged):
		return web.ErrWorkspaceChanged
	}
	return err
}
