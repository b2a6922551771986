package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
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
	to := speaker(turn.Language)
	if len(turn.Results) > 0 {
		return contract.Step{Reply: to.report(turn.Results[len(turn.Results)-1])}, nil
	}
	text := strings.TrimSpace(turn.Message.Text)
	switch {
	case text == "" && len(turn.Message.Files) > 0:
		return contract.Step{Reply: to.received(turn.Message.Files)}, nil
	case !strings.HasPrefix(text, "/"):
		return contract.Step{Reply: to.hint(text, turn.Message.Files)}, nil
	}
	call, err := Parse(text)
	switch {
	case err != nil:
		return to.unreadable(err), nil
	case call.Tool == "help" || call.Tool == "start":
		return contract.Step{Reply: a.help(to, call.Operation)}, nil
	}
	op, ok := a.registry.Find(call.Tool, call.Operation)
	if !ok {
		return contract.Step{Reply: a.unknown(to, call)}, nil
	}
	parameters, err := arguments(op.Schema, call.Values)
	if err != nil {
		return to.unreadable(err), nil
	}
	key, err := approval.Digest(call.Tool, call.Operation, parameters, nil)
	if err != nil {
		return to.unreadable(err), nil
	}
	return contract.Step{Calls: []contract.ToolCall{{
		ID: a.newID(), Tool: call.Tool, Operation: call.Operation, Parameters: parameters, Key: key,
	}}}, nil
}

// unreadable answers a command that is none; why is in English, like the command itself.
func (s speaker) unreadable(why error) contract.Step {
	return contract.Step{Reply: s.say(chat.Text(lineUnreadable, "why", why.Error()))}
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
func (s speaker) report(r contract.ToolResult) string {
	name, result := r.Call.Tool+" "+r.Call.Operation, r.Result
	switch approval.Code(result.Code) {
	case "":
		return s.say(chat.Text(lineDone, "call", name)) + s.shown(result.Output)
	case approval.PermissionDenied:
		return s.say(whyDenied(name, result))
	case approval.OutcomeUnknown:
		return s.say(chat.Text(lineUnknown, "call", name, "reason", approval.Escape(result.Reason)))
	case approval.HandoffCancelled:
		return s.say(chat.Text(lineCancelled, "call", name))
	case approval.HandoffTimeout:
		return s.say(chat.Text(lineLate, "call", name))
	case approval.InvalidParameters, approval.OutOfScope:
		return s.say(chat.Text(lineFailed, "call", name, "reason", result.Reason)) // escaped where it was made
	default:
		return s.say(chat.Text(lineFailed, "call", name, "reason", approval.Escape(result.Reason)))
	}
}

// whyDenied says who or what stood against it.
func whyDenied(name string, r contract.Result) chat.Line {
	switch approval.Reason(r.Reason) {
	case approval.ReasonDenied:
		if r.Approval != nil && r.Approval.Decision != nil && r.Approval.Decision.By != "" {
			return chat.Text(lineDeniedBy, "call", name, "by", approval.Escape(r.Approval.Decision.By))
		}
		return chat.Text(lineDenied, "call", name)
	case approval.ReasonTimeout:
		return chat.Text(lineTimeout, "call", name)
	case approval.ReasonSuperseded:
		return chat.Text(lineSuperseded, "call", name)
	case approval.ReasonUndeliverable:
		return chat.Text(lineUndeliverable, "call", name)
	case approval.ReasonDrift:
		return chat.Text(lineDrift, "call", name)
	case approval.ReasonWithdrawn:
		return chat.Text(lineWithdrawn, "call", name)
	case approval.ReasonNoApprover:
		return chat.Text(lineNoApprover, "call", name)
	default:
		return chat.Text(lineNotRun, "call", name, "reason", approval.Escape(r.Reason))
	}
}

// shown puts an output under the line; long texts are cut by the connector.
func (s speaker) shown(output json.RawMessage) string {
	if len(output) == 0 || string(output) == "null" { // an operation without output, before and after a history
		return ""
	}
	var fields map[string]any
	if json.Unmarshal(output, &fields) != nil {
		return "\n" + string(output)
	}
	if content, ok := fields["content"].(string); ok {
		if cut, _ := fields["truncated"].(bool); cut {
			content += "\n" + s.say(chat.Text(lineCut))
		}
		return "\n" + content
	}
	pretty, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return "\n" + string(output)
	}
	return "\n" + string(pretty)
}

func (s speaker) received(files []chat.File) string {
	lines := []string{s.say(chat.Text(lineReceived))}
	for _, f := range files {
		if f.Problem != "" {
			lines = append(lines, s.say(chat.Text(lineReceivedProblem, "name", approval.Escape(f.Name), "problem", f.Problem)))
			continue
		}
		lines = append(lines, s.say(chat.Text(lineReceivedFile, "path", f.Path, "bytes", strconv.FormatInt(f.Size, 10))))
	}
	return strings.Join(append(lines, s.say(chat.Text(lineReceivedSave))), "\n")
}
