package connectortest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
)

// quirk is one thing that a connector may do wrong.
type quirk string

const (
	finalFaults    quirk = "calls a bad gateway final"
	leaks          quirk = "puts the token into errors"
	logs           quirk = "logs the token"
	forgetsWait    quirk = "forgets how long to wait"
	believesPages  quirk = "takes a page for an answer"
	keepsButtons   quirk = "leaves the buttons"
	changesText    quirk = "escapes what it should not"
	repeats        quirk = "repeats what was sent"
	marksEarly     quirk = "marks before it is sent"
	cutsFiles      quirk = "loses the end of files"
	hearsEdits     quirk = "hears edits"
	hearsBots      quirk = "hears bots"
	hearsStrangers quirk = "hears strangers"
	openDoor       quirk = "asks for no secret"
	newIDs         quirk = "makes up event ids"
	acksAlways     quirk = "acknowledges what the desk did not take"
	wrongThread    quirk = "forgets the thread"
	wrongTraits    quirk = "claims other traits"
)

// TestExamFindsFaults: an honest connector passes, each dishonest one is found out.
func TestExamFindsFaults(t *testing.T) {
	t.Parallel()
	require.Empty(t, failed(t, ""), "the honest one passes")
	for _, q := range []quirk{
		finalFaults, leaks, logs, forgetsWait, believesPages, keepsButtons, changesText, repeats, marksEarly, cutsFiles,
		hearsEdits, hearsBots, hearsStrangers, openDoor, newIDs, acksAlways, wrongThread, wrongTraits,
	} {
		t.Run(string(q), func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, failed(t, q))
		})
	}
}

func TestExamKnowsGaps(t *testing.T) {
	t.Parallel()
	incomplete := subject("")
	complete := incomplete.Setup
	incomplete.Setup = func(t testing.TB, desk *connectortest.Desk) *connectortest.Candidate {
		c := complete(t, desk)
		c.Vanish = nil
		return c
	}
	require.ErrorContains(t, connectortest.Examine(t, incomplete)[0].Err, "editing needs Vanish")

	excused := subject("")
	excused.Lacks = map[connectortest.Part]string{connectortest.Editing: "messages cannot be edited there"}
	require.ErrorContains(t, connectortest.Examine(t, excused)[0].Err, "editing is called lacking, but there is a Vanish")

	excused.Setup, excused.Lacks = incomplete.Setup, map[connectortest.Part]string{connectortest.Editing: "messages cannot be edited there"}
	for _, f := range connectortest.Examine(t, excused) {
		require.NoError(t, f.Err, f.Question)
		require.Equal(t, f.Part == connectortest.Editing, f.Lacking != "")
	}

	excused.Lacks[connectortest.Editing] = ""
	require.Error(t, connectortest.Examine(t, excused)[0].Err, "an excuse needs a reason")
}

func failed(t *testing.T, q quirk) []connectortest.Finding {
	t.Helper()
	var failed []connectortest.Finding
	for _, f := range connectortest.Examine(t, subject(q)) {
		if f.Err != nil {
			failed = append(failed, f)
		}
	}
	return failed
}

const token = "toy-token-0123456789"

func subject(q quirk) connectortest.Subject {
	return connectortest.Subject{
		Name: chat.Slack,
		Setup: func(t testing.TB, desk *connectortest.Desk) *connectortest.Candidate {
			toy := &toy{quirk: q, desk: desk}
			faults := connectortest.NewFaults(http.HandlerFunc(toy.platform))
			server := httptest.NewServer(faults)
			t.Cleanup(server.Close)
			t.Cleanup(server.CloseClientConnections)
			toy.url = server.URL
			return &connectortest.Candidate{
				Sender: toy, Thread: chat.Thread{Connector: chat.Slack, Key: "U1"}, Secrets: []string{token},
				Log:    func() string { return toy.log },
				Break:  func(f connectortest.Fault) { faults.Break(nil, f) },
				Close:  func() { toy.set(func() { toy.closed = true }) },
				Shown:  toy.sees,
				Vanish: func(chat.Receipt) { toy.set(func() { toy.shown = nil }) },
				File: func(name string, content []byte) chat.File {
					return chat.File{Name: name, Path: "outbound/u/" + name, SHA256: string(content)}
				},
				Send: toy.event,
			}
		},
	}
}

// toy is a connector and its platform in one.
type toy struct {
	quirk quirk
	desk  *connectortest.Desk
	url   string
	log   string

	mu     sync.Mutex
	closed bool
	shown  []connectortest.Shown
	count  int
}

func (c *toy) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *toy) sees() []connectortest.Shown {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.shown)
}

// platform takes {"n": place or -1, "shown": …}.
func (c *toy) platform(w http.ResponseWriter, r *http.Request) {
	var in struct {
		N     int
		Shown connectortest.Shown
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.closed {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	switch {
	case in.N < 0:
		c.shown = append(c.shown, in.Shown)
	case in.N < len(c.shown):
		c.shown[in.N] = in.Shown
	}
	_, _ = w.Write([]byte(`{"ok":true,"padding":"` + strings.Repeat("x", 100) + `"}`))
}

func (c *toy) call(ctx context.Context, n int, s connectortest.Shown) error {
	body, err := json.Marshal(map[string]any{"N": n, "Shown": s})
	if err != nil {
		return err
	}
	problem := func(temporary bool, wait time.Duration, err error) error {
		if c.quirk == leaks {
			err = fmt.Errorf("%s: %w", token, err)
		}
		return &chat.Error{Op: "toy", Temporary: temporary, RetryAfter: wait, Err: err}
	}
	if c.quirk == logs {
		c.log += "calling with " + token
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return problem(true, 0, errors.New("no answer"))
	}
	defer response.Body.Close()
	var answer struct{ OK bool }
	decoded := json.NewDecoder(response.Body).Decode(&answer)
	switch {
	case response.StatusCode == http.StatusForbidden:
		return problem(false, 0, errors.New("forbidden"))
	case response.StatusCode == http.StatusTooManyRequests && c.quirk != forgetsWait:
		return problem(true, 7*time.Second, errors.New("too many"))
	case response.StatusCode != http.StatusOK:
		return problem(c.quirk != finalFaults, 0, errors.New(response.Status))
	case decoded != nil && c.quirk != believesPages:
		return problem(true, 0, errors.New("no JSON"))
	}
	return nil
}

func (c *toy) Traits() chat.Traits {
	return chat.Traits{Name: chat.Slack, Asks: c.quirk != wrongTraits, DeletesOutbound: true}
}

func (c *toy) render(card chat.Card) connectortest.Shown {
	s := connectortest.Shown{Text: card.Text}
	if card.Closed != "" {
		s.Text += "\n" + card.Closed
	}
	if c.quirk == changesText {
		s.Text = strings.ReplaceAll(s.Text, "*", "\\*")
	}
	if card.Closed == "" || c.quirk == keepsButtons {
		for _, b := range card.Buttons {
			s.Buttons = append(s.Buttons, b.Label)
		}
	}
	return s
}

func (c *toy) Post(ctx context.Context, card chat.Card) (chat.Receipt, error) {
	return chat.Receipt{Ref: fmt.Sprint(len(c.sees()))}, c.call(ctx, -1, c.render(card))
}

func (c *toy) Edit(ctx context.Context, _ chat.Receipt, card chat.Card) error {
	return c.call(ctx, 0, c.render(card))
}

func (c *toy) Reply(ctx context.Context, reply chat.Reply, progress chat.Progress) error {
	send := func(part string, s connectortest.Shown) error {
		if progress.Done(part) && c.quirk != repeats {
			return nil
		}
		if c.quirk == marksEarly {
			progress.Mark(part)
		}
		if err := c.call(ctx, -1, s); err != nil {
			return err
		}
		progress.Mark(part)
		return nil
	}
	if err := send("text", connectortest.Shown{Text: reply.Text}); err != nil {
		return err
	}
	for _, f := range reply.Files {
		content := []byte(f.SHA256)
		if c.quirk == cutsFiles {
			content = content[:len(content)/2]
		}
		if err := send("file:"+f.Name, connectortest.Shown{File: f.Name, Content: content}); err != nil {
			return err
		}
	}
	return nil
}

func (c *toy) event(ctx context.Context, e connectortest.Event) bool {
	refused := map[connectortest.EventKind]quirk{
		connectortest.Edited: hearsEdits, connectortest.SaidByBot: hearsBots, connectortest.SaidByStranger: hearsStrangers,
		connectortest.Forged: openDoor, connectortest.Unproven: openDoor,
	}
	if q, special := refused[e.Kind]; special && c.quirk != q {
		return q != openDoor
	}
	c.count++
	thread := chat.Thread{Connector: chat.Slack, Key: "U1"}
	if c.quirk == wrongThread {
		thread.Key = "general"
	}
	id := fmt.Sprintf("slack:%d", e.Number)
	if c.quirk == newIDs {
		id = fmt.Sprintf("slack:made-up-%d", c.count)
	}
	by := chat.Person{ID: "slack:T1/U1", Name: "ada"}
	var err error
	if e.Kind == connectortest.Pressed {
		action := map[string]chat.Action{"Yes": chat.ActionYes, "No": chat.ActionNo}[e.Button]
		_, err = c.desk.Click(ctx, chat.Click{EventID: id, Invocation: "01J9ZQ6V5R8K3M2N4P7S9T0W1X", Action: action, Thread: thread, By: by, ReceivedAt: time.Now()})
	} else {
		err = c.desk.Deliver(ctx, chat.Message{UUID: fmt.Sprint("u", c.count), EventID: id, Thread: thread, From: by, Text: e.Text, ReceivedAt: time.Now()})
	}
	return err == nil || c.quirk == acksAlways
}
