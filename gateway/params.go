package gateway

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/tool"
)

// The roles of a token (CONTRACT §9): an owner may decide every question, an approver
// those that the policy allows, an agent none.
const (
	RoleOwner    = "owner"
	RoleApprover = "approver"
	RoleAgent    = "agent"
)

// Identity tells who is calling.
type Identity interface {
	// Token returns whose token has this SHA-256 (64 hex digits, lower case), and its role.
	Token(sha256hex string) (person chat.Person, role string, ok bool)
	// Person returns the configured person of that name or platform id ("telegram:1001").
	Person(ref string) (person chat.Person, ok bool)
}

// Attachments is the attachments disk (CONTRACT §6), as far as HTTP needs it.
type Attachments interface {
	// Save streams a file into inbound/{uuid}/ under a safe form of its name.
	Save(ctx context.Context, uuid, name string, content io.Reader) (chat.File, error)
	// Discard takes back a file that Save has stored, by the name it has there.
	Discard(ctx context.Context, uuid, name string) error
	// Open returns a file of outbound/{uuid}/ and its size; fs.ErrNotExist if there is none.
	Open(ctx context.Context, uuid, name string) (content io.ReadCloser, size int64, err error)
}

// Delivered keeps the terminal's outgoing files until the client has them; package
// delivered implements it.
type Delivered interface {
	Open(ctx context.Context, owner, uuid, name string) (content io.ReadCloser, size int64, err error)
	Remove(ctx context.Context, owner, uuid string) error
}

// Params are the parts of a gateway. Engine, Events, Identity and Attachments are required.
type Params struct {
	Engine      Engine
	Events      Events
	Identity    Identity
	Attachments Attachments
	// Delivered holds the terminal's outgoing files; nil: the terminal's replies have none.
	Delivered Delivered
	// Page is served below "/", where no other route matches.
	Page http.Handler
	// Webhooks are served by POST, by path ("/telegram/webhook"); they check their own secrets.
	Webhooks map[string]http.Handler
	// Tools are listed by GET /api/tools.
	Tools []tool.Tool
	// RateLimit is LARACLAW_WEBHOOK_RATE_LIMIT: messages a minute for each token, 0 is off.
	RateLimit int
	// MaxUpload bounds one multipart message in bytes; 0 is 256 MiB.
	MaxUpload int64
	// TurnTimeout bounds how long POST /api/message waits for the reply; 0 is 10 minutes.
	TurnTimeout time.Duration
	// EngineTimeout bounds how long Temporal may take to accept something; 0 is 5 seconds.
	EngineTimeout time.Duration
	// Heartbeat is the time between two comments on an idle event stream; 0 is 15 seconds.
	Heartbeat time.Duration
	// Metrics is served at /metrics; nil makes a registry.
	Metrics *prometheus.Registry
	Logger  *slog.Logger
	Now     func() time.Time
	NewUUID func() string
	// PublicURL is where others reach the gateway; empty: as the request did.
	PublicURL string
	// UIURL is Temporal's Web UI and Namespace the namespace there; empty where there is none.
	UIURL, Namespace string
	Version          string
}

func (p Params) withDefaults() Params {
	if p.MaxUpload == 0 {
		p.MaxUpload = 256 << 20
	}
	if p.TurnTimeout == 0 {
		p.TurnTimeout = 10 * time.Minute
	}
	if p.EngineTimeout == 0 {
		p.EngineTimeout = 5 * time.Second
	}
	if p.Heartbeat == 0 {
		p.Heartbeat = 15 * time.Second
	}
	if p.Metrics == nil {
		p.Metrics = prometheus.NewRegistry()
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
	if p.Namespace == "" {
		p.Namespace = "default"
	}
	return p
}
