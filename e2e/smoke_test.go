package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

func TestSmoke(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})
	w.Write(t, "reports/x.csv", "1")
	id := w.API.Invoke(t, harness.File("delete", "reports/x.csv").In("web", "s1"))
	q := w.API.Question(t, id)
	require.Equal(t, "⚠️ Delete the file at reports/x.csv on disk local? Reply 'Yes' to confirm.", q.Prompt)
	require.Equal(t, 200, w.API.Decide(t, id, harness.Say{Decision: "allow"}).Status)
	require.Equal(t, "completed", w.API.Result(t, id).Status)
	require.False(t, w.Exists("reports/x.csv"))
	require.Len(t, w.Audit(t, id), 1)
}
