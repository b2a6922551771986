package cli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// listedTool is one of GET /api/tools.
type listedTool struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Operations  []listedOperation `json:"operations"`
}

type listedOperation struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Kind        string          `json:"kind"`
	Confirm     string          `json:"confirm,omitempty"`
	Prompt      string          `json:"prompt,omitempty"`
	Handoff     bool            `json:"handoff,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// names lists the parameters: required ones first, others in brackets.
func (o listedOperation) names() string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(o.Parameters, &schema) != nil {
		return ""
	}
	list := slices.Sorted(slices.Values(schema.Required))
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(schema.Required, name) {
			list = append(list, "["+name+"]")
		}
	}
	return strings.Join(list, " ")
}
