package doctor_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/doctor"
)

func TestRunKeepsTheOrderAndWhatWasFound(t *testing.T) {
	t.Parallel()
	first := make(chan struct{})
	report := doctor.Run(t.Context(), doctor.Params{
		Timeout: 100 * time.Millisecond,
		Areas: []doctor.Area{
			{Name: "waits for the other", Check: func(_ context.Context, n *doctor.Notes) {
				<-first
				n.OK("a", "side by side")
			}},
			{Name: "goes first", Check: func(_ context.Context, n *doctor.Notes) {
				n.Warn("b", "mend it", "seen")
				close(first)
			}},
			{Name: "ends with its time", Check: func(ctx context.Context, n *doctor.Notes) {
				n.OK("c", "before")
				<-ctx.Done()
				n.Fail("d", "wait", "%v", ctx.Err())
			}},
			{Name: "does not end", Check: func(_ context.Context, n *doctor.Notes) {
				n.OK("e", "before")
				select {}
			}},
		},
	})
	var lines []string
	for _, f := range report.Findings {
		lines = append(lines, f.Area+": "+string(f.Status)+" "+f.Check)
	}
	require.Equal(t, []string{
		"waits for the other: ok a", "goes first: warn b", "ends with its time: ok c", "ends with its time: fail d",
		"does not end: ok e", "does not end: fail time",
	}, lines)
	require.Equal(t, doctor.Fail, report.Status)
	require.Equal(t, 2, report.Count(doctor.Fail))
}

func TestStatusIsTheWorst(t *testing.T) {
	t.Parallel()
	for want, check := range map[doctor.Status]func(*doctor.Notes){
		doctor.OK:   func(n *doctor.Notes) { n.OK("a", ""); n.Off("b", "") },
		doctor.Warn: func(n *doctor.Notes) { n.OK("a", ""); n.Warn("b", "m", "") },
		doctor.Fail: func(n *doctor.Notes) { n.Fail("a", "m", ""); n.Warn("b", "m", "") },
		doctor.Off:  func(n *doctor.Notes) { n.Off("a", "") },
	} {
		report := doctor.Run(t.Context(), doctor.Params{Areas: []doctor.Area{
			{Name: "x", Check: func(_ context.Context, n *doctor.Notes) { check(n) }},
		}})
		require.Equal(t, want, report.Status)
	}
	empty := doctor.Run(t.Context(), doctor.Params{})
	encoded, err := json.Marshal(empty)
	require.NoError(t, err)
	require.JSONEq(t, `{"status":"off","findings":[]}`, string(encoded))
}

func TestFindingsAreOneShortLineWithoutSecrets(t *testing.T) {
	t.Parallel()
	report := doctor.Run(t.Context(), doctor.Params{
		Secrets: []string{"hunter2", "hunter2-and-more", "x", ""},
		Areas: []doctor.Area{{Name: "x", Check: func(_ context.Context, n *doctor.Notes) {
			n.Fail("a", "look\nfor hunter2-and-more", "<html>\r\n<body> hunter2 \xff x %s", strings.Repeat("é", 5000))
		}}},
	})
	f := report.Findings[0]
	require.Equal(t, "look for <secret>", f.Mend)
	require.True(t, strings.HasPrefix(f.Detail, "<html> <body> <secret> ? x éé"), f.Detail)
	require.Len(t, []rune(f.Detail), 601)
}

func TestNames(t *testing.T) {
	t.Parallel()
	require.Len(t, doctor.Names(), 9)
	require.Equal(t, doctor.AreaConfiguration, doctor.Names()[0])
}
