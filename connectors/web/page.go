package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/web/openid"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/gateway/ratelimit"
	"github.com/countersignhq/countersign/words"
)

//go:embed assets
var assets embed.FS

// Engine is what the page asks of Temporal: a part of gateway.Engine.
type Engine interface {
	Deliver(ctx context.Context, message chat.Message) error
	State(ctx context.Context, id string, wait time.Duration) (contract.State, error)
	Invocations(ctx context.Context, limit int) ([]contract.State, error)
	Decide(ctx context.Context, id string, answer contract.Answer) (chat.Verdict, error)
	Pending(ctx context.Context) ([]contract.State, error)
	Grants(ctx context.Context, thread *chat.Thread) ([]contract.ListedGrant, error)
	Revoke(ctx context.Context, id, by string) error
}

// Attachments takes the files that a person sends.
type Attachments interface {
	Save(ctx context.Context, uuid, name string, content io.Reader) (chat.File, error)
}

// Identity tells whose token signs in.
type Identity interface {
	Token(sha256hex string) (person chat.Person, role string, ok bool)
}

// Accounts tells whose an account at the OpenID provider is: by its subject, else by its address.
// mail is empty where the provider did not prove it.
type Accounts interface {
	Account(subject, mail string) (person chat.Person, role string, ok bool)
}

// Params are the parts of the page. All but the last block are required.
type Params struct {
	Engine      Engine
	Identity    Identity
	Events      gateway.Events
	Attachments Attachments
	Store       Store
	Kept        Kept
	// Secret seals the cookies: at least 32 bytes (EnsureSecret).
	Secret []byte

	// Provider and Accounts sign people in by their account elsewhere; nil where only tokens do.
	Provider *openid.Provider
	Accounts Accounts
	// Workspace is the example; nil where there is none.
	Workspace Workspace
	// Guides are the pages that hold the guide targets of handoffs, by tool.operation.
	Guides map[string]string
	// Languages are the configured ones, after which the browser is asked; the zero value is English.
	Languages words.Choice
	// PublicURL is where browsers reach the page; with https the cookies are for https only.
	PublicURL string
	// UIURL is Temporal's Web UI and Namespace the namespace there; empty where there is none.
	UIURL, Namespace string
	// MaxUpload bounds one message with its files in bytes; 0 is 256 MiB.
	MaxUpload int64
	Logger    *slog.Logger
	Now       func() time.Time
	NewUUID   func() string
}

type page struct {
	Params
	cookies  cookies
	signIns  *ratelimit.Limiter
	audience *audience
}

// New returns the page's handler, for Params.Page of package gateway.
func New(params Params) (http.Handler, error) {
	p := &page{Params: params}
	if p.Namespace == "" {
		p.Namespace = "default"
	}
	if p.MaxUpload == 0 {
		p.MaxUpload = 256 << 20
	}
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.NewUUID == nil {
		p.NewUUID = uuid.NewString
	}
	var err error
	p.cookies, err = newCookies(p.Secret, strings.HasPrefix(p.PublicURL, "https://"))
	if err != nil {
		return nil, err
	}
	p.signIns = ratelimit.New(20, p.Now)
	p.audience = newAudience(p.Engine)
	return p.routes()
}

func (p *page) routes() (http.Handler, error) {
	r := chi.NewRouter()
	sameOrigin := http.NewCrossOriginProtection()
	if p.PublicURL != "" {
		if err := sameOrigin.AddTrustedOrigin(strings.TrimRight(p.PublicURL, "/")); err != nil {
			return nil, fmt.Errorf("public_url must be a scheme and a host, as in https://bot.example.org: %w", err)
		}
	}
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.trouble(w, r, http.StatusForbidden, chat.Text(linePageOtherSite), chat.Text(linePageOtherSiteHow))
	}))
	r.Use(policy, sameOrigin.Handler)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		p.trouble(w, r, http.StatusNotFound, chat.Text(linePageNothingHere), chat.Text(linePageStart))
	})
	r.Handle("/assets/*", http.FileServerFS(assets))
	r.Get("/dock.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "assets/dock.js") })
	r.Get("/signin", p.showSignIn)
	r.Post("/signin", p.signIn)
	if p.Provider != nil {
		r.Get(accountPath, p.beginSignIn)
		r.Get(CallbackPath, p.finishSignIn)
	}

	r.Group(func(r chi.Router) {
		r.Use(p.signedIn)
		r.Get("/", p.showConversation)
		r.Get("/live", p.showLive)
		r.Get("/dock", p.showDock)
		r.Get("/events", p.stream)
		r.Get("/history", p.showHistory)
		r.Get("/invocations/{id}", p.showInvocation)
		r.Get("/grants", p.showGrants)
		r.Post("/grants", p.postRevoke)
		r.Get("/files/{uuid}/{name}", p.showFile)
		r.Post("/messages", p.postMessage)
		r.Post("/decisions", p.postDecision)
		r.Post("/signout", p.signOut)
		if p.Workspace != nil {
			r.Get("/workspace", p.showWorkspace)
			r.Post("/workspace", p.postPublish)
		}
	})
	return r, nil
}

// policy allows the page nothing but its own files: no inline script or style, no frames.
func policy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
			"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin") // no other origin embeds a file of ours
		if !strings.HasPrefix(r.URL.Path, "/assets/") {
			w.Header().Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}

type visitorKey struct{}

func visitorOf(r *http.Request) visitor {
	v, _ := r.Context().Value(visitorKey{}).(visitor)
	return v
}

func withVisitor(r *http.Request, v visitor) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
}

func (p *page) signedIn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, ok := p.visitor(r)
		if ok {
			next.ServeHTTP(w, withVisitor(r, v))
			return
		}
		if foreign(r) {
			p.goOn(w, r, r.URL.RequestURI())
			return
		}
		if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Dest") != "empty" {
			http.Redirect(w, r, signInFor(r), http.StatusSeeOther)
			return
		}
		p.trouble(w, r, http.StatusUnauthorized, chat.Text(linePageSignedOut), chat.Text(linePageSignedOutHow))
	})
}

// showFile serves a file of this conversation; another one's cannot even be named.
func (p *page) showFile(w http.ResponseWriter, r *http.Request) {
	id, name := pathValue(r, "uuid"), pathValue(r, "name")
	content, size, err := p.Kept.Open(r.Context(), visitorOf(r).thread().String(), id, name)
	if err != nil {
		p.trouble(w, r, http.StatusNotFound, chat.Text(linePageFileGone), chat.Text(linePageFileAgain))
		return
	}
	if err := gateway.SendFile(w, name, content, size); err != nil {
		p.Logger.WarnContext(r.Context(), "a file of a reply was not sent whole", "error", err)
		panic(http.ErrAbortHandler) // cut the connection: half a file must not be taken for all of it
	}
}

// explain says in words for the person what an error means.
func (p *page) explain(r *http.Request, err error) chat.Line {
	switch {
	case errors.Is(err, chat.ErrUnreachable), errors.Is(err, context.DeadlineExceeded):
		return chat.Text(linePageTemporalAway)
	case errors.Is(err, gateway.ErrNoEngine):
		return chat.Text(linePageNoEngine)
	case errors.Is(err, gateway.ErrNotFound):
		return chat.Text(linePageNoSuchCall)
	default:
		p.Logger.ErrorContext(r.Context(), "page failed", "path", r.URL.Path, "error", err)
		return chat.Text(linePageWrongLog)
	}
}
