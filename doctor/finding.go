package doctor

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Status of a finding.
type Status string

// The statuses. Only Fail makes a configuration unfit.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	// Off is what is not configured, or cannot be checked before something else is mended.
	Off Status = "off"
)

// Finding is what one check has found.
type Finding struct {
	Area   string `json:"area"`
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Detail is what was seen; it holds no secret and no line break.
	Detail string `json:"detail,omitempty"`
	// Mend is what to do about it; every Warn and Fail has one.
	Mend string `json:"mend,omitempty"`
}

// Report is all that was found, by area in their order.
type Report struct {
	Status   Status    `json:"status"`
	Findings []Finding `json:"findings"`
}

// Count of the findings with that status.
func (r Report) Count(status Status) (n int) {
	for _, f := range r.Findings {
		if f.Status == status {
			n++
		}
	}
	return n
}

func (r Report) worst() Status {
	for _, status := range []Status{Fail, Warn, OK} {
		if r.Count(status) > 0 {
			return status
		}
	}
	return Off
}

// maxText of a detail or a mend, in runes: what a platform says may be long.
const maxText = 600

// Notes take down what an area finds. Its methods may be called from several goroutines.
type Notes struct {
	area  string
	scrub *strings.Replacer

	mu       sync.Mutex
	findings []Finding
}

// OK notes what is as it should be.
func (n *Notes) OK(check, format string, args ...any) {
	n.add(check, OK, "", fmt.Sprintf(format, args...))
}

// Off notes what is not configured, or not checked.
func (n *Notes) Off(check, format string, args ...any) {
	n.add(check, Off, "", fmt.Sprintf(format, args...))
}

// Warn notes what works, but perhaps not as somebody expects.
func (n *Notes) Warn(check, mend, format string, args ...any) {
	n.add(check, Warn, mend, fmt.Sprintf(format, args...))
}

// Fail notes what does not work.
func (n *Notes) Fail(check, mend, format string, args ...any) {
	n.add(check, Fail, mend, fmt.Sprintf(format, args...))
}

// usable tells whether a connector can be looked at, and notes why not: it is switched off, or not
// configured, which begins with variable; or err says why it could not be made.
func (n *Notes) usable(connector, variable string, enabled, configured bool, err error) bool {
	switch {
	case !enabled && configured:
		n.Off(connector, "switched off (%s.enabled)", connector)
	case !enabled:
		n.Off(connector, "not configured (%s)", variable)
	case err != nil:
		n.Fail("settings", "correct them under "+connector, "%v", err)
	default:
		return true
	}
	return false
}

func (n *Notes) add(check string, status Status, mend, detail string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.findings = append(n.findings, Finding{
		Area: n.area, Check: check, Status: status, Detail: n.plain(detail), Mend: n.plain(mend),
	})
}

// all are the findings so far.
func (n *Notes) all() []Finding {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.findings)
}

// plain is one line of bounded length without secrets.
func (n *Notes) plain(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(n.scrub.Replace(text), "?")), " ")
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText]) + "…"
	}
	return text
}

// scrubber takes secrets out of texts: the connectors do so themselves, this is the
// net under everything else. Very short ones are words that every text holds.
func scrubber(secrets []string) *strings.Replacer {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // a longer one may begin with a shorter
	var pairs []string
	for _, secret := range secrets {
		if len(secret) >= 6 {
			pairs = append(pairs, secret, "<secret>")
		}
	}
	return strings.NewReplacer(pairs...)
}
