package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// Role is what a token lets its holder do (CONTRACT §8, §9).
type Role string

// The roles. The zero value may do nothing.
const (
	// RoleOwner may decide every question over HTTP.
	RoleOwner Role = "owner"
	// RoleApprover may decide those that the policy allows.
	RoleApprover Role = "approver"
	// RoleAgent can start invocations and can never decide one.
	RoleAgent Role = "agent"
)

// Person is somebody known, with the ids by which each platform knows them.
type Person struct {
	// Name identifies the person across channels; it holds no colon.
	Name  string `koanf:"name"`
	Owner bool   `koanf:"owner"`
	// Role of the person's tokens, approver where it is empty; owners are RoleOwner.
	Role Role `koanf:"role"`
	// Language in which the person is spoken to (BCP 47); empty for the conversation's.
	Language string `koanf:"language"`
	// Telegram are numeric user ids.
	Telegram []int64 `koanf:"telegram"`
	// Slack are team/user.
	Slack []string `koanf:"slack"`
	// Email are addresses, lower case once loaded.
	Email []string `koanf:"email"`
	// OIDC are subjects (sub) at the OpenID provider, as it writes them.
	OIDC []string `koanf:"oidc"`
	// Tokens are "sha256:" and 64 hexadecimal digits, lower case once loaded.
	Tokens []string `koanf:"tokens"`
}

const tokenPrefix = "sha256:"

func (p Person) role() Role {
	switch {
	case p.Owner:
		return RoleOwner
	case p.Role == "":
		return RoleApprover
	default:
		return p.Role
	}
}

// ids are the person's platform ids in the form of chat.Person.ID.
func (p Person) ids() []string {
	var ids []string
	for _, id := range p.Telegram {
		ids = append(ids, chat.Telegram+":"+strconv.FormatInt(id, 10))
	}
	for _, id := range p.Slack {
		ids = append(ids, chat.Slack+":"+id)
	}
	for _, address := range p.Email {
		ids = append(ids, chat.Email+":"+strings.ToLower(address))
	}
	return ids
}

func (p Person) as(id string) chat.Person {
	return chat.Person{ID: id, Name: p.Name, Owner: p.Owner, Bot: p.role() == RoleAgent, Language: p.Language}
}

// Person returns who has this platform id ("telegram:1001", "slack:T01/U01",
// "email:ada@example.test"); a stranger has the id alone.
func (c *Config) Person(platformID string) chat.Person {
	connector, rest, _ := strings.Cut(platformID, ":")
	if connector == chat.Email {
		platformID = chat.Email + ":" + asciiLower(rest)
	}
	for _, person := range c.People {
		for _, id := range person.ids() {
			if id == platformID {
				return person.as(platformID)
			}
		}
	}
	return chat.Person{ID: platformID}
}

// Known tells whether somebody in the configuration has this platform id.
func (c *Config) Known(platformID string) bool { return c.Person(platformID).Name != "" }

// Token returns whose API token has this SHA-256 (64 hexadecimal digits). The
// token itself never comes here, so comparing needs no constant time.
func (c *Config) Token(sha256hex string) (chat.Person, Role, bool) {
	want := tokenPrefix + sha256hex
	for _, person := range c.People {
		for _, token := range person.Tokens {
			if strings.EqualFold(token, want) {
				return person.as(chat.API + ":" + person.Name), person.role(), true
			}
		}
	}
	return chat.Person{}, "", false
}

// Account returns whose account at the OpenID provider this is: by its subject, else by its
// address, which is empty where the provider did not prove it.
func (c *Config) Account(subject, mail string) (chat.Person, Role, bool) {
	for _, person := range c.People {
		if subject != "" && slices.Contains(person.OIDC, subject) {
			return person.as(chat.Web + ":" + person.Name), person.role(), true
		}
	}
	for _, person := range c.People {
		if mail != "" && slices.Contains(person.Email, asciiLower(mail)) {
			return person.as(chat.Web + ":" + person.Name), person.role(), true
		}
	}
	return chat.Person{}, "", false
}

// asciiLower leaves other letters alone: strings.ToLower makes a K of the Kelvin sign, and with it
// one person of two.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}

// Choice says in which language people are spoken to.
func (c *Config) Choice() words.Choice {
	choice := words.Choice{Default: c.Language, Conversations: map[string]string{}}
	for thread, conversation := range c.Conversations {
		choice.Conversations[thread] = conversation.Language
	}
	return choice
}

// FirstOwner returns the first owner in the list, to whom a new gateway's token belongs.
func (c *Config) FirstOwner() (Person, bool) {
	for _, person := range c.People {
		if person.Owner {
			return person, true
		}
	}
	return Person{}, false
}
