package app

import (
	"context"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/audit"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/dispatch"
)

// audited is the dispatcher as people reach it over HTTP: who ends a grant is on record before it
// ends. In chats the activity behind `!revoke` does the same.
type audited struct {
	*dispatch.Dispatcher
	log *audit.Log
	via string // "api" or "web"
}

// Revoke implements gateway.Engine.
func (a audited) Revoke(ctx context.Context, id, by string) error {
	grants, err := a.Grants(ctx, nil)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if g.ID == id {
			return a.revoke(ctx, g, by)
		}
	}
	return contract.ErrNotFound
}

func (a audited) revoke(ctx context.Context, g contract.ListedGrant, by string) error {
	at := now().UTC()
	err := a.log.Record(ctx, activities.AuditEntry{
		At: at, Kind: "revoked", Invocation: g.ID, Tool: g.Tool, Operation: g.Operation, Thread: g.Thread, Requester: g.For,
		Decision: &chat.Decision{Decision: chat.Deny, By: by, Via: a.via, At: at},
	})
	if err != nil {
		return err
	}
	return a.Dispatcher.Revoke(ctx, g, by)
}
