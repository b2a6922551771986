package doctor

import (
	"context"
	"strings"
	"sync"
	"time"
)

// Timeout is how long an area may take where Params names no other.
const Timeout = 20 * time.Second

// grace is how long an area whose time is over may take to say so itself.
const grace = 2 * time.Second

// Area is a set of checks that belong together.
type Area struct {
	Name string
	// Check looks, and notes what it finds; ctx ends when its time is over.
	Check func(ctx context.Context, notes *Notes)
}

// Params of Run.
type Params struct {
	Areas []Area
	// Timeout of each area; optional.
	Timeout time.Duration
	// Secrets that may appear in no finding.
	Secrets []string
}

// Run runs the areas side by side and returns when all have ended, or their time is over.
func Run(ctx context.Context, params Params) Report {
	limit := params.Timeout
	if limit <= 0 {
		limit = Timeout
	}
	scrub := scrubber(params.Secrets)
	found := make([][]Finding, len(params.Areas))
	var all sync.WaitGroup
	for i, area := range params.Areas {
		all.Go(func() { found[i] = runOne(ctx, area, scrub, limit) })
	}
	all.Wait()
	report := Report{Findings: []Finding{}}
	for _, findings := range found {
		report.Findings = append(report.Findings, findings...)
	}
	report.Status = report.worst()
	return report
}

// runOne keeps what was found before the time was over, also of an area that does not end.
func runOne(ctx context.Context, area Area, scrub *strings.Replacer, limit time.Duration) []Finding {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	notes := &Notes{area: area.Name, scrub: scrub}
	done := make(chan struct{})
	go func() {
		defer close(done)
		area.Check(ctx, notes)
	}()
	patience := time.NewTimer(limit + grace)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
		notes.Fail("time", "look for what does not answer: a firewall that drops packets, or a name that leads elsewhere",
			"it did not end within %s", limit)
	}
	return notes.all()
}

// The areas, in the order of a report.
const (
	AreaConfiguration = "configuration"
	AreaPeople        = "people"
	AreaTemporal      = "temporal"
	AreaRedis         = "redis"
	AreaDisks         = "disks"
	AreaGateway       = "gateway"
	AreaTelegram      = "telegram"
	AreaSlack         = "slack"
	AreaEmail         = "email"
)

// Names of all areas, in the order of a report.
func Names() []string {
	return []string{
		AreaConfiguration, AreaPeople, AreaTemporal, AreaRedis, AreaDisks, AreaGateway, AreaTelegram, AreaSlack, AreaEmail,
	}
}
