package activities

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/words"
)

// Plan walks the steps before a person is asked (CONTRACT §1, steps 1 to 4) and freezes what
// they found. What ends the call is in the plan's code, never an error.
func (a *Activities) Plan(ctx context.Context, in contract.Invocation) (contract.Plan, error) {
	op, ok := a.Registry.Find(in.Tool, in.Operation)
	if !ok {
		return refused(approval.OutOfScope, fmt.Sprintf("there is no operation %s of a tool %s",
			approval.Escape(in.Operation), approval.Escape(in.Tool))), nil
	}
	parameters, err := a.Registry.Check(in.Tool, in.Operation, in.Parameters)
	if err != nil {
		var invalid *tool.ParametersError
		if errors.As(err, &invalid) {
			return refused(approval.InvalidParameters, invalid.Error()), nil
		}
		return contract.Plan{}, fmt.Errorf("check the parameters: %w", err)
	}
	in.Parameters = parameters
	if a.Scope != nil {
		if err := a.Scope(in); err != nil {
			return refused(approval.OutOfScope, err.Error()), nil
		}
	}
	contents, err := a.available(ctx, op, in.Call())
	var unavailable *tool.UnavailableError
	if errors.As(err, &unavailable) {
		return refused(approval.Unavailable, unavailable.Reason), nil
	}
	if err != nil {
		return contract.Plan{}, err
	}
	digest, err := approval.Digest(in.Tool, in.Operation, parameters, contents)
	if err != nil {
		return contract.Plan{}, fmt.Errorf("digest the call: %w", err)
	}
	plan := contract.Plan{
		Mode: string(approval.Resolve(*op)), Parameters: parameters, Digest: digest, Thread: in.Thread,
		Approvers: op.Approvers.Normal(), Timeout: op.Timeout, Queue: a.Defaults.Queue,
		Declaration: tool.Hash(in.Tool, *op), Repeatable: op.Idempotent, RunTimeout: op.RunTimeout,
	}
	if plan.Timeout <= 0 {
		plan.Timeout = a.Defaults.ConfirmTimeout
	}
	return a.question(ctx, op, in, plan)
}

// available is step 3, and the hash of everything that is read or sent.
func (a *Activities) available(ctx context.Context, op *tool.Operation, call tool.Call) (map[string]string, error) {
	if op.Available != nil {
		if err := op.Available(ctx, call); err != nil {
			return nil, err
		}
	}
	if op.Contents == nil {
		return nil, nil
	}
	return op.Contents(ctx, call)
}

// question decides whether and where a person is asked.
func (a *Activities) question(ctx context.Context, op *tool.Operation, in contract.Invocation, plan contract.Plan) (contract.Plan, error) {
	mode := approval.Mode(plan.Mode)
	if mode == approval.None {
		return plan, nil
	}
	if mode == approval.Ask {
		if grant := a.granted(ctx, in, plan); grant != "" {
			plan.Mode, plan.Grant = string(approval.None), grant
			return plan, nil
		}
	}
	if !asks(in.Thread.Connector) {
		switch {
		case a.Defaults.Unsupported == "route" && asks(a.Defaults.Route.Connector):
			plan.Thread = a.Defaults.Route
		case a.Defaults.Unsupported == "deny" || a.Defaults.Unsupported == "route" || mode == approval.ByHandoff:
			return refused(approval.PermissionDenied, string(approval.ReasonNoApprover)), nil
		default:
			// The contract is the gate (CONTRACT §2); the audit log has it.
			plan.Mode, plan.Unasked = string(approval.None), true
			return plan, nil
		}
	}
	plan.Language = a.language(in, plan.Thread)
	if mode == approval.ByHandoff {
		return a.handoff(ctx, op, in, plan)
	}
	// A grant is for the conversation of the call; the route's is another one.
	plan.OfferAlways = approval.OffersAlways(mode) && plan.Thread == in.Thread
	return a.phrased(in, plan, func(language string, _ chat.Thread) (string, error) {
		prompt, err := approval.RenderIn(language, generic(*op, language), plan.Parameters)
		if err != nil {
			return "", fmt.Errorf("render the prompt: %w", err)
		}
		return words.Say(language, chat.Text(chat.LineQuestion, "prompt", prompt)), nil
	})
}

// phrased puts a question or a step into words: for its conversation, and for the others where
// the policy wants it asked too.
func (a *Activities) phrased(in contract.Invocation, plan contract.Plan, say func(language string, at chat.Thread) (string, error)) (contract.Plan, error) {
	var err error
	if plan.Prompt, err = say(plan.Language, plan.Thread); err != nil {
		return contract.Plan{}, err
	}
	for _, to := range a.AlsoAsk[in.Tool+"."+in.Operation] {
		if to.Thread == plan.Thread {
			continue
		}
		if to.Person.Key() != "" {
			if may, _ := approval.MayAnswer(plan.Approvers, to.Person, in.Requester.Key(), false); !may {
				continue // it would only be a question to somebody who is then refused
			}
		}
		language := a.Languages.Of(to.Person, to.Thread, "")
		prompt, err := say(language, to.Thread)
		if err != nil {
			return contract.Plan{}, err
		}
		line := chat.Text(chat.LineCopy, "prompt", prompt, "place", plan.Thread.Connector)
		if in.Requester.Key() == "" {
			line = line.With("by", chat.LineProgram)
		} else {
			line.Args["by"] = approval.Escape(in.Requester.Key()) // never a display name, which anyone can choose
		}
		plan.Copies = append(plan.Copies, contract.Copy{Thread: to.Thread, Prompt: words.Say(language, line), Language: language})
	}
	return plan, nil
}

// language is that of the person the call is made for, else the conversation's. A question that is
// asked elsewhere is read by others.
func (a *Activities) language(in contract.Invocation, asked chat.Thread) string {
	if asked != in.Thread {
		return a.Languages.Of(chat.Person{}, asked, "")
	}
	return a.Languages.Of(in.Requester, in.Thread, in.Language)
}

// generic puts the question about an operation whose author wrote none into a language; English
// where it would be longer than a template may be.
func generic(op tool.Operation, language string) tool.Operation {
	parameters, made := approval.Generic(op)
	if !made {
		return op
	}
	line := chat.Text(chat.LineGenericPlain, "operation", op.Name)
	if parameters != "" {
		line = chat.Text(chat.LineGeneric, "operation", op.Name, "parameters", parameters)
	}
	if prompt := words.Say(language, line); templated(prompt) {
		op.Prompt = prompt
	}
	return op
}

func templated(prompt string) bool {
	_, err := tool.ParseTemplate(prompt)
	return err == nil
}

// granted returns the grant that covers a call, if any: read only after the policy is resolved,
// so that raising an operation to danger voids it (CONTRACT §2).
func (a *Activities) granted(ctx context.Context, in contract.Invocation, plan contract.Plan) string {
	grants, err := a.Signals.Standing(ctx, in.Thread)
	if err != nil {
		a.Logger.Warn("grants could not be read, so a person is asked", "thread", in.Thread.String(), "error", err)
	}
	for _, g := range grants {
		if g.Tool == in.Tool && g.Operation == in.Operation && g.Declaration == plan.Declaration && g.For == in.Requester.Key() {
			return g.ID
		}
	}
	return ""
}

// handoff freezes the step that a person has to do.
func (a *Activities) handoff(ctx context.Context, op *tool.Operation, in contract.Invocation, plan contract.Plan) (contract.Plan, error) {
	declared := op.In(plan.Language).Handoff
	h := contract.Handoff{Reason: declared.Reason, Steps: declared.Steps, Timeout: declared.Timeout}
	if h.Timeout <= 0 {
		h.Timeout = a.Defaults.HandoffTimeout
	}
	if e := declared.Expect; e != nil {
		h.Expects, h.Observable = e.Desc, e.Observable
		done, err := e.Check(ctx, in.Call())
		if err != nil {
			a.Logger.Warn("a handoff's check failed before it was asked for", "tool", in.Tool, "operation", in.Operation, "error", err)
		}
		h.Satisfied = err == nil && done
	}
	if in.Thread.Connector != chat.Web || plan.Thread != in.Thread { // there, the card itself shows it
		h.Page = a.page(declared, in.ID)
	}
	plan.Handoff = &h
	return a.phrased(in, plan, func(language string, at chat.Thread) (string, error) {
		shown := h
		if at != plan.Thread {
			there := op.In(language).Handoff
			shown.Reason, shown.Steps, shown.Page = there.Reason, there.Steps, a.page(there, in.ID)
		}
		return words.Say(language, stepLine(shown)), nil
	})
}

// stepLine is the step as a chat shows it.
func stepLine(h contract.Handoff) chat.Line {
	steps := make([]string, len(h.Steps))
	for n, s := range h.Steps {
		steps[n] = fmt.Sprintf("%d. %s", n+1, s.Text)
	}
	all := strings.Join(steps, "\n")
	if h.Page == "" {
		return chat.Text(chat.LineStep, "reason", h.Reason, "steps", all)
	}
	return chat.Text(chat.LineStepPage, "reason", h.Reason, "steps", all, "page", h.Page)
}

// page is the address of the page on which a handoff is done.
func (a *Activities) page(h *tool.Handoff, id string) string {
	path := h.Page
	if path == "" {
		path = "/invocations/" + url.PathEscape(id)
	}
	if !strings.HasPrefix(path, "/") {
		return path // an application's own page
	}
	if a.Defaults.Page == "" {
		return ""
	}
	return a.Defaults.Page + path
}

// asks tells whether people can be asked on a connector (CONTRACT §2), configured or not.
func asks(connector string) bool {
	switch connector {
	case chat.Telegram, chat.Slack, chat.Email, chat.Web:
		return true
	default:
		return false
	}
}

func refused(code approval.Code, reason string) contract.Plan {
	return contract.Plan{Code: string(code), Reason: reason}
}
