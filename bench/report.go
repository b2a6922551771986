package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"go.temporal.io/api/common/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/countersignhq/countersign/contract"
)

// report is what a run says.
type report struct {
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Machine  machine   `json:"machine"`
	// Redis is redis-server or embedded.
	Redis      string       `json:"redis"`
	Latency    *latency     `json:"latency,omitempty"`
	Throughput []throughput `json:"throughput,omitempty"`
	Histories  []recorded   `json:"histories,omitempty"`
	Memory     *memory      `json:"memory,omitempty"`
	Webhooks   *webhooks    `json:"webhooks,omitempty"`
	Page       *pageReport  `json:"page,omitempty"`
	Large      *large       `json:"large,omitempty"`
}

// machine is where it ran, and how busy it was.
type machine struct {
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
	OS   string `json:"os"`
	// Load is /proc/loadavg before the first server was started: what else the machine was doing.
	Load string `json:"load_before,omitempty"`
	CPU  string `json:"cpu,omitempty"`
}

func newReport() *report {
	m := machine{CPUs: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	m.Load = loadNow()
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, rest, _ := strings.Cut(string(info), "model name")
		line, _, _ := strings.Cut(rest, "\n")
		m.CPU = strings.TrimSpace(strings.TrimLeft(line, "\t :"))
	}
	return &report{Started: time.Now().UTC(), Machine: m}
}

// loadNow is /proc/loadavg: over 1, 5 and 15 minutes; empty where there is none.
func loadNow() string {
	load, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(load)); err == nil && len(fields) >= 3 {
		return strings.Join(fields[:3], " ")
	}
	return ""
}

// table prints lines of cells, the first of each to the left.
func table(out io.Writer, title string, lines [][]string) {
	fmt.Fprintf(out, "\n%s\n", title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(w, "  "+strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a terminal that is gone
}

func rows(lines [][]string, rows []row) [][]string {
	for _, r := range rows {
		lines = append(lines, []string{r.Name, fmt.Sprint(r.N), fmt.Sprintf("%.1f", r.P50), fmt.Sprintf("%.1f", r.P99)})
	}
	return lines
}

func (l *latency) print(out io.Writer) {
	head := [][]string{{"one call at a time, milliseconds", "n", "p50", "p99"}}
	table(out, "LATENCY", rows(head, l.Rows))
	lines := [][]string{{"ratio, side by side", "of medians", "median of pairs", "aim"}}
	for _, r := range l.Ratios {
		aim := "–"
		if r.Aim > 0 {
			aim = fmt.Sprintf("≤ %.2f", r.Aim)
		}
		lines = append(lines, []string{r.Name, fmt.Sprintf("%.2f", r.Ratio), fmt.Sprintf("%.2f", r.Pairs), aim})
	}
	table(out, "RATIOS", lines)
	table(out, "WHERE THE TIME GOES: text \"yes\" → file gone", rows(head, l.Stages))
	table(out, "THE SAME FOR THE MINIMAL WORKFLOW: signal → result", rows(head, l.Minimal))
}

func printThroughput(out io.Writer, all []throughput) {
	lines := [][]string{{"in flight", "ours/s", "minimal/s", "ratio", "rounds × calls", "ours p50 ms", "p99", "202/503", "CPU ms a call: worker", "Temporal", "Temporal, minimal"}}
	for _, t := range all {
		lines = append(lines, []string{
			fmt.Sprint(t.InFlight), fmt.Sprintf("%.1f", median(t.Ours)), fmt.Sprintf("%.1f", median(t.Minimal)),
			fmt.Sprintf("%.2f", t.Ratio), fmt.Sprintf("%d × %d", len(t.Ours), t.Calls), fmt.Sprintf("%.0f", t.P50), fmt.Sprintf("%.0f", t.P99), fmt.Sprintf("%d/%d", t.Kept, t.TurnedAway),
			fmt.Sprintf("%.1f", t.CPU.Worker), fmt.Sprintf("%.1f", t.CPU.Temporal), fmt.Sprintf("%.1f", t.CPU.TemporalMinimal),
		})
	}
	table(out, "THROUGHPUT: start → decided → completed, medians of the rounds", lines)
}

func printHistories(out io.Writer, all []recorded) {
	lines := [][]string{{"one approved call: events/workflow tasks", "n", "in all", "most", "invocation", "conversation", "turn", "besides: inbox", "aim"}}
	for _, r := range all {
		aim := "–"
		if r.AimEvents > 0 {
			aim = fmt.Sprintf("≤ %d/%d", r.AimEvents, r.AimTasks)
		}
		lines = append(lines, []string{
			r.Name, fmt.Sprint(r.N), r.Counted.String(), r.Most.String(), r.Invocation.String(), r.Conversation.String(),
			r.Turn.String(), r.Inbox.String(), aim,
		})
	}
	table(out, "HISTORIES", lines)
}

// String is events/tasks.
func (s shape) String() string {
	if s == (shape{}) {
		return "–"
	}
	return fmt.Sprintf("%d/%d", s.Events, s.Tasks)
}

func (m *memory) print(out io.Writer) {
	lines := [][]string{{"process", "idle MB", fmt.Sprintf("with %d pending", m.Pending), "kB each", "CPU % while waiting"}}
	for _, p := range m.Processes {
		lines = append(lines, []string{
			p.Name, fmt.Sprintf("%.0f", p.Idle), fmt.Sprintf("%.0f", p.Full), fmt.Sprintf("%.1f", p.PerOne), fmt.Sprintf("%.1f", p.CPU),
		})
	}
	table(out, "MEMORY: resident, without and with questions pending", lines)
	table(out, "WITH ALL OF THEM PENDING", rows([][]string{
		{"asked a second, 16 at a time", "", fmt.Sprintf("%.1f", m.Asked), ""},
		{"GET /api/approvals?status=pending, ms", "1", fmt.Sprintf("%.0f", m.List), ""},
		{"the same once more, ms", "1", fmt.Sprintf("%.0f", m.ListAgain), ""},
		{"the inbox's list, kB", "", fmt.Sprintf("%.0f", float64(m.InboxBytes)/1000), ""},
		{"milliseconds", "n", "p50", "p99"},
	}, []row{m.Before, m.Answer}))
}

func (r *report) footer(out io.Writer) {
	fmt.Fprintf(out, "\n%d CPUs (%s), %s, %s; load before the start %s; Redis: %s; %s\n",
		r.Machine.CPUs, cmp.Or(r.Machine.CPU, "model unknown"), r.Machine.OS, r.Machine.Go, cmp.Or(r.Machine.Load, "unknown"), r.Redis,
		r.Finished.Sub(r.Started).Round(time.Second))
}

// inboxQuery asks the inbox for its list, as it is sent.
func inboxQuery() *workflowservice.QueryWorkflowRequest {
	return &workflowservice.QueryWorkflowRequest{
		Namespace: client.DefaultNamespace, Execution: &common.WorkflowExecution{WorkflowId: contract.InboxID},
		Query: &querypb.WorkflowQuery{QueryType: contract.QueryPending},
	}
}
