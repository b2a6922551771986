package app

import (
	"context"

	"github.com/countersignhq/countersign/activities"
	"github.com/countersignhq/countersign/audit"
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
	at := now()
	if err := a.log.Record(ctx, activities.Revoked(at, g, by, a.via, at)); err != nil {
		return err
	}
	return a.Dispatcher.Revoke(ctx, g, by)
}
