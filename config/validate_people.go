package config

import (
	"fmt"
	"maps"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/countersignhq/countersign/words"
)

var (
	slackID   = regexp.MustCompile(`^[A-Za-z0-9]+/[A-Za-z0-9]+$`)
	tokenForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	operation = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)
	scoped    = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?$`)
)

func (c *Config) validatePeople(found *problems) {
	names, ids := map[string]string{}, map[string]string{}
	for i, person := range c.People {
		key := fmt.Sprintf("people[%d]", i)
		found.name(key+".name", person.Name)
		// "Ada" and "ada" would be two people for a quorum, and one for a reader.
		found.unique(names, key+".name", strings.ToLower(person.Name), fmt.Sprintf("%q", person.Name))
		found.role(key+".role", person)
		found.language(key+".language", person.Language)
		found.telegram(key+".telegram", person.Telegram)
		found.each(key+".slack", person.Slack, slackID.MatchString, "is not team/user; write e.g. T01/U01")
		found.each(key+".email", person.Email, isAddress, "is not an address; write e.g. ada@example.test")
		for j, subject := range person.OIDC {
			at := fmt.Sprintf("%s.oidc[%d]", key, j)
			if strings.TrimSpace(subject) != subject || subject == "" {
				found.add(at, "is empty or has blanks around it; write the subject as the provider does")
			}
			found.unique(ids, at, "oidc:"+subject, fmt.Sprintf("%q", subject))
		}
		for j, token := range person.Tokens {
			at := fmt.Sprintf("%s.tokens[%d]", key, j)
			// Whoever wrote the token itself here must not find it in a log.
			if !tokenForm.MatchString(token) {
				found.add(at, "is not sha256: and 64 hexadecimal digits; `bin/starter tokens create` makes one")
			}
			found.unique(ids, at, token, "this token")
		}
		for _, id := range person.ids() {
			found.unique(ids, key, id, fmt.Sprintf("%q", id))
		}
	}
}

func (c *Config) validateLanguages(found *problems) {
	found.language("language", c.Language)
	for _, name := range slices.Sorted(maps.Keys(c.Conversations)) {
		key := "conversations[" + name + "]"
		if _, ok := thread(name); !ok {
			found.add(key, "is not connector:thread_key; write e.g. telegram:-100123 (connectors: %s)", strings.Join(connectors(), ", "))
		}
		found.language(key+".language", c.Conversations[name].Language)
	}
}

// language wants one that there is a catalog for; none is none.
func (p *problems) language(key, name string) {
	if _, ok := words.Match(name); name != "" && !ok {
		p.add(key, "%q is not spoken here; write one of %s", name, strings.Join(words.Languages(), ", "))
	}
}

func (p *problems) name(key, name string) {
	switch {
	case name == "":
		p.add(key, "is missing; every person needs one")
	case strings.Contains(name, ":"):
		p.add(key, "%q holds a colon, which platform ids do; leave it out", name)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.add(key, "%q holds characters that cannot be seen; leave them out", name)
	}
}

func (p *problems) role(key string, person Person) {
	switch {
	case person.Role != "" && person.Role != RoleApprover && person.Role != RoleAgent:
		p.add(key, "%q is not known; write approver or agent (an owner is owner: true)", person.Role)
	case person.Owner && person.Role == RoleAgent:
		p.add(key, "an owner cannot be an agent; take out owner: true or the role")
	}
}

func (p *problems) telegram(key string, ids []int64) {
	for i, id := range ids {
		if id <= 0 {
			p.add(fmt.Sprintf("%s[%d]", key, i), "%d is not a user's id (groups are below zero); write the person's own", id)
		}
	}
}

func (p *problems) each(key string, values []string, valid func(string) bool, text string) {
	for i, value := range values {
		if !valid(value) {
			p.add(fmt.Sprintf("%s[%d]", key, i), "%q %s", value, text)
		}
	}
}

// unique reports what somebody else has already: one id is one person.
func (p *problems) unique(seen map[string]string, key, value, shown string) {
	if value == "" {
		return
	}
	if first, taken := seen[value]; taken {
		p.add(key, "%s is also at %s; it can be in one place only", shown, first)
		return
	}
	seen[value] = key
}

func isAddress(address string) bool {
	parsed, err := mail.ParseAddress(address)
	return err == nil && parsed.Address == address
}

func (c *Config) validatePolicy(found *problems) {
	for _, name := range slices.Sorted(maps.Keys(c.Policy)) {
		policy, key := c.Policy[name], "policy["+name+"]"
		if !operation.MatchString(name) {
			found.add(key, "is not tool.operation; write e.g. file_manager.delete")
		}
		if policy.Confirm != "" {
			found.oneOf(key+".confirm", policy.Confirm, "true", "always", "false")
		}
		if policy.Timeout < 0 {
			found.add(key+".timeout", "%s is no time to wait; write e.g. 120s", policy.Timeout)
		}
		if policy.Approvers != nil {
			c.validateApprovers(found, key+".approvers", *policy.Approvers)
		}
		c.validateAskAlso(found, key+".ask_also", policy.AskAlso)
	}
}

func (c *Config) validateScope(found *problems) {
	for _, name := range slices.Sorted(maps.Keys(c.Scope)) {
		key := "scope[" + name + "]"
		if !scoped.MatchString(name) {
			found.add(key, "is neither a tool nor tool.operation; write e.g. file_manager.delete")
		}
		for i, connector := range c.Scope[name].Connectors {
			found.oneOf(fmt.Sprintf("%s.connectors[%d]", key, i), connector, connectors()...)
		}
	}
}

func (c *Config) validateApprovers(found *problems, key string, approvers Approvers) {
	if approvers.Who != "" {
		found.oneOf(key+".who", approvers.Who, "thread", "requester", "other", "list")
	}
	if approvers.Quorum < 0 {
		found.add(key+".quorum", "%d is below zero; write how many must agree", approvers.Quorum)
	}
	if approvers.Who != "list" {
		if len(approvers.People) > 0 {
			found.add(key+".people", "counts only with who: list; write that, or take the people out")
		}
		if approvers.Who == "requester" && approvers.Quorum > 1 {
			found.add(key+".quorum", "the requester is one person; write 1, or another who")
		}
		return
	}
	able := map[string]bool{}
	for i, name := range approvers.People {
		at := slices.IndexFunc(c.People, func(p Person) bool { return p.Name == name })
		switch {
		case at < 0:
			found.add(fmt.Sprintf("%s.people[%d]", key, i), "%q is nobody in people; write a name from there", name)
		case c.People[at].role() == RoleAgent:
			found.add(fmt.Sprintf("%s.people[%d]", key, i), "%q is an agent, which never decides; name a person", name)
		default:
			able[name] = true
		}
	}
	if needed := max(1, approvers.Quorum); len(able) < needed {
		found.add(key+".people", "names %d who may answer where %d must agree; add people or lower the quorum", len(able), needed)
	}
}
