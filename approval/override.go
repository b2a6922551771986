package approval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersignhq/countersign/tool"
)

// Override is what the configuration says over one declaration (CONTRACT §8,
// `policy`). Zero values leave the declaration as it is.
type Override struct {
	Confirm tool.Confirm
	Timeout time.Duration
	// Approvers replaces field by field: who, people, quorum.
	Approvers tool.Approvers
	// Loosen permits a policy that asks for less than the declaration.
	Loosen bool
}

// Apply returns the operation with the override applied. Without Loosen it
// refuses everything that asks for less agreement than the declaration; a longer
// or shorter timeout is not looser. All problems are reported at once; each says
// what to do.
//
// An operation that only the override makes ask gets a prompt of its parameters
// if it has none.
func Apply(op tool.Operation, override Override) (tool.Operation, error) {
	result := op
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	switch override.Confirm {
	case tool.ConfirmUnset:
	case tool.ConfirmTrue, tool.ConfirmAlways, tool.ConfirmFalse:
		if op.Handoff != nil {
			add("confirm has no effect on an operation with a handoff; remove it")
			break
		}
		result.Confirm = override.Confirm
	default:
		add("confirm is %q; use true, always or false", string(override.Confirm))
	}
	switch {
	case override.Timeout < 0:
		add("timeout is %s; use a positive time", override.Timeout)
	case override.Timeout > 0 && op.Handoff != nil:
		handoff := *op.Handoff // the declaration's own stays as it is
		handoff.Timeout = override.Timeout
		result.Handoff = &handoff
	case override.Timeout > 0:
		result.Timeout = override.Timeout
	}
	result.Approvers = mergeApprovers(op.Approvers, override.Approvers)
	if err := result.Approvers.Check(); err != nil {
		problems = append(problems, err)
	}
	if !override.Loosen && len(problems) == 0 {
		problems = looser(op, result)
	}
	if len(problems) > 0 {
		return tool.Operation{}, errors.Join(problems...)
	}
	if asks(Resolve(result)) && strings.TrimSpace(result.Prompt) == "" {
		result.Prompt = genericPrompt(result)
	}
	return result, nil
}

func mergeApprovers(declared, override tool.Approvers) tool.Approvers {
	result := declared
	if override.Who != "" {
		result.Who = override.Who
		if override.Who != tool.WhoList {
			result.People = nil
		}
	}
	if len(override.People) > 0 {
		result.People = slices.Clone(override.People)
	}
	if override.Quorum != 0 {
		result.Quorum = override.Quorum
	}
	return result
}

// strictness orders the modes in which configuration may move an operation.
func strictness(mode Mode) int {
	switch mode {
	case None:
		return 0
	case Ask:
		return 1
	default:
		return 2
	}
}

func asks(mode Mode) bool { return mode == Ask || mode == AskAlways }

func looser(declared, configured tool.Operation) []error {
	var problems []error
	before, after := Resolve(declared), Resolve(configured)
	if strictness(after) < strictness(before) {
		problems = append(problems, fmt.Errorf(
			"confirm: %s is looser than the declaration (%s instead of %s); remove it, or add loosen: true if that is meant",
			configured.Confirm, words(after), words(before)))
	}
	if before == None { // nobody was asked, so nobody can be asked less
		return problems
	}
	if why := looserApprovers(declared.Approvers.Normal(), configured.Approvers.Normal()); why != "" {
		problems = append(problems, fmt.Errorf(
			"approvers are looser than the declaration: %s; change them, or add loosen: true if that is meant", why))
	}
	return problems
}

func words(mode Mode) string {
	switch mode {
	case None:
		return "runs without asking"
	case Ask:
		return "asks, and can be allowed for a conversation"
	case AskAlways:
		return "asks every time"
	default:
		return "is done by a person"
	}
}

// looserApprovers says in which way configured is looser, empty if it is not.
// The thread holds the requester and the others, a list names its people;
// whatever cannot be shown to be a part of what was declared is looser: a list
// may hold the requester, so it is looser than other.
func looserApprovers(declared, configured tool.Approvers) string {
	var ways []string
	if configured.Quorum < declared.Quorum {
		ways = append(ways, fmt.Sprintf("a quorum of %d instead of %d", configured.Quorum, declared.Quorum))
	}
	switch {
	case declared.Who == tool.WhoThread:
	case configured.Who != declared.Who:
		ways = append(ways, fmt.Sprintf("%s instead of %s", configured.Who, declared.Who))
	case declared.Who == tool.WhoList:
		var added []string
		for _, name := range configured.People {
			if !slices.Contains(declared.People, name) {
				added = append(added, name)
			}
		}
		if len(added) > 0 {
			ways = append(ways, "the list also has "+Escape(strings.Join(added, ", ")))
		}
	}
	return strings.Join(ways, ", ")
}

// genericPrompt asks about an operation whose author wrote no question, showing
// every parameter, as many as a template may hold.
func genericPrompt(op tool.Operation) string {
	names, err := tool.ParameterNames(op.Schema)
	if err != nil {
		names = nil // refused at registration
	}
	var shown []string
	for _, name := range names {
		more := append(slices.Clip(shown), name+": {"+name+"}")
		if _, err := tool.ParseTemplate(generic(op.Name, more)); err == nil {
			shown = more
		}
	}
	return generic(op.Name, shown)
}

func generic(name string, parameters []string) string {
	if len(parameters) == 0 {
		return "Run " + name + "?"
	}
	return "Run " + name + " with " + strings.Join(parameters, ", ") + "?"
}

// Generic tells whether an operation's prompt is the one that Apply made because its author wrote
// none, and returns the template of the parameters in it ("path: {path}, disk: {disk}", empty for
// none): what it takes to ask in another language.
func Generic(op tool.Operation) (parameters string, made bool) {
	if op.Prompt == "" || op.Prompt != genericPrompt(op) {
		return "", false
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(op.Prompt, "Run "+op.Name), "?")
	return strings.TrimPrefix(inner, " with "), true
}
