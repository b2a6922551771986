package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/countersignhq/countersign/chat"
)

// Problem is an error as a client sees it (RFC 9457, application/problem+json). Detail
// says what to do.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Decision is the one that stands, with status 409.
	Decision *Decision `json:"decision,omitempty"`
	// Reason is how a question ended without a decision, with status 410: "timeout", ….
	Reason string `json:"reason,omitempty"`
}

func (p *Problem) Error() string { return p.Detail }

func problem(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

func (p *Problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client is gone: nobody is left to tell
}

// Fail answers a request with a problem; for handlers that are mounted on the gateway.
func Fail(w http.ResponseWriter, status int, detail string) { problem(status, detail).write(w) }

func fail(w http.ResponseWriter, status int, detail string) { Fail(w, status, detail) }

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // the client is gone: nobody is left to tell
}

// failed answers with what an error of the Engine or of a body means; what is unknown is
// logged, and never shown, since it may name things that are none of the client's business.
func (g *gateway) failed(w http.ResponseWriter, r *http.Request, err error) {
	known := new(Problem)
	switch {
	case errors.As(err, &known):
		known.write(w)
	case errors.Is(err, ErrNotFound):
		fail(w, http.StatusNotFound, "there is nothing under this id; GET /api/invocations lists the latest")
	case errors.Is(err, chat.ErrUnreachable), errors.Is(err, context.DeadlineExceeded):
		w.Header().Set("Retry-After", "5")
		fail(w, http.StatusServiceUnavailable, "Temporal cannot be reached; send it again, under the same id where it has one")
	case errors.Is(err, ErrNoEngine):
		w.Header().Set("Retry-After", "5")
		fail(w, http.StatusServiceUnavailable, "no engine answers; start a worker with the role engine")
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		fail(w, 499, "the client went away") // nobody reads this; the log does
	default:
		g.Logger.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		fail(w, http.StatusInternalServerError, "something went wrong here; the gateway's log says what")
	}
}
