package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

type receivedKey struct{}

// ReceivedAt returns when the request's headers arrived: the moment that is compared with
// a question's deadline, however long the body takes.
func ReceivedAt(ctx context.Context) (time.Time, bool) {
	at, ok := ctx.Value(receivedKey{}).(time.Time)
	return at, ok
}

func (g *gateway) receivedAt(r *http.Request) time.Time {
	if at, ok := ReceivedAt(r.Context()); ok {
		return at
	}
	return g.Now().UTC()
}

// observe notes when a request came, logs and counts how it ended, and survives a panic.
// Neither bodies, queries nor headers are logged: they may hold secrets.
func (g *gateway) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received := g.Now().UTC()
		wrapped := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		r = r.WithContext(context.WithValue(r.Context(), receivedKey{}, received))
		defer func() {
			cause := recover()
			if cause != nil && !isAbort(cause) {
				g.Logger.ErrorContext(r.Context(), "panic in a request", "method", r.Method,
					"path", r.URL.Path, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
				if wrapped.Status() == 0 {
					fail(wrapped, http.StatusInternalServerError, "something went wrong here; the gateway's log says what")
				}
			}
			// The server reads what is left of a body that was refused before it sends the answer;
			// a client that does not send it must not hold the connection.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime))
			g.done(r, wrapped.Status(), g.Now().Sub(received))
			if cause != nil && isAbort(cause) {
				panic(cause)
			}
		}()
		next.ServeHTTP(wrapped, r)
	})
}

func (g *gateway) done(r *http.Request, status int, took time.Duration) {
	if status == 0 {
		status = http.StatusOK
	}
	route := chi.RouteContext(r.Context()).RoutePattern()
	if route == "" {
		route = "none"
	}
	g.metrics.requests.WithLabelValues(route, r.Method, strconv.Itoa(status)).Inc()
	g.metrics.seconds.WithLabelValues(route).Observe(took.Seconds())
	log := g.Logger.InfoContext
	if route == "/healthz" || route == "/readyz" || route == "/metrics" {
		log = g.Logger.DebugContext
	}
	log(r.Context(), "request", "method", r.Method, "path", r.URL.Path, "status", status, "took", took.Round(time.Microsecond))
}

func isAbort(cause any) bool {
	err, ok := cause.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// secure sets what every answer carries; the page sets its own content policy.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}

type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(registry *prometheus.Registry) metrics {
	m := metrics{
		registry: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_http_requests_total", Help: "HTTP requests by route, method and status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_http_request_seconds", Help: "How long HTTP requests took, long waits included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"route"}),
	}
	registry.MustRegister(m.requests, m.seconds)
	return m
}

func (m metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
