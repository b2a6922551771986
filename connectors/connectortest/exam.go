package connectortest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// patience bounds one question of the exam.
const patience = 30 * time.Second

// question of the exam: nil is a pass.
type question struct {
	part Part
	name string
	ask  func(ctx context.Context, c *sitting) error
}

// sitting is one candidate before one question.
type sitting struct {
	*Candidate
	subject Subject
	desk    *Desk
}

// Finding is the outcome of one question; a nil Err is a pass.
type Finding struct {
	Part     Part
	Question string
	Err      error
	// Lacking is why the question was not asked.
	Lacking string
}

// Run sits the exam as subtests.
func Run(t *testing.T, subject Subject) {
	t.Helper()
	for _, q := range questions() {
		t.Run(string(q.part)+"/"+strings.ReplaceAll(q.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			switch f := subject.ask(t, q); {
			case f.Err != nil:
				t.Error(f.Err)
			case f.Lacking != "":
				t.Logf("%s has no %s: %s", subject.Name, q.part, f.Lacking)
			}
		})
	}
}

// Examine is Run with the findings as values; for tests of the exam itself.
func Examine(t testing.TB, subject Subject) []Finding {
	t.Helper()
	var findings []Finding
	for _, q := range questions() {
		findings = append(findings, subject.ask(t, q))
	}
	return findings
}

func (s Subject) ask(t testing.TB, q question) Finding {
	f := Finding{Part: q.part, Question: q.name}
	if reason, lacks := s.Lacks[q.part]; lacks {
		f.Lacking = reason
		if reason == "" {
			f.Err = errors.New("a part is lacking without a reason")
		}
		return f
	}
	desk := &Desk{}
	c := &sitting{Candidate: s.Setup(t, desk), subject: s, desk: desk}
	if gaps := s.gaps(c.Candidate); len(gaps) > 0 {
		f.Err = errors.New("the subject is incomplete: " + strings.Join(gaps, "; "))
		return f
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if f.Err = q.ask(ctx, c); f.Err == nil {
		f.Err = c.leaks("the log", c.log())
	}
	return f
}

func (c *sitting) log() string {
	if c.Log == nil {
		return ""
	}
	return c.Log()
}

// leaks fails if text holds a secret.
func (c *sitting) leaks(where, text string) error {
	for _, secret := range c.Secrets {
		if strings.Contains(text, secret) {
			return fmt.Errorf("%s holds a secret", where)
		}
	}
	return nil
}

// temporary fails unless err is a *chat.Error that is worth a retry.
func (c *sitting) classified(err error, temporary bool) error {
	if err == nil {
		return errors.New("no error although the platform failed")
	}
	if leak := c.leaks("the error", fmt.Sprintf("%v %+v %#v", err, err, err)); leak != nil {
		return leak
	}
	var classified *chat.Error
	switch {
	case !errors.As(err, &classified):
		return fmt.Errorf("not a *chat.Error: %T", err)
	case classified.Temporary != temporary:
		return fmt.Errorf("temporary is %v, want %v: %w", classified.Temporary, temporary, err)
	case classified.Op == "":
		return fmt.Errorf("the error does not say what was being done: %w", err)
	}
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		if leak := c.leaks("a wrapped error", fmt.Sprintf("%v %+v %#v", cause, cause, cause)); leak != nil {
			return leak
		}
	}
	return nil
}

// card is a question for the candidate's thread.
func (c *sitting) card() chat.Card {
	return chat.Card{
		Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X",
		Thread:     c.Thread,
		Text:       "⚠️ Delete the file at *_a\\_b_* [x](http://attacker.test) <b>&amp; on disk local? Reply 'Yes' to confirm.",
		Buttons: []chat.Button{
			{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo},
		},
		Expires: time.Now().Add(2 * time.Minute),
	}
}
