package connectortest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Fault is how a platform misbehaves at one call.
type Fault struct {
	// Kind of fault.
	Kind Kind
	// Status of an Answer.
	Status int
	// RetryAfter of a RateLimited, in whole seconds.
	RetryAfter time.Duration
	// Body of an Answer.
	Body string
	// Type is the content type of an Answer.
	Type string
}

// Kind of fault.
type Kind string

// The kinds of fault.
const (
	// Refused: the connection ends before the platform has done anything.
	Refused Kind = "refused"
	// Lost: the platform does it, but its answer never arrives.
	Lost Kind = "answer lost"
	// Cut: the platform does it, but its answer ends in the middle.
	Cut Kind = "answer cut"
	// Stalled: nothing is done and nothing answered until the caller gives up.
	Stalled Kind = "stalled"
	// Answer: a fixed answer comes, and nothing is done.
	Answer Kind = "answer"
	// RateLimited: the platform says to come back later.
	RateLimited Kind = "rate limited"
	// Doubled: the network delivers the call twice.
	Doubled Kind = "doubled"
)

// HTML is a proxy's error page with that status.
func HTML(status int) Fault {
	return Fault{
		Kind: Answer, Status: status, Type: "text/html; charset=utf-8",
		Body: fmt.Sprintf("<!doctype html><html><head><title>%d</title></head><body>%[1]d</body></html>", status),
	}
}

// Faults lets a platform double misbehave. The zero value is not usable: see NewFaults.
type Faults struct {
	next http.Handler
	// Limited writes the platform's own rate-limit answer; nil is a plain 429 with Retry-After.
	Limited func(w http.ResponseWriter, retryAfter time.Duration)

	mu    sync.Mutex
	plans []plan
}

type plan struct {
	match func(*http.Request) bool
	fault Fault
}

// NewFaults wraps a platform double.
func NewFaults(next http.Handler) *Faults { return &Faults{next: next} }

// Break plans a fault for the next call that match accepts (nil: any call). Plans
// are used up in the order they were made.
func (f *Faults) Break(match func(*http.Request) bool, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if match == nil {
		match = func(*http.Request) bool { return true }
	}
	f.plans = append(f.plans, plan{match, fault})
}

// Left is the number of faults that have not happened yet.
func (f *Faults) Left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.plans)
}

func (f *Faults) take(r *http.Request) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.plans, func(p plan) bool { return p.match(r) })
	if i < 0 {
		return Fault{}, false
	}
	fault := f.plans[i].fault
	f.plans = slices.Delete(f.plans, i, i+1)
	return fault, true
}

// ServeHTTP implements http.Handler.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault, broken := f.take(r)
	if !broken {
		f.next.ServeHTTP(w, r)
		return
	}
	switch fault.Kind {
	case Refused:
		panic(http.ErrAbortHandler)
	case Lost:
		f.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case Cut:
		f.cut(w, r)
	case Stalled:
		drain(r)
		<-r.Context().Done()
	case RateLimited:
		drain(r)
		f.limit(w, fault.RetryAfter)
	case Doubled:
		f.double(w, r)
	case Answer:
		drain(r)
		w.Header().Set("Content-Type", fault.Type)
		w.WriteHeader(fault.Status)
		_, _ = w.Write([]byte(fault.Body))
	default:
		panic("connectortest: unknown fault " + string(fault.Kind))
	}
}

func (f *Faults) cut(w http.ResponseWriter, r *http.Request) {
	whole := httptest.NewRecorder()
	f.next.ServeHTTP(whole, r)
	for key, values := range whole.Header() {
		w.Header()[key] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func (f *Faults) limit(w http.ResponseWriter, retryAfter time.Duration) {
	if f.Limited != nil {
		f.Limited(w, retryAfter)
		return
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
	w.WriteHeader(http.StatusTooManyRequests)
}

func (f *Faults) double(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	again := r.Clone(r.Context())
	again.Body = http.NoBody
	if body.Len() > 0 {
		again.Body = readCloser{bytes.NewReader(body.Bytes())}
	}
	r.Body = readCloser{bytes.NewReader(body.Bytes())}
	f.next.ServeHTTP(httptest.NewRecorder(), r)
	f.next.ServeHTTP(w, again)
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// drain reads the body, so that the caller sees the answer and not a broken pipe.
func drain(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
