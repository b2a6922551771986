package workspace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/toolbox/workspace"
)

var noon = time.Date(2029, 1, 2, 12, 0, 0, 0, time.UTC)

func newTool(t *testing.T) (workspace.Store, *tool.Registry) {
	t.Helper()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	store := workspace.NewStore(bucket)
	registry, warnings, err := tool.NewRegistry(workspace.New(store))
	require.NoError(t, err)
	require.Empty(t, warnings)
	return store, registry
}

func find(t *testing.T, r *tool.Registry, operation string) *tool.Operation {
	t.Helper()
	op, ok := r.Find("workspace", operation)
	require.True(t, ok)
	return op
}

func call(id, operation, parameters string) tool.Call {
	return tool.Call{ID: id, Tool: "workspace", Operation: operation, Parameters: []byte(parameters)}
}

// The seed's table: what each operation asks for.
func TestWhatIsAsked(t *testing.T) {
	t.Parallel()
	_, registry := newTool(t)
	for operation, want := range map[string]approval.Mode{
		"save_workspace_name": approval.Ask, "reset_workspace": approval.AskAlways, "publish_changes": approval.ByHandoff,
	} {
		require.Equal(t, want, approval.Resolve(*find(t, registry, operation)), operation)
	}
}

func TestSaveAndReset(t *testing.T) {
	t.Parallel()
	store, registry := newTool(t)
	save, reset := find(t, registry, "save_workspace_name"), find(t, registry, "reset_workspace")
	state, err := store.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, workspace.State{Draft: workspace.Draft{Name: workspace.DefaultName}}, state)
	require.False(t, state.Published())

	_, err = save.Run(t.Context(), call("1", "save_workspace_name", `{"name":"Blue"}`))
	require.NoError(t, err)
	state, err = store.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, workspace.Draft{Name: "Blue", Revision: "1"}, state.Draft)

	before, err := reset.Contents(t.Context(), call("2", "reset_workspace", `{}`))
	require.NoError(t, err)
	_, err = save.Run(t.Context(), call("3", "save_workspace_name", `{"name":"Blue"}`))
	require.NoError(t, err)
	after, err := reset.Contents(t.Context(), call("2", "reset_workspace", `{}`))
	require.NoError(t, err)
	require.NotEqual(t, before, after, "a yes to a reset is for what was there")

	_, err = reset.Run(t.Context(), call("2", "reset_workspace", `{}`))
	require.NoError(t, err)
	state, err = store.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, workspace.DefaultName, state.Draft.Name)

	outcome, err := reset.Check(t.Context(), call("2", "reset_workspace", `{}`))
	require.NoError(t, err)
	require.Equal(t, tool.OutcomeDone, outcome.Happened)
	outcome, err = save.Check(t.Context(), call("3", "save_workspace_name", `{"name":"Blue"}`))
	require.NoError(t, err)
	require.Equal(t, tool.OutcomeUnknown, outcome.Happened, "another call has written since")
}

func TestNames(t *testing.T) {
	t.Parallel()
	_, registry := newTool(t)
	for parameters, good := range map[string]bool{
		`{"name":"Blue"}`: true, `{"name":""}`: false, `{"name":"  "}`: false, `{}`: false, `{"name":"x","code":"246810"}`: false,
		`{"name":"` + strings.Repeat("x", 81) + `"}`: false,
	} {
		_, err := registry.Check("workspace", "save_workspace_name", []byte(parameters))
		require.Equal(t, good, err == nil, parameters)
	}
	_, err := registry.Check("workspace", "publish_changes", []byte(`{"verification_code":"246810"}`))
	require.Error(t, err, "an agent has no way to hand in the code")
}

func TestPublish(t *testing.T) {
	t.Parallel()
	store, registry := newTool(t)
	publish := find(t, registry, "publish_changes")
	require.Nil(t, publish.Run, "nothing that an agent can call publishes")
	expect := publish.Handoff.Expect
	require.True(t, expect.Observable)
	done := func() bool {
		ok, err := expect.Check(t.Context(), call("9", "publish_changes", `{}`))
		require.NoError(t, err)
		return ok
	}
	_, err := find(t, registry, "save_workspace_name").Run(t.Context(), call("1", "save_workspace_name", `{"name":"Blue"}`))
	require.NoError(t, err)
	for _, wrong := range []string{"", "246811", "24681", "2468100"} {
		require.ErrorIs(t, workspace.Publish(t.Context(), store, wrong, "1", "ada", noon), workspace.ErrCode)
	}
	require.ErrorIs(t, workspace.Publish(t.Context(), store, "246810", "0", "ada", noon), workspace.ErrChanged)
	require.False(t, done())
	require.NoError(t, workspace.Publish(t.Context(), store, " 246810\n", "1", "ada", noon))
	require.True(t, done())
	require.NoError(t, workspace.Publish(t.Context(), store, "246810", "1", "bob", noon.Add(time.Hour)))
	state, err := store.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, &workspace.Publication{Name: "Blue", Revision: "1", By: "ada", At: noon}, state.Last, "the first stands")

	_, err = find(t, registry, "reset_workspace").Run(t.Context(), call("2", "reset_workspace", `{}`))
	require.NoError(t, err)
	require.False(t, done(), "what was published is not what is there now")
}

// A state that cannot be read is never a success, and never a workspace without settings.
func TestBrokenState(t *testing.T) {
	t.Parallel()
	bucket, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
	require.NoError(t, err)
	store := workspace.NewStore(bucket)
	require.NoError(t, bucket.WriteAll(t.Context(), "workspace/published.json", []byte("{"), nil))
	_, err = store.Read(t.Context())
	require.ErrorContains(t, err, "read the workspace")
	expect := workspace.New(store).Operations[2].Handoff.Expect
	ok, err := expect.Check(t.Context(), tool.Call{})
	require.Error(t, err)
	require.False(t, ok)
	require.Error(t, workspace.Publish(t.Context(), store, "246810", "", "ada", noon))
	require.NoError(t, bucket.Close())
	require.Error(t, store.WriteDraft(t.Context(), workspace.Draft{}))
}
