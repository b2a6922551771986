package connectortest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// retryAfter is announced by RateLimited in the exam.
const retryAfter = 7 * time.Second

// temporaryFaults are all the ways in which a platform fails without meaning it.
func temporaryFaults() map[string]Fault {
	return map[string]Fault{
		"connection refused":   {Kind: Refused},
		"answer lost":          {Kind: Lost},
		"answer cut":           {Kind: Cut},
		"page of a bad gate":   HTML(http.StatusBadGateway),
		"page with status 200": HTML(http.StatusOK),
		"server error":         {Kind: Answer, Status: http.StatusInternalServerError, Type: "text/plain", Body: "oops"},
		"rate limit":           {Kind: RateLimited, RetryAfter: retryAfter},
	}
}

func questions() []question {
	list := []question{
		{Replying, "the traits are those of the contract", traits},
		{Posting, "the question is shown as it is", postShows},
		{Posting, "a stalled platform does not hold the caller", postStalled},
		{Posting, "a thread that is gone is final", postGone},
		{Editing, "a closed question says so and loses its buttons", editCloses},
		{Editing, "an unchanged or vanished question is no error", editNothing},
		{Editing, "a failing edit is temporary", editFails},
		{Replying, "a text is shown once over retries", replyOnce},
		{Replying, "a failing reply is temporary and resumes", replyFails},
		{Replying, "a thread that is gone is final", replyGone},
		{Attaching, "files arrive whole", attachWhole},
		{Attaching, "a retry after a lost file does not repeat the text", attachResumes},
	}
	for name, fault := range temporaryFaults() {
		list = append(list, question{Posting, name + " is temporary", func(ctx context.Context, c *sitting) error {
			return postFails(ctx, c, fault)
		}})
	}
	list = append(list, incoming()...)
	slices.SortStableFunc(list, func(a, b question) int { return strings.Compare(string(a.part)+a.name, string(b.part)+b.name) })
	return list
}

func traits(_ context.Context, c *sitting) error {
	asks := map[string]bool{chat.Telegram: true, chat.Slack: true, chat.Email: true, chat.Web: true}
	want := chat.Traits{Name: c.subject.Name, Asks: asks[c.subject.Name], DeletesOutbound: c.subject.Name != chat.API}
	if got := c.Sender.Traits(); got != want {
		return fmt.Errorf("traits are %+v, CONTRACT §8 says %+v", got, want)
	}
	return nil
}

func postShows(ctx context.Context, c *sitting) error {
	card := c.card()
	receipt, err := c.Sender.Post(ctx, card)
	if err != nil {
		return err
	}
	if receipt.Ref == "" {
		return errors.New("the receipt is empty")
	}
	shown := c.Shown()
	if len(shown) != 1 || !strings.Contains(shown[0].Text, card.Text) {
		return fmt.Errorf("shown is %+v, want the text %q", shown, card.Text)
	}
	if _, none := c.subject.Lacks[Pressing]; !none && !slices.Equal(shown[0].Buttons, []string{"Yes", "No"}) {
		return fmt.Errorf("buttons are %v", shown[0].Buttons)
	}
	return nil
}

func postFails(ctx context.Context, c *sitting, fault Fault) error {
	c.Break(fault)
	_, err := c.Sender.Post(ctx, c.card())
	if err := c.classified(err, true); err != nil {
		return err
	}
	var classified *chat.Error
	if errors.As(err, &classified); fault.Kind == RateLimited && classified.RetryAfter < retryAfter {
		return fmt.Errorf("RetryAfter is %v, the platform said %v", classified.RetryAfter, retryAfter)
	}
	if _, err := c.Sender.Post(ctx, c.card()); err != nil {
		return fmt.Errorf("the retry failed: %w", err)
	}
	return nil
}

func postStalled(ctx context.Context, c *sitting) error {
	c.Break(Fault{Kind: Stalled})
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := c.Sender.Post(short, c.card())
	if took := time.Since(start); took > 10*time.Second {
		return fmt.Errorf("the caller's deadline was passed by %v", took)
	}
	return c.classified(err, true)
}

func postGone(ctx context.Context, c *sitting) error {
	c.Close()
	_, err := c.Sender.Post(ctx, c.card())
	return c.classified(err, false)
}

func editCloses(ctx context.Context, c *sitting) error {
	card := c.card()
	receipt, err := c.Sender.Post(ctx, card)
	if err != nil {
		return err
	}
	card.Closed = "✅ Approved by ada at 12:03:04 UTC."
	if err := c.Sender.Edit(ctx, receipt, card); err != nil {
		return err
	}
	shown := c.Shown()
	if len(shown) != 1 || !strings.Contains(shown[0].Text, card.Text) || !strings.Contains(shown[0].Text, card.Closed) {
		return fmt.Errorf("shown is %+v, want the question and %q", shown, card.Closed)
	}
	if len(shown[0].Buttons) > 0 {
		return fmt.Errorf("buttons are still there: %v", shown[0].Buttons)
	}
	return nil
}

func editNothing(ctx context.Context, c *sitting) error {
	card := c.card()
	receipt, err := c.Sender.Post(ctx, card)
	if err != nil {
		return err
	}
	card.Closed = "⌛ Timed out."
	for range 2 {
		if err := c.Sender.Edit(ctx, receipt, card); err != nil {
			return fmt.Errorf("the same edit again: %w", err)
		}
	}
	c.Vanish(receipt)
	if err := c.Sender.Edit(ctx, receipt, card); err != nil {
		return fmt.Errorf("editing what has vanished: %w", err)
	}
	return nil
}

func editFails(ctx context.Context, c *sitting) error {
	card := c.card()
	receipt, err := c.Sender.Post(ctx, card)
	if err != nil {
		return err
	}
	card.Closed = "❌ Denied."
	for name, fault := range temporaryFaults() {
		c.Break(fault)
		if err := c.classified(c.Sender.Edit(ctx, receipt, card), true); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return c.Sender.Edit(ctx, receipt, card)
}

func replyOnce(ctx context.Context, c *sitting) error {
	reply, done := chat.Reply{Thread: c.Thread, UUID: "u-1", Text: "Done: 1 < 2 & *x*"}, Progress{}
	for range 2 {
		if err := c.Sender.Reply(ctx, reply, done); err != nil {
			return err
		}
	}
	return c.shows(reply.Text)
}

func replyFails(ctx context.Context, c *sitting) error {
	for name, fault := range temporaryFaults() {
		c.Break(fault)
		done := Progress{}
		reply := chat.Reply{Thread: c.Thread, UUID: "u-1", Text: "after " + name}
		if err := c.classified(c.Sender.Reply(ctx, reply, done), true); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(done) != 0 {
			return fmt.Errorf("%s: %v marked as done although it failed", name, done)
		}
		if err := c.Sender.Reply(ctx, reply, done); err != nil {
			return fmt.Errorf("the retry after %s: %w", name, err)
		}
		if len(done) == 0 {
			return errors.New("nothing marked as done after success")
		}
	}
	return nil
}

func replyGone(ctx context.Context, c *sitting) error {
	c.Close()
	return c.classified(c.Sender.Reply(ctx, chat.Reply{Thread: c.Thread, UUID: "u-1", Text: "hello"}, Progress{}), false)
}

func attachWhole(ctx context.Context, c *sitting) error {
	content := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB
	files := []chat.File{c.File("report é.bin", content), c.File("empty.txt", []byte("x"))}
	if err := c.Sender.Reply(ctx, chat.Reply{Thread: c.Thread, UUID: "u-1", Text: "see files", Files: files}, Progress{}); err != nil {
		return err
	}
	var got []Shown
	for _, s := range c.Shown() {
		if s.File != "" {
			got = append(got, s)
		}
	}
	if len(got) != 2 || got[0].File != files[0].Name || !bytes.Equal(got[0].Content, content) || got[1].File != files[1].Name {
		return fmt.Errorf("%d files arrived, or not whole", len(got))
	}
	return nil
}

func attachResumes(ctx context.Context, c *sitting) error {
	done := Progress{}
	reply := chat.Reply{Thread: c.Thread, UUID: "u-1", Text: "see file", Files: []chat.File{c.File("a.bin", []byte("aaa"))}}
	// The text goes out alone first, as in a run that ended there.
	if err := c.Sender.Reply(ctx, chat.Reply{Thread: c.Thread, UUID: "u-1", Text: reply.Text}, done); err != nil {
		return err
	}
	c.Break(Fault{Kind: Refused})
	if err := c.classified(c.Sender.Reply(ctx, reply, done), true); err != nil {
		return err
	}
	if err := c.Sender.Reply(ctx, reply, done); err != nil {
		return err
	}
	return c.shows(reply.Text)
}

// shows fails unless text stands there exactly once.
func (c *sitting) shows(text string) error {
	n := 0
	for _, s := range c.Shown() {
		if strings.Contains(s.Text, text) {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("%q is shown %d times", text, n)
	}
	return nil
}
