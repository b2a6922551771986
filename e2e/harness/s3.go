package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersignhq/countersign/internal/testtools"
)

// S3 is a bucket on a real S3 server, behind a proxy that holds requests up when told to: so a
// test can stop a tool at a known point of its run.
type S3 struct {
	bucket url.URL
	mu     sync.Mutex
	holds  []*Hold
	seen   map[string]int // by method
}

// NewS3 makes an empty bucket.
func NewS3(t testing.TB) *S3 {
	t.Helper()
	bucket, err := url.Parse(testtools.S3(t))
	if err != nil {
		t.Fatal(err)
	}
	query := bucket.Query()
	server, err := url.Parse(query.Get("endpoint"))
	if err != nil {
		t.Fatal(err)
	}
	s := &S3{seen: map[string]int{}}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Host = r.In.Host // it is part of what was signed
		},
		// A client that was killed is no news.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hold := s.heldBy(r)
		if hold == nil {
			forward.ServeHTTP(w, r)
			return
		}
		// It has been sent: what becomes of it is the test's to say, also when the client dies.
		body, err := io.ReadAll(r.Body)
		if err != nil || !hold.wait() {
			return
		}
		// A context that can end keeps the proxy from watching the client itself.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
		defer cancel()
		sent := r.WithContext(ctx)
		sent.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, sent)
	}))
	t.Cleanup(func() {
		s.dropAll()
		proxy.CloseClientConnections()
		proxy.Close()
	})
	query.Set("endpoint", proxy.URL)
	bucket.RawQuery = query.Encode()
	s.bucket = *bucket
	return s
}

// URL of the bucket, as a disk's.
func (s *S3) URL() string { return s.bucket.String() }

// Hold is a request that is held up, and all like it that follow.
type Hold struct {
	match    func(*http.Request) bool
	once     sync.Once
	arrived  chan struct{}
	released chan struct{}
	dropped  bool // set before released is closed
}

// Hold holds up every request of one of these methods from now on; none means any.
func (s *S3) Hold(methods ...string) *Hold {
	h := &Hold{
		match:   func(r *http.Request) bool { return len(methods) == 0 || slices.Contains(methods, r.Method) },
		arrived: make(chan struct{}), released: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds = append(s.holds, h)
	return h
}

func (s *S3) heldBy(r *http.Request) *Hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[r.Method]++
	for _, h := range s.holds {
		if h.match(r) {
			return h
		}
	}
	return nil
}

// wait tells whether the request goes on.
func (h *Hold) wait() bool {
	h.once.Do(func() { close(h.arrived) })
	<-h.released
	return !h.dropped
}

// Await waits until a request is being held up.
func (h *Hold) Await(t testing.TB) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-h.arrived:
	case <-timer.C:
		t.Fatalf("no request came to be held up within %s", patience)
	}
}

// Release lets what was held up through, also where its sender is dead by now, and all that follows.
func (s *S3) Release(h *Hold) { s.end(h, false) }

// Drop loses what was held up, and lets all that follows through.
func (s *S3) Drop(h *Hold) { s.end(h, true) }

func (s *S3) end(h *Hold, drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds = slices.DeleteFunc(s.holds, func(o *Hold) bool { return o == h })
	h.dropped = drop
	close(h.released)
}

func (s *S3) dropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.holds {
		h.dropped = true
		close(h.released)
	}
	s.holds = nil
}

// Seen counts the requests of a method that have come, also those that were dropped.
func (s *S3) Seen(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[method]
}

// Settings make the bucket the disk vault, which the agent sees besides local.
func (s *S3) Settings() map[string]string {
	return map[string]string{"COUNTERSIGN_DISKS_VAULT": s.URL(), "LARACLAW_ALLOWED_DISKS": "local,vault"}
}

// Vault is a call of the File Manager on the disk vault.
func Vault(operation, path string, more ...string) Call {
	call := File(operation, path, more...)
	call.Parameters["disk"] = "vault"
	return call
}

// ReadVault returns a file's content on the disk vault through the product itself.
func (w *World) ReadVault(t testing.TB, path string) string {
	t.Helper()
	state := w.API.Result(t, w.API.Invoke(t, Vault("read", path)))
	if state.Code == "UNAVAILABLE" {
		return ""
	}
	var output struct {
		Content string `json:"content"`
	}
	if err := jsonUnmarshal(state.Output, &output); err != nil {
		t.Fatalf("read %s on the vault: %v: %+v", path, err, state)
	}
	return output.Content
}

func jsonUnmarshal(raw []byte, into any) error {
	if len(raw) == 0 {
		return fmt.Errorf("there is no output")
	}
	return json.Unmarshal(raw, into)
}
