package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/contract"
)

// TestExam: the platform is the bucket that holds the feeds, the person a browser.
func TestExam(t *testing.T) {
	t.Parallel()
	connectortest.Run(t, connectortest.Subject{
		Name: chat.Web,
		Lacks: map[connectortest.Part]string{
			connectortest.Edits:     "what was sent on the page cannot be edited",
			connectortest.Bots:      "an agent's token cannot sign in (TestSignIn)",
			connectortest.Strangers: "a stranger cannot sign in (TestSignIn)",
		},
		Setup: candidate,
	})
}

func candidate(tb testing.TB, desk *connectortest.Desk) *connectortest.Candidate {
	tb.Helper()
	t, ok := tb.(*testing.T)
	require.True(tb, ok)
	var log bytes.Buffer
	b := newBench(t, func(p *Params) {
		p.Engine, p.Now = deskEngine{&fakeEngine{}, desk}, time.Now
		p.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	store := &faulty{Store: b.store}
	b.sender = NewSender(SenderParams{Store: store, Outbound: b.disk, Kept: b.sender.Kept})
	browser := b.signedIn(t, "owner")
	sealed, err := newCookies([]byte(strings.Repeat("s", 32)), false)
	require.NoError(t, err)
	var s session
	for _, cookie := range browser.client.Jar.Cookies(must(t, b.server.URL)) {
		if cookie.Name == sessionCookie {
			require.NoError(t, sealed.session.Decode(sessionCookie, cookie.Value, &s))
		}
	}
	thread := chat.Thread{Connector: chat.Web, Key: s.ID}
	return &connectortest.Candidate{
		Sender: b.sender, Thread: thread, Secrets: []string{"owner-token", strings.Repeat("s", 32)}, Log: log.String,
		Break: func(fault connectortest.Fault) { store.fault = &fault },
		Close: func() { store.closed = true },
		Shown: func() []connectortest.Shown { return b.shown(t, thread) },
		Vanish: func(r chat.Receipt) {
			feeds, ok := b.store.(feeds)
			require.True(t, ok)
			require.NoError(t, feeds.bucket.Delete(t.Context(), r.Ref))
		},
		File: func(name string, content []byte) chat.File {
			b.disk["outbound/u-1/"+name] = string(content)
			return chat.File{Name: name, Path: "outbound/u-1/" + name, Size: int64(len(content))}
		},
		Send: func(_ context.Context, event connectortest.Event) bool {
			return browser.happens(event, b.shownID(t, thread))
		},
	}
}

// happens does what the event says and tells whether the page took it.
func (b *browser) happens(event connectortest.Event, invocation string) bool {
	b.t.Helper()
	b.get("/")
	csrf, nonce := b.csrf(), fmt.Sprint("exam", event.Number)
	switch event.Kind {
	case connectortest.Said:
	case connectortest.Forged:
		csrf = "forged"
	case connectortest.Unproven:
		b.client = &http.Client{} // without its cookies
	case connectortest.Pressed:
		action := map[string]string{"Yes": "yes", "No": "no"}[event.Button]
		b.post("/decisions", url.Values{"csrf": {csrf}, "nonce": {nonce}, "invocation": {invocation}, "action": {action}, "here": {"1"}})
		return b.taken()
	default:
		b.t.Errorf("event %q is not known here", event.Kind)
	}
	b.send(csrf, nonce, event.Text, nil)
	return b.taken()
}

func (b *browser) taken() bool {
	return b.status == http.StatusOK && !strings.Contains(b.body, `class="flash bad"`)
}

func (b *bench) entries(t *testing.T, thread chat.Thread) []Entry {
	t.Helper()
	entries, err := b.store.Entries(t.Context(), thread.Key, 100)
	require.NoError(t, err)
	return entries
}

// shownID is the invocation of the one question in the feed.
func (b *bench) shownID(t *testing.T, thread chat.Thread) string {
	t.Helper()
	for _, entry := range b.entries(t, thread) {
		if entry.Card != nil {
			return entry.Card.Invocation
		}
	}
	return ""
}

func (b *bench) shown(t *testing.T, thread chat.Thread) (shown []connectortest.Shown) {
	t.Helper()
	for _, entry := range b.entries(t, thread) {
		if entry.Kind == Said {
			continue
		}
		one := connectortest.Shown{Text: entry.Text}
		if entry.Card != nil {
			one.Text += "\n" + entry.Card.Closed
			if entry.Card.Closed == "" {
				for _, button := range entry.Card.Buttons {
					one.Buttons = append(one.Buttons, button.Label)
				}
			}
		}
		shown = append(shown, one)
		for _, file := range entry.Files {
			content, _, err := b.sender.Kept.Open(t.Context(), thread.String(), entry.UUID, file.Name)
			require.NoError(t, err)
			data, err := io.ReadAll(content)
			require.NoError(t, err)
			require.NoError(t, content.Close())
			shown = append(shown, connectortest.Shown{File: file.Name, Content: data})
		}
	}
	return shown
}

// deskEngine is an Engine that records at a connectortest.Desk.
type deskEngine struct {
	*fakeEngine
	desk *connectortest.Desk
}

func (e deskEngine) Deliver(ctx context.Context, m chat.Message) error { return e.desk.Deliver(ctx, m) }

func (e deskEngine) Decide(ctx context.Context, id string, a contract.Answer) (chat.Verdict, error) {
	actions := map[string]chat.Action{chat.Allow: chat.ActionYes, chat.Deny: chat.ActionNo, chat.AllowAlways: chat.ActionAlways}
	return e.desk.Click(ctx, chat.Click{
		EventID: a.ID, Invocation: id, Action: actions[a.Decision], Thread: a.Thread, By: a.By, ReceivedAt: a.ReceivedAt,
	})
}

// faulty is a Store that misbehaves once as planned, or for good once it is closed.
type faulty struct {
	Store
	fault  *connectortest.Fault
	closed bool
}

func (f *faulty) Append(ctx context.Context, thread string, entry Entry) (ref string, err error) {
	err = f.misbehave(ctx, func() (err error) { ref, err = f.Store.Append(ctx, thread, entry); return err })
	return ref, err
}

func (f *faulty) Amend(ctx context.Context, ref string, change func(*Entry)) error {
	return f.misbehave(ctx, func() error { return f.Store.Amend(ctx, ref, change) })
}

func (f *faulty) misbehave(ctx context.Context, do func() error) error {
	fault := f.fault
	f.fault = nil
	switch {
	case f.closed:
		return &chat.Error{Op: "write", Err: io.ErrClosedPipe}
	case fault == nil:
		return do()
	case fault.Kind == connectortest.Stalled:
		<-ctx.Done()
		return ctx.Err()
	case fault.Kind == connectortest.RateLimited:
		return &chat.Error{Op: "write", Temporary: true, RetryAfter: fault.RetryAfter, Err: io.ErrNoProgress}
	case fault.Kind == connectortest.Lost || fault.Kind == connectortest.Cut:
		if err := do(); err != nil {
			return err
		}
	}
	return io.ErrUnexpectedEOF
}
