package listing_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/fileblob"

	"github.com/countersignhq/countersign/internal/listing"
)

// Files get their names all the time while they are listed.
func TestObjectsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	bucket, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	const enough = 3000 // a listing that is not begun again fails within some hundred
	written := make(chan error, 2*enough)
	for writer := range 2 {
		go func() {
			for n := range enough {
				written <- bucket.WriteAll(t.Context(), fmt.Sprintf("feed/%d-%d.json", writer, n%20), []byte("{}"), nil)
			}
		}()
	}
	for n := range 2 * enough {
		require.NoError(t, <-written)
		if n%4 == 0 {
			_, err := listing.Objects(t.Context(), bucket, "feed/")
			require.NoError(t, err)
		}
	}
	objects, err := listing.Objects(t.Context(), bucket, "none/")
	require.NoError(t, err)
	require.Empty(t, objects)
}
