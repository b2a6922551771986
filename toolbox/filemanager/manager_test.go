package filemanager_test

import (
	"context"
	"encoding/json"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/internal/testtools"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/toolbox/filemanager"
)

// conversations are the messages of each conversation, newest first.
type conversations map[string][]string

func (c conversations) Messages(_ context.Context, connector, threadKey string) ([]string, error) {
	return c[connector+":"+threadKey], nil
}

// bench is the tool on real disks, the files of which are local and other.
type bench struct {
	tool     tool.Tool
	registry *tool.Registry
	store    *attachments.Store
	// local is the attachments disk, as an agent sees it.
	local *disks.Disk
	// program is the same disk without protection.
	program *disks.Disk
}

type setup struct {
	url         string
	maxDownload int64
	allowAddr   func(netip.Addr) bool
	timeout     time.Duration
}

func newBench(t *testing.T, s setup) *bench {
	t.Helper()
	if s.url == "" {
		s.url = "file://" + t.TempDir()
	}
	all, err := disks.Open(t.Context(), disks.Params{
		URLs:      map[string]string{"local": s.url, "other": "mem://", "private": "mem://"},
		Allowed:   []string{"local", "other"},
		Protected: map[string][]string{"local": {"inbound", "outbound"}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	b := &bench{}
	b.local, err = all.Guarded("local")
	require.NoError(t, err)
	b.program, err = all.Unguarded("local")
	require.NoError(t, err)
	b.store, err = attachments.New(attachments.Params{Disk: b.program})
	require.NoError(t, err)
	params := filemanager.Params{
		Disks: all, Attachments: b.store, MaxDownload: s.maxDownload, AllowAddr: s.allowAddr,
		Conversation: conversations{"telegram:1001": {"m3", "m2", "m1"}, "telegram:2002": {"n1"}},
	}
	b.tool = filemanager.New(filemanager.WithTimeout(params, s.timeout))
	var warnings []tool.Warning
	b.registry, warnings, err = tool.NewRegistry(b.tool)
	require.NoError(t, err)
	require.Empty(t, warnings)
	return b
}

// onEachKind runs a test on a folder, in memory and on a real S3 server.
func onEachKind(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	for name, address := range map[string]func(t *testing.T) string{
		"file": func(t *testing.T) string { return "file://" + t.TempDir() },
		"mem":  func(*testing.T) string { return "mem://" },
		"s3":   func(t *testing.T) string { return testtools.S3(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newBench(t, setup{url: address(t)}))
		})
	}
}

type values = map[string]any

// call is a call of message m3 in the first conversation, its parameters checked by the schema.
func (b *bench) call(t *testing.T, operation string, parameters values) (*tool.Operation, tool.Call) {
	t.Helper()
	raw, err := json.Marshal(parameters)
	require.NoError(t, err)
	canonical, err := b.registry.Check("file_manager", operation, raw)
	require.NoError(t, err)
	op, ok := b.registry.Find("file_manager", operation)
	require.True(t, ok)
	return op, tool.Call{
		ID: "01J9", Tool: "file_manager", Operation: operation, Parameters: canonical,
		Connector: "telegram", ThreadKey: "1001", MessageUUID: "m3", Requester: "ada",
	}
}

// do makes a call that is available, and returns its output as JSON has it.
func (b *bench) do(t *testing.T, operation string, parameters values) values {
	t.Helper()
	op, call := b.call(t, operation, parameters)
	require.NoError(t, op.Available(t.Context(), call))
	output, err := op.Run(t.Context(), call)
	require.NoError(t, err)
	return plain(t, output)
}

func plain(t *testing.T, output any) values {
	t.Helper()
	raw, err := json.Marshal(output)
	require.NoError(t, err)
	var result values
	require.NoError(t, json.Unmarshal(raw, &result))
	return result
}

// refused makes sure that a call is unavailable, would fail if it were run all
// the same, and has no contents; it returns the reason.
func (b *bench) refused(t *testing.T, operation string, parameters values) string {
	t.Helper()
	op, call := b.call(t, operation, parameters)
	err := op.Available(t.Context(), call)
	var unavailable *tool.UnavailableError
	require.ErrorAs(t, err, &unavailable, "%s %v", operation, parameters)
	require.False(t, strings.ContainsFunc(unavailable.Reason, disks.Invisible), unavailable.Reason)
	_, err = op.Run(t.Context(), call)
	require.Error(t, err, "%s %v", operation, parameters)
	return unavailable.Reason
}

func (b *bench) outcome(t *testing.T, operation string, parameters values) tool.Outcome {
	t.Helper()
	op, call := b.call(t, operation, parameters)
	outcome, err := op.Check(t.Context(), call)
	require.NoError(t, err)
	return outcome
}

func (b *bench) contents(t *testing.T, operation string, parameters values) map[string]string {
	t.Helper()
	op, call := b.call(t, operation, parameters)
	contents, err := op.Contents(t.Context(), call)
	require.NoError(t, err)
	return contents
}

func write(t *testing.T, d *disks.Disk, name, content string) {
	t.Helper()
	require.NoError(t, d.Write(t.Context(), name, strings.NewReader(content)))
}

func read(t *testing.T, d *disks.Disk, name string) string {
	t.Helper()
	content, _, err := d.Reader(t.Context(), name)
	require.NoError(t, err)
	defer content.Close()
	all, err := io.ReadAll(content)
	require.NoError(t, err)
	return string(all)
}

func exists(t *testing.T, d *disks.Disk, name string) bool {
	t.Helper()
	there, err := d.Exists(t.Context(), name)
	require.NoError(t, err)
	return there
}
