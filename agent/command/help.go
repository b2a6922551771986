package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/tool"
)

// help lists the tools, or the operations of one with their parameters.
func (a *Agent) help(to speaker, name string) string {
	var b strings.Builder
	b.WriteString(to.say(chat.Text(lineHelp)) + "\n")
	for _, t := range a.registry.Tools() {
		if name != "" && name != t.Name {
			continue
		}
		fmt.Fprintf(&b, "\n%s – %s\n", t.Name, t.Description)
		for _, op := range t.Operations {
			parameters, err := tool.ParameterNames(op.Schema)
			if err != nil {
				parameters = nil // the registry has compiled it; nothing to add
			}
			fmt.Fprintf(&b, "  /%s %s %s%s\n", t.Name, op.Name, usage(parameters), to.asked(op))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func usage(parameters []string) string {
	out := make([]string, 0, len(parameters))
	for _, p := range parameters {
		out = append(out, p+"=…")
	}
	return strings.Join(out, " ")
}

func (s speaker) asked(op tool.Operation) string {
	switch approval.Resolve(op) {
	case approval.Ask, approval.AskAlways:
		return s.say(chat.Text(lineAsks))
	case approval.ByHandoff:
		return s.say(chat.Text(lineYours))
	default:
		return ""
	}
}

func (a *Agent) unknown(to speaker, call Call) string {
	for _, t := range a.registry.Tools() {
		if t.Name != call.Tool {
			continue
		}
		names := make([]string, 0, len(t.Operations))
		for _, op := range t.Operations {
			names = append(names, op.Name)
		}
		slices.Sort(names)
		return to.say(chat.Text(lineNoOperation,
			"tool", t.Name, "operation", said(call.Operation), "operations", strings.Join(names, ", ")))
	}
	return to.say(chat.Text(lineNoTool, "tool", said(call.Tool)))
}

// hint answers what is not a command.
func (s speaker) hint(text string, files []chat.File) string {
	switch approval.Read(text).Kind {
	case approval.Yes, approval.Always:
		return s.say(chat.Text(lineNoQuestion))
	default:
	}
	line := s.say(chat.Text(lineHint))
	if len(files) > 0 {
		return s.received(files) + "\n" + line
	}
	return line
}
