//go:build unix

package testtools_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/countersignhq/countersign/internal/testtools"
)

func TestS3KeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	first, second := testtools.S3(t), testtools.S3(t)
	require.NotEqual(t, first, second)

	bucket, err := blob.OpenBucket(t.Context(), first)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	require.NoError(t, bucket.WriteAll(t.Context(), "a/b.txt", []byte("hello"), nil))
	content, err := bucket.ReadAll(t.Context(), "a/b.txt")
	require.NoError(t, err)
	require.Equal(t, "hello", string(content))

	other, err := blob.OpenBucket(t.Context(), second)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	exists, err := other.Exists(t.Context(), "a/b.txt")
	require.NoError(t, err)
	require.False(t, exists)
}
