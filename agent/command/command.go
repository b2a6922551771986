package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

// Agent turns commands into calls and results into a reply.
type Agent struct {
	registry *tool.Registry
	newID    func() string
}

// New returns the command agent. newID makes the ids of invocations.
func New(registry *tool.Registry, newID func() string) *Agent {
	return &Agent{registry: registry, newID: newID}
}

// Next implements agent.Agent.
func (a *Agent) Next(_ context.Context, turn agent.Turn) (contract.Step, error) {
	if len(turn.Results) > 0 {
		return contract.Step{Reply: report(turn.Results[len(turn.Results)-1])}, nil
	}
	text := strings.TrimSpace(turn.Message.Text)
	switch {
	case text == "" && len(turn.Message.Files) > 0:
		return contract.Step{Reply: received(turn.Message.Files)}, nil
	case !strings.HasPrefix(text, "/"):
		return contract.Step{Reply: a.hint(text, turn.Message.Files)}, nil
	}
	call, err := Parse(text)
	switch {
	case err != nil:
		return contract.Step{Reply: "I could not read that command: " + err.Error() + "."}, nil
	case call.Tool == "help" || call.Tool == "start":
		return contract.Step{Reply: a.help(call.Operation)}, nil
	}
	op, ok := a.registry.Find(call.Tool, call.Operation)
	if !ok {
		return contract.Step{Reply: a.unknown(call)}, nil
	}
	parameters, err := arguments(op.Schema, call.Values)
	if err != nil {
		return contract.Step{Reply: "I could not read that command: " + err.Error() + "."}, nil
	}
	key, err := approval.Digest(call.Tool, call.Operation, parameters, nil)
	if err != nil {
		return contract.Step{Reply: "I could not read that command: " + err.Error() + "."}, nil
	}
	return contract.Step{Calls: []contract.ToolCall{{
		ID: a.newID(), Tool: call.Tool, Operation: call.Operation, Parameters: parameters, Key: key,
	}}}, nil
}

// arguments makes the parameters; the schema decides the type of a bare word.
func arguments(schema string, values []Value) (json.RawMessage, error) {
	var declared struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal([]byte(schema), &declared); err != nil {
		return nil, fmt.Errorf("the tool's schema cannot be read: %w", err)
	}
	parameters := map[string]json.RawMessage{}
	for _, v := range values {
		if _, again := parameters[v.Name]; again {
			return nil, fmt.Errorf("%s is given twice; leave one of them out", shownName(v.Name))
		}
		raw := v.JSON
		if raw == nil {
			raw = typed(declared.Properties[v.Name].Type, v.Bare)
		}
		parameters[v.Name] = raw
	}
	return json.Marshal(parameters)
}

// typed reads a bare word as what the schema wants; the check of the parameters says what is wrong.
func typed(want any, bare string) json.RawMessage {
	switch want {
	case "integer", "number", "boolean", "null":
		if json.Valid([]byte(bare)) {
			return json.RawMessage(bare)
		}
	case "array":
		raw, _ := json.Marshal(strings.Split(bare, ","))
		return raw
	}
	raw, _ := json.Marshal(bare)
	return raw
}

// report says how a call ended, in words.
func report(r contract.ToolResult) string {
	name := r.Call.Tool + " " + r.Call.Operation
	result := r.Result
	switch approval.Code(result.Code) {
	case "":
		return fmt.Sprintf("✅ Done: %s%s", name, shown(result.Output))
	case approval.PermissionDenied:
		return "Not run: " + name + " – " + whyDenied(result) + "."
	case approval.OutcomeUnknown:
		return "⚠️ It is not known whether this was done: " + name + " – " + approval.Escape(result.Reason) + "."
	case approval.HandoffCancelled:
		return "Not done: " + name + " was cancelled."
	case approval.HandoffTimeout:
		return "Not done: " + name + " was not completed in time."
	case approval.InvalidParameters, approval.OutOfScope:
		return "Not done: " + name + " – " + result.Reason + "." // escaped where it was made
	default:
		return "Not done: " + name + " – " + approval.Escape(result.Reason) + "."
	}
}

// whyDenied says who or what stood against it.
func whyDenied(r contract.Result) string {
	switch approval.Reason(r.Reason) {
	case approval.ReasonDenied:
		if r.Approval != nil && r.Approval.Decision != nil && r.Approval.Decision.By != "" {
			return "denied by " + approval.Escape(r.Approval.Decision.By)
		}
		return "denied"
	case approval.ReasonTimeout:
		return "nobody answered in time"
	case approval.ReasonSuperseded:
		return "a newer question took its place"
	case approval.ReasonUndeliverable:
		return "the question could not be delivered"
	case approval.ReasonDrift:
		return "what was approved has changed since"
	case approval.ReasonWithdrawn:
		return "the question was withdrawn"
	case approval.ReasonNoApprover:
		return "there is nobody here who could be asked"
	default:
		return approval.Escape(r.Reason)
	}
}

// shown puts an output under the line; long texts are cut by the connector.
func shown(output json.RawMessage) string {
	if len(output) == 0 || string(output) == "null" { // an operation without output, before and after a history
		return ""
	}
	var fields map[string]any
	if json.Unmarshal(output, &fields) != nil {
		return "\n" + string(output)
	}
	if content, ok := fields["content"].(string); ok {
		if cut, _ := fields["truncated"].(bool); cut {
			content += "\n… (cut at 100 KB)"
		}
		return "\n" + content
	}
	pretty, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return "\n" + string(output)
	}
	return "\n" + string(pretty)
}

func received(files []chat.File) string {
	var b strings.Builder
	b.WriteString("I have received:")
	for _, f := range files {
		if f.Problem != "" {
			fmt.Fprintf(&b, "\n- %s: not taken, %s", approval.Escape(f.Name), f.Problem)
			continue
		}
		fmt.Fprintf(&b, "\n- %s (%d bytes)", f.Path, f.Size)
	}
	b.WriteString("\nSave one with: /file_manager save_attachment source=… disk=local path=…")
	return b.String()
}
