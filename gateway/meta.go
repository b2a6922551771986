package gateway

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/countersignhq/countersign/tool"
)

//go:embed openapi.yaml
var openAPIDocument []byte

func openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPIDocument) // the client is gone: nobody is left to tell
}

// healthz tells that this process runs; it asks nobody.
func (g *gateway) healthz(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, map[string]string{"status": "ok", "version": g.Version})
}

// readyz is 503 while Temporal is away: send traffic elsewhere, but do not restart this.
func (g *gateway) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
	defer cancel()
	if err := g.Engine.Healthy(ctx); err != nil {
		w.Header().Set("Retry-After", "5")
		fail(w, http.StatusServiceUnavailable, "Temporal cannot be reached; see TEMPORAL_ADDRESS")
		return
	}
	respond(w, http.StatusOK, map[string]string{"status": "ready"})
}

// about tells a client where things are.
func (g *gateway) about(w http.ResponseWriter, r *http.Request) {
	who := callerOf(r)
	respond(w, http.StatusOK, map[string]string{
		"version": g.Version, "url": g.base(r), "ui_url": g.UIURL, "namespace": g.Namespace,
		"person": who.person.Label(), "role": who.role,
	})
}

// listedTool is a declaration as a client sees it.
type listedTool struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Operations  []listedOperation `json:"operations"`
}

type listedOperation struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Kind        tool.Kind       `json:"kind"`
	Confirm     tool.Confirm    `json:"confirm,omitempty"`
	Prompt      string          `json:"prompt,omitempty"`
	Handoff     bool            `json:"handoff,omitempty"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema
}

func (g *gateway) listTools(w http.ResponseWriter, _ *http.Request) {
	tools := []listedTool{}
	for _, t := range g.Tools {
		listed := listedTool{Name: t.Name, Description: t.Description, Operations: []listedOperation{}}
		for _, o := range t.Operations {
			schema := json.RawMessage(o.Schema)
			if !json.Valid(schema) { // the registry refuses these; {} allows anything
				schema = json.RawMessage("{}")
			}
			listed.Operations = append(listed.Operations, listedOperation{
				Name: o.Name, Description: o.Description, Kind: o.Kind, Confirm: o.Confirm,
				Prompt: o.Prompt, Handoff: o.Handoff != nil, Parameters: schema,
			})
		}
		tools = append(tools, listed)
	}
	respond(w, http.StatusOK, map[string]any{"tools": tools})
}

// WorkflowURL is where Temporal's Web UI shows a workflow; empty without a UI.
func WorkflowURL(ui, namespace, workflowID string) string {
	if ui == "" {
		return ""
	}
	return strings.TrimRight(ui, "/") + "/namespaces/" + url.PathEscape(namespace) + "/workflows/" + url.PathEscape(workflowID)
}

// Size names a number of bytes for people.
func Size(bytes int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	value, unit := float64(bytes), 0
	for value >= 1000 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
