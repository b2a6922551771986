package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.uber.org/fx"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/gateway/delivered"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/toolbox/filemanager"
	"github.com/countersignhq/countersign/transcript"
)

func openDisks(ctx context.Context, cfg *config.Config) (*disks.Disks, error) {
	return disks.Open(ctx, disks.Params{
		URLs: cfg.Disks, Allowed: cfg.AllowedDisks,
		Protected: map[string][]string{cfg.Attachments.Disk: {cfg.Attachments.IncomingPath, cfg.Attachments.OutgoingPath}},
	})
}

func openAttachments(d *disks.Disks, cfg *config.Config) (*attachments.Store, error) {
	disk, err := d.Unguarded(cfg.Attachments.Disk)
	if err != nil {
		return nil, err
	}
	return attachments.New(attachments.Params{
		Disk: disk, Inbound: cfg.Attachments.IncomingPath, Outbound: cfg.Attachments.OutgoingPath,
	})
}

func provideDisks(lc fx.Lifecycle, cfg *config.Config) (*disks.Disks, error) {
	d, err := openDisks(context.Background(), cfg)
	if err == nil {
		lc.Append(fx.StopHook(d.Close))
	}
	return d, err
}

func provideAttachments(d *disks.Disks, cfg *config.Config) (*attachments.Store, error) {
	return openAttachments(d, cfg)
}

// pruneDaily is the schedule of CONTRACT §6. Several engines may do it at the same time.
func pruneDaily(
	store *attachments.Store, copies *delivered.Store, keep time.Duration, logger *slog.Logger,
) func(context.Context) error {
	return func(ctx context.Context) error {
		for keep > 0 {
			removed, err := store.Prune(ctx, keep, time.Now())
			// What the page still shows of replies goes with them.
			_, lost := copies.Prune(ctx, time.Now().Add(-keep))
			err = errors.Join(err, lost)
			switch {
			case err != nil:
				logger.Warn("old attachments could not all be removed", "error", err)
			case removed > 0:
				logger.Info("old attachments were removed", "folders", removed)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(24 * time.Hour):
			}
		}
		return nil
	}
}

// prune removes old attachments without a running worker: the disk is the truth.
func prune(cfg *config.Config) func(context.Context, time.Duration) (int, error) {
	return func(ctx context.Context, olderThan time.Duration) (int, error) {
		d, err := openDisks(ctx, cfg)
		if err != nil {
			return 0, err
		}
		defer d.Close()
		store, err := openAttachments(d, cfg)
		if err != nil {
			return 0, err
		}
		return store.Prune(ctx, olderThan, time.Now())
	}
}

// provideRegistry holds the tools as they are declared, under the operator's policy.
func provideRegistry(
	d *disks.Disks, store *attachments.Store, t *transcript.Store, e examples, cfg *config.Config, logger *slog.Logger,
) (*tool.Registry, error) {
	tools := append(e.tools(), filemanager.New(filemanager.Params{Disks: d, Attachments: store, Conversation: t}))
	if err := override(tools, cfg.Policy); err != nil {
		return nil, err
	}
	registry, warnings, err := tool.NewRegistry(tools...)
	for _, w := range warnings {
		logger.Warn("a tool's declaration: " + w.String())
	}
	return registry, err
}

// override applies the policies to the declarations; one that names no operation is a mistake.
func override(tools []tool.Tool, policies map[string]config.Policy) error {
	unused := make([]string, 0, len(policies))
	for name := range policies {
		unused = append(unused, name)
	}
	for _, t := range tools {
		for n, op := range t.Operations {
			name := t.Name + "." + op.Name
			p, ok := policies[name]
			if !ok {
				continue
			}
			unused = slices.DeleteFunc(unused, func(u string) bool { return u == name })
			changed, err := approval.Apply(op, approvalOverride(p))
			if err != nil {
				return fmt.Errorf("policy.%s: %w", name, err)
			}
			t.Operations[n] = changed
		}
	}
	if len(unused) > 0 {
		slices.Sort(unused)
		return fmt.Errorf("policy.%s: there is no such operation; see `starter tools list`", unused[0])
	}
	return nil
}

func approvalOverride(p config.Policy) approval.Override {
	o := approval.Override{Confirm: tool.Confirm(p.Confirm), Timeout: p.Timeout, Loosen: p.Loosen}
	if p.Approvers != nil {
		o.Approvers = tool.Approvers{
			Who: tool.Who(p.Approvers.Who), People: p.Approvers.People, Quorum: p.Approvers.Quorum,
		}
	}
	return o
}
