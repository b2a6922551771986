package web

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/events"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/gateway/delivered"
)

type fakeEngine struct {
	delivered []chat.Message
	answers   []contract.Answer
	decided   []string
	states    []contract.State
	grants    []contract.ListedGrant
	revoked   []string
	verdict   chat.Verdict
	err       error
	looks     sync.Map // by id, *atomic.Int64
}

// looked is how often the state of an invocation was read.
func (e *fakeEngine) looked(id string) int64 {
	count, _ := e.looks.LoadOrStore(id, &atomic.Int64{})
	return count.(*atomic.Int64).Load()
}

func (e *fakeEngine) Grants(_ context.Context, thread *chat.Thread) ([]contract.ListedGrant, error) {
	var found []contract.ListedGrant
	for _, g := range e.grants {
		if thread == nil || g.Thread == *thread {
			found = append(found, g)
		}
	}
	return found, e.err
}

func (e *fakeEngine) Revoke(_ context.Context, id, by string) error {
	e.revoked = append(e.revoked, id+" by "+by)
	return e.err
}

func (e *fakeEngine) Deliver(_ context.Context, m chat.Message) error {
	if e.err == nil {
		e.delivered = append(e.delivered, m)
	}
	return e.err
}

func (e *fakeEngine) State(_ context.Context, id string, _ time.Duration) (contract.State, error) {
	count, _ := e.looks.LoadOrStore(id, &atomic.Int64{})
	count.(*atomic.Int64).Add(1)
	for _, state := range e.states {
		if state.ID == id {
			return state, e.err
		}
	}
	return contract.State{}, gateway.ErrNotFound
}

func (e *fakeEngine) Invocations(context.Context, int) ([]contract.State, error) {
	return e.states, e.err
}

func (e *fakeEngine) Decide(_ context.Context, id string, a contract.Answer) (chat.Verdict, error) {
	e.decided, e.answers = append(e.decided, id), append(e.answers, a)
	return e.verdict, e.err
}

func (e *fakeEngine) Pending(context.Context) ([]contract.State, error) {
	var pending []contract.State
	for _, state := range e.states {
		if state.Status == "waiting" {
			pending = append(pending, state)
		}
	}
	return pending, e.err
}

type fakeIdentity map[string]string // hash to role

func (f fakeIdentity) Token(hash string) (chat.Person, string, bool) {
	role, ok := f[hash]
	return chat.Person{ID: "api:" + role, Name: role}, role, ok
}

type fakeDisk map[string]string

func (d fakeDisk) Save(_ context.Context, uuid, name string, content io.Reader) (chat.File, error) {
	data, err := io.ReadAll(content)
	if err != nil {
		return chat.File{}, err
	}
	path := "inbound/" + uuid + "/" + name
	d[path] = string(data)
	return chat.File{Name: name, Path: path, Size: int64(len(data))}, nil
}

func (d fakeDisk) Open(_ context.Context, path string) (io.ReadCloser, error) {
	content, ok := d[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(content)), nil
}

type parts map[string]bool

func (p parts) Done(part string) bool { return p[part] }
func (p parts) Mark(part string)      { p[part] = true }

type bench struct {
	engine   *fakeEngine
	identity fakeIdentity
	disk     fakeDisk
	store    Store
	sender   *Sender
	bus      *events.Bus
	server   *httptest.Server
	now      time.Time
}

func newBench(t *testing.T, change ...func(*Params)) *bench {
	t.Helper()
	bucket, err := delivered.Dir(t.TempDir())
	require.NoError(t, err)
	b := &bench{
		engine: &fakeEngine{}, disk: fakeDisk{}, store: NewStore(bucket), bus: events.New(),
		now: time.Date(2029, 1, 2, 3, 4, 5, 0, time.UTC),
		identity: fakeIdentity{
			gateway.TokenHash("owner-token"): gateway.RoleOwner, gateway.TokenHash("approver-token"): gateway.RoleApprover,
			gateway.TokenHash("agent-token"): gateway.RoleAgent,
		},
	}
	now := func() time.Time { b.now = b.now.Add(time.Second); return b.now }
	kept := delivered.New(bucket)
	b.sender = NewSender(SenderParams{Store: b.store, Outbound: b.disk, Kept: kept, Publish: b.bus.Publish, Now: now})
	params := Params{
		Engine: b.engine, Identity: b.identity, Events: b.bus, Attachments: b.disk, Store: b.store, Kept: kept,
		Secret: []byte(strings.Repeat("s", 32)), UIURL: "http://127.0.0.1:8233", Now: now,
	}
	for _, c := range change {
		c(&params)
	}
	page, err := New(params)
	require.NoError(t, err)
	b.server = httptest.NewServer(page)
	t.Cleanup(func() { b.server.Close(); require.NoError(t, bucket.Close()) })
	return b
}

// browser follows redirects and keeps cookies, as one does.
type browser struct {
	t      *testing.T
	base   string
	client *http.Client
	// accept is the Accept-Language that it sends; empty for none.
	accept string
	// status and body of the last page.
	status int
	header http.Header
	body   string
}

func (b *bench) browser(t *testing.T) *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &browser{t: t, base: b.server.URL, client: &http.Client{Jar: jar}}
}

func (b *bench) signedIn(t *testing.T, role string) *browser {
	t.Helper()
	browser := b.browser(t)
	browser.signIn(role)
	require.Contains(t, browser.body, "Sign out")
	return browser
}

func (b *browser) signIn(role string) {
	b.t.Helper()
	b.get("/signin")
	b.post("/signin", url.Values{"csrf": {b.csrf()}, "token": {role + "-token"}})
	require.Equal(b.t, 200, b.status, b.body)
	require.Contains(b.t, b.body, `action="/signout"`)
}

func (b *browser) do(r *http.Request, err error) {
	b.t.Helper()
	require.NoError(b.t, err)
	if b.accept != "" {
		r.Header.Set("Accept-Language", b.accept)
	}
	response, err := b.client.Do(r)
	require.NoError(b.t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(b.t, errors.Join(err, response.Body.Close()))
	b.status, b.header, b.body = response.StatusCode, response.Header, string(body)
}

func (b *browser) get(path string) {
	b.t.Helper()
	b.do(http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil))
}

func (b *browser) post(path string, form url.Values, headers ...string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	b.do(r, nil)
}

var inputs = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// hidden returns the last hidden field of that name on the page.
func (b *browser) hidden(name string) (value string) {
	for _, match := range inputs.FindAllStringSubmatch(b.body, -1) {
		if match[1] == name {
			value = match[2]
		}
	}
	return value
}

func (b *browser) csrf() string { return b.hidden("csrf") }
