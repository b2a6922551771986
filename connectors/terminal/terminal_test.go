package terminal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/gateway/delivered"
)

type disk map[string]string

func (d disk) Open(_ context.Context, path string) (io.ReadCloser, error) {
	content, ok := d[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(content)), nil
}

type parts map[string]bool

func (p parts) Done(part string) bool { return p[part] }
func (p parts) Mark(part string)      { p[part] = true }

func TestFilesOutliveTheirOutboundFolder(t *testing.T) {
	t.Parallel()
	outbound := disk{"outbound/u/a.csv": "1;2", "outbound/u/b.csv": "3;4"}
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	store := delivered.New(bucket)
	sender := New(Params{Outbound: outbound, Store: store})
	require.Equal(t, chat.Traits{Name: "terminal", Asks: false, DeletesOutbound: true}, sender.Traits())
	reply := chat.Reply{UUID: "u", Text: "here", Files: []chat.File{
		{Name: "a.csv", Path: "outbound/u/a.csv"}, {Name: "big.iso", Problem: "larger than 20 MB"}, {Name: "b.csv", Path: "outbound/u/b.csv"},
	}}
	progress := parts{}
	require.NoError(t, sender.Reply(t.Context(), reply, progress))
	clear(outbound)
	for name, want := range map[string]string{"a.csv": "1;2", "b.csv": "3;4"} {
		content, size, err := store.Open(t.Context(), chat.Terminal, "u", name)
		require.NoError(t, err)
		got, err := io.ReadAll(content)
		require.NoError(t, errors.Join(err, content.Close()))
		require.Equal(t, want, string(got))
		require.EqualValues(t, 3, size)
	}
	require.NoError(t, sender.Reply(t.Context(), reply, progress), "a retry does not need them again")

	err := sender.Reply(t.Context(), chat.Reply{UUID: "v", Files: []chat.File{{Name: "gone", Path: "outbound/v/gone"}}}, parts{})
	var failure *chat.Error
	require.ErrorAs(t, err, &failure)
	require.False(t, failure.Temporary)
}

func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	_, err := New(Params{}).Post(t.Context(), chat.Card{})
	var failure *chat.Error
	require.ErrorAs(t, err, &failure)
	require.False(t, failure.Temporary)
}
