package tool

import (
	"errors"
	"fmt"
	"slices"
)

// Normal returns the same policy written in one way: the zero Who as WhoThread,
// a quorum below 1 as 1, people sorted and each once.
func (a Approvers) Normal() Approvers {
	if a.Who == "" {
		a.Who = WhoThread
	}
	a.Quorum = max(a.Quorum, 1)
	a.People = slices.Compact(slices.Sorted(slices.Values(a.People)))
	return a
}

// Check tells what is wrong with a policy, and what to do: an unknown Who, a
// list of nobody, people without a list, a quorum that can never be reached.
func (a Approvers) Check() error {
	n := a.Normal()
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	switch n.Who {
	case WhoThread, WhoRequester, WhoOther, WhoList:
	default:
		add("approvers.who is %s; use thread, requester, other or list", quoteShort(string(n.Who)))
	}
	if a.Quorum < 0 {
		add("approvers.quorum is %d; use 1 or more", a.Quorum)
	}
	if slices.Contains(n.People, "") {
		add("approvers.people has an empty name; use the names of the configuration")
	}
	switch {
	case n.Who == WhoList && len(n.People) == 0:
		add("approvers.who is list and there are no people: nobody could answer; name them in approvers.people")
	case n.Who == WhoList && n.Quorum > len(n.People):
		add("approvers.quorum is %d and there are %d people; it could never be reached: name more or ask for fewer",
			n.Quorum, len(n.People))
	case n.Who == WhoRequester && n.Quorum > 1:
		add("approvers.quorum is %d and only the requester may answer; use a quorum of 1 or another approvers.who", n.Quorum)
	case n.Who != WhoList && len(n.People) > 0:
		add("approvers.people is only for approvers.who: list; remove one of the two")
	}
	return errors.Join(problems...)
}
