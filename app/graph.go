package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"go.temporal.io/sdk/client"
	"go.uber.org/fx"
	"gocloud.dev/blob/fileblob"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/agent/command"
	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/audit"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/dispatch"
	"github.com/countersignhq/countersign/events"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/transcript"
)

// graph is what each role consists of.
func graph(f flags) fx.Option {
	options := []fx.Option{
		fx.Provide(
			provideTemporal, provideDispatcher, provideDisks, provideAttachments, provideTranscript,
			provideExamples, provideRegistry, provideBus, provideSurfaces, provideAudit, newULID,
		),
	}
	if f.has(roleEngine) {
		options = append(options, fx.Provide(provideMirror, provideAgent, provideActivities), fx.Invoke(runEngine))
	}
	if f.has(roleGateway) {
		options = append(options, fx.Provide(provideIdentity), fx.Invoke(runGateway))
	}
	return fx.Options(options...)
}

// newID makes the ids of invocations.
type newID func() string

func newULID() newID { return func() string { return ulid.Make().String() } }

// temporal is the client and where it goes to.
type temporal struct {
	client.Client
	address, namespace string
}

func provideTemporal(lc fx.Lifecycle, env Environment, parts *embedded, logger *slog.Logger) (temporal, error) {
	c, options, err := newClient(env, parts.temporal, logger)
	if err != nil {
		return temporal{}, err
	}
	lc.Append(fx.StopHook(c.Close))
	return temporal{Client: c, address: options.HostPort, namespace: options.Namespace}, nil
}

func provideDispatcher(t temporal, store *attachments.Store, logger *slog.Logger) *dispatch.Dispatcher {
	return dispatch.New(dispatch.Params{Client: t.Client, Spill: spill(store), Logger: logger})
}

func provideTranscript(lc fx.Lifecycle, cfg *config.Config) (*transcript.Store, error) {
	bucket, err := fileblob.OpenBucket(filepath.Join(cfg.DataDir, "state"), &fileblob.Options{
		CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite,
	})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(bucket.Close))
	return transcript.New(bucket, nil), nil
}

func provideBus() *events.Bus { return events.New() }

func provideAudit(lc fx.Lifecycle, cfg *config.Config, logger *slog.Logger) (*audit.Log, error) {
	log, err := audit.Open(cfg.DataDir, logger)
	if err == nil {
		lc.Append(fx.StopHook(log.Close))
	}
	return log, err
}

func provideAgent(registry *tool.Registry, id newID) agent.Agent { return command.New(registry, id) }

func provideActivities(
	registry *tool.Registry, s *surfaces, d *dispatch.Dispatcher, m *mirror, store *attachments.Store,
	a agent.Agent, t *transcript.Store, log *audit.Log, bus *events.Bus, cfg *config.Config, logger *slog.Logger,
) *activities.Activities {
	route, _ := cfg.Route()
	p := activities.Params{
		Registry: registry, Senders: s.senders, Pollers: s.pollers, Signals: d, Attachments: store,
		Agent: a, Transcript: t, Audit: log, Publish: publish(bus), Logger: logger,
		Scope: scope(cfg), Languages: cfg.Choice(), AlsoAsk: cfg.AlsoAsked(),
		Defaults: activities.Defaults{
			ConfirmTimeout: cfg.ConfirmTimeout, HandoffTimeout: cfg.HandoffTimeout,
			Unsupported: cfg.Unsupported, Route: route, Queue: cfg.Stacking == config.StackingQueue,
			Page: pageAddress(cfg),
		},
	}
	if m.Mirror != nil {
		p.Mirror = m.Mirror
	}
	return activities.New(p)
}

// publish puts what this process's activities do on its live feed.
func publish(bus *events.Bus) activities.Publish {
	return func(kind, invocation string, thread chat.Thread, text string) {
		bus.Publish(gateway.Event{Kind: kind, Invocation: invocation, Thread: thread, Text: text, At: now()})
	}
}

func provideIdentity(cfg *config.Config, env Environment) (identity, error) {
	hash, err := gateway.EnsureToken(cfg.DataDir, env.Stdout)
	return identity{cfg: cfg, ownerHash: hash}, err
}

// scope tells whether an operation may be used by a person in a conversation: everywhere, unless
// the configuration limits the tool or the operation.
func scope(cfg *config.Config) activities.Scope {
	return func(in contract.Invocation) error {
		for _, name := range []string{in.Tool, in.Tool + "." + in.Operation} {
			if s, limited := cfg.Scope[name]; limited && !s.Allows(in.Thread, in.Requester) {
				return fmt.Errorf("%s may not be used by this person or in this conversation", name)
			}
		}
		return nil
	}
}

func newUUID() string { return uuid.Must(uuid.NewV7()).String() }

// dataPath is a folder of the data folder, made if it is not there.
func dataPath(cfg *config.Config, name string) (string, error) {
	folder := filepath.Join(cfg.DataDir, name)
	return folder, os.MkdirAll(folder, 0o700)
}

// background runs do beside the process; what it returns before the end ends the process.
func background(lc fx.Lifecycle, failed fail, do func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	lc.Append(fx.StartStopHook(
		func() {
			go func() {
				defer close(done)
				if err := do(ctx); err != nil && ctx.Err() == nil {
					failed(err)
				}
			}()
		},
		func() { cancel(); <-done },
	))
}
