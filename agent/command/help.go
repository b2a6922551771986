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
func (a *Agent) help(name string) string {
	var b strings.Builder
	b.WriteString("Write a call like this: /file_manager delete disk=local path=reports/old.csv\n")
	b.WriteString("!new starts the conversation afresh.\n")
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
			fmt.Fprintf(&b, "  /%s %s %s%s\n", t.Name, op.Name, usage(parameters), asked(op))
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

func asked(op tool.Operation) string {
	switch approval.Resolve(op) {
	case approval.Ask, approval.AskAlways:
		return " (asks first)"
	case approval.ByHandoff:
		return " (you do it yourself)"
	default:
		return ""
	}
}

func (a *Agent) unknown(call Call) string {
	for _, t := range a.registry.Tools() {
		if t.Name != call.Tool {
			continue
		}
		names := make([]string, 0, len(t.Operations))
		for _, op := range t.Operations {
			names = append(names, op.Name)
		}
		slices.Sort(names)
		return fmt.Sprintf("%s has no operation %s. It can: %s.", t.Name, said(call.Operation), strings.Join(names, ", "))
	}
	return fmt.Sprintf("There is no tool %s. Write /help to see what there is.", said(call.Tool))
}

// hint answers what is not a command.
func (a *Agent) hint(text string, files []chat.File) string {
	switch approval.Read(text).Kind {
	case approval.Yes, approval.Always:
		return "There is no question open here, so nothing was run. Write /help to see what I can do."
	default:
	}
	line := "I only understand commands here. Write /help to see them, for example: /file_manager list disk=local path=/"
	if len(files) > 0 {
		return received(files) + "\n" + line
	}
	return line
}
