package gateway

import (
	"net/http"

	"github.com/countersignhq/countersign/chat"
)

func (g *gateway) listGrants(w http.ResponseWriter, r *http.Request) {
	var thread *chat.Thread
	query := r.URL.Query()
	if connector, key := query.Get("connector"), query.Get("thread_key"); connector != "" || key != "" {
		if connector == "" || key == "" {
			fail(w, http.StatusUnprocessableEntity, "give both connector and thread_key, or neither")
			return
		}
		thread = &chat.Thread{Connector: connector, Key: key}
	}
	grants, err := g.Engine.Grants(r.Context(), thread)
	if err != nil {
		g.failed(w, r, err)
		return
	}
	respond(w, http.StatusOK, map[string]any{"grants": list(grants)})
}

func (g *gateway) deleteGrant(w http.ResponseWriter, r *http.Request) {
	if err := g.Engine.Revoke(r.Context(), pathValue(r, "id"), callerOf(r).person.Key()); err != nil {
		g.failed(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
