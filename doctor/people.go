package doctor

import (
	"context"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
)

// People are those of the configuration; that no two share a name or an id is config's to see.
type People struct{ Config *config.Config }

// Check notes who cannot answer anywhere.
func (p People) Check(_ context.Context, n *Notes) {
	if len(p.Config.People) == 0 {
		n.Warn("people", "list who may write and answer under people in countersign.yaml, with their ids on each platform",
			"nobody is configured: only the holder of the token in %s can answer", p.Config.DataDir)
		return
	}
	if owner, ok := p.Config.FirstOwner(); ok {
		n.OK("owner", "%s", owner.Name)
	} else {
		n.Warn("owner", "write `owner: true` at one person", "nobody is an owner: the token in the data folder belongs to nobody by name")
	}
	enabled := p.enabled()
	reachable := 0
	for _, person := range p.Config.People {
		if person.Role == config.RoleAgent {
			if len(person.Tokens) == 0 {
				n.Warn(person.Name, "make one with `starter tokens create` and put its hash under the person's tokens",
					"is an agent without a token, so it can start nothing")
			}
			continue
		}
		if len(person.Tokens) > 0 || p.on(person, enabled) || p.signsIn(person) || person.Owner {
			reachable++
			continue
		}
		mend := "add an id of theirs on " + orDefault(strings.Join(enabled, " or "), "a connector that you switch on") + ", or a token"
		n.Warn(person.Name, mend, "has no id on a connector that is on, and no token: nobody can write or answer as this person")
	}
	n.OK("ids", "%d of %d people can be recognised", reachable, p.humans())
}

func (p People) humans() (count int) {
	for _, person := range p.Config.People {
		if person.Role != config.RoleAgent {
			count++
		}
	}
	return count
}

// enabled are the connectors on which people have ids.
func (p People) enabled() (names []string) {
	for name, on := range map[string]bool{
		chat.Telegram: p.Config.Telegram.Enabled, chat.Slack: p.Config.Slack.Enabled, chat.Email: p.Config.Email.Enabled,
	} {
		if on {
			names = append(names, name)
		}
	}
	return sorted(names)
}

// signsIn tells whether the person can do so on the page, by the OpenID provider.
func (p People) signsIn(person config.Person) bool {
	return p.Config.OIDC.Issuer != "" && len(person.OIDC)+len(person.Email) > 0
}

func (p People) on(person config.Person, enabled []string) bool {
	for _, name := range enabled {
		ids := map[string]int{chat.Telegram: len(person.Telegram), chat.Slack: len(person.Slack), chat.Email: len(person.Email)}
		if ids[name] > 0 {
			return true
		}
	}
	return false
}
