package approval

import (
	"slices"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/tool"
)

// Refusal says in words why somebody's answer does not count; empty if it does.
type Refusal string

// Why an answer does not count (CONTRACT §3).
const (
	RefusedBot          Refusal = "bots and agents never answer a question"
	RefusedAnonymous    Refusal = "this question needs an answer from a person who is known"
	RefusedNotRequester Refusal = "only the person the call is made for may answer"
	RefusedRequester    Refusal = "the person the call is made for may not answer it"
	RefusedNoRequester  Refusal = "it is not known whom the call is made for, so nobody here may answer"
	RefusedNotListed    Refusal = "only the people named for this operation may answer"
	RefusedPolicy       Refusal = "the policy of this operation is not known, so nobody may answer"
)

// MayAnswer tells whether an answer by who counts, and why not. requester is
// the key of the person the call is made for (chat.Person.Key). People are the
// same if their keys are, so ids must have been turned into configured names
// before. The connector's own account check comes before this.
//
// ownerDecides lets an owner decide every question, whatever the policy: it is
// for answers over HTTP (CONTRACT §9), never for those from a chat.
//
// Somebody without a key (a reply pushed into Redis by another program) counts
// only where anyone in the thread may answer and one is enough.
func MayAnswer(policy tool.Approvers, who chat.Person, requester string, ownerDecides bool) (bool, Refusal) {
	policy = policy.Normal()
	key := who.Key()
	switch {
	case who.Bot:
		return false, RefusedBot
	case key == "" && (policy.Who != tool.WhoThread || policy.Quorum > 1):
		return false, RefusedAnonymous
	case key != "" && who.Owner && ownerDecides:
		return true, ""
	}
	switch policy.Who {
	case tool.WhoThread:
		return true, ""
	case tool.WhoRequester:
		return verdict(requester != "" && key == requester, requester, RefusedNotRequester)
	case tool.WhoOther:
		return verdict(requester != "" && key != requester, requester, RefusedRequester)
	case tool.WhoList:
		if slices.Contains(policy.People, key) {
			return true, ""
		}
		return false, RefusedNotListed
	default:
		return false, RefusedPolicy
	}
}

// verdict refuses where the requester is not known: "anyone but nobody" would be
// anyone, the requester included.
func verdict(counts bool, requester string, refusal Refusal) (bool, Refusal) {
	switch {
	case counts:
		return true, ""
	case requester == "":
		return false, RefusedNoRequester
	default:
		return false, refusal
	}
}
