package gateway

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/countersignhq/countersign/gateway/ratelimit"
)

// New returns the gateway's handler.
func New(params Params) http.Handler {
	g := &gateway{Params: params.withDefaults()}
	g.messages = ratelimit.New(g.RateLimit, g.Now)
	g.metrics = newMetrics(g.Metrics)
	return g.routes()
}

// NewServer returns a server for handler whose requests, event streams too, end with ctx.
// It bounds headers and idle connections; bodies are bounded by the handlers, because an
// upload and a long wait may take their time.
func NewServer(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
}

type gateway struct {
	Params
	messages *ratelimit.Limiter
	metrics  metrics
}

func (g *gateway) routes() *chi.Mux {
	r := chi.NewRouter()
	r.Use(g.observe, secure)
	r.NotFound(g.notFound)
	r.MethodNotAllowed(methodNotAllowed(r))

	r.Get("/healthz", g.healthz)
	r.Get("/readyz", g.readyz)
	r.Method(http.MethodGet, "/metrics", g.metrics.handler())
	r.Get("/openapi.yaml", openAPI)
	for path, webhook := range g.Webhooks {
		r.Method(http.MethodPost, path, http.MaxBytesHandler(webhook, maxWebhook))
	}
	r.Route("/api", g.api)
	if g.Page != nil {
		r.Mount("/", g.Page)
	}
	return r
}

func (g *gateway) api(r chi.Router) {
	r.Use(g.authenticate)
	r.NotFound(noSuchRoute)

	r.Post("/message", g.postMessage)
	r.Post("/invocations", g.postInvocation)
	r.Get("/invocations", g.listInvocations)
	r.Get("/invocations/{id}", g.showInvocation)
	r.Get("/approvals", g.listApprovals)
	r.Get("/approvals/{id}", g.showApproval)
	r.Get("/events", g.stream)
	r.Get("/tools", g.listTools)
	r.Get("/about", g.about)
	r.Get("/attachments/{uuid}/{name}", g.showAttachment)
	r.Get("/grants", g.listGrants)

	r.Group(func(r chi.Router) { // an agent's token can never decide
		r.Use(refuse(RoleAgent, "an agent's token can start invocations and read, but never decide; use a person's token"))
		r.Post("/approvals/{id}/decision", g.postDecision)
		r.Post("/handoffs/{id}/complete", g.postHandoff("done"))
		r.Post("/handoffs/{id}/cancel", g.postHandoff("cancel"))
		r.Delete("/grants/{id}", g.deleteGrant)
	})
	r.Group(func(r chi.Router) { // whoever has the owner's token has the shell
		owners := "only an owner's token may do this; `starter` reads it from the data folder"
		r.Use(refuse(RoleAgent, owners), refuse(RoleApprover, owners))
		r.Post("/terminal/messages", g.postTerminal)
		r.Get("/terminal/files/{uuid}/{name}", g.showTerminalFile)
		r.Delete("/terminal/files/{uuid}", g.deleteTerminalFiles)
	})
}

func (g *gateway) notFound(w http.ResponseWriter, r *http.Request) {
	noSuchRoute(w, r)
}

func noSuchRoute(w http.ResponseWriter, _ *http.Request) {
	fail(w, http.StatusNotFound, "there is no such address here; GET /openapi.yaml lists them all")
}

// methodNotAllowed answers 405 with the Allow header that RFC 9110 §15.5.6 demands.
func methodNotAllowed(routes chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		path := r.URL.RawPath
		if path == "" {
			path = r.URL.Path
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			if routes.Match(chi.NewRouteContext(), method, path) {
				allowed = append(allowed, method)
			}
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		fail(w, http.StatusMethodNotAllowed, "this address answers "+strings.Join(allowed, " and ")+" only")
	}
}
