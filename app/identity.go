package app

import (
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/gateway"
)

// ownerName is the first owner where the configuration names nobody.
const ownerName = "owner"

// identity tells who holds a token: those of the configuration, and the one of the data folder,
// which is the first owner's.
type identity struct {
	cfg       *config.Config
	ownerHash string
}

func (i identity) owner() chat.Person {
	owner := chat.Person{Name: ownerName, Owner: true}
	if p, ok := i.cfg.FirstOwner(); ok {
		owner.Name, owner.Language = p.Name, p.Language
	}
	owner.ID = chat.API + ":" + owner.Name
	return owner
}

// Token implements gateway.Identity.
func (i identity) Token(sha256hex string) (chat.Person, string, bool) {
	if person, role, ok := i.cfg.Token(sha256hex); ok {
		return person, string(role), true
	}
	if i.ownerHash != "" && strings.EqualFold(sha256hex, i.ownerHash) {
		return i.owner(), gateway.RoleOwner, true
	}
	return chat.Person{}, "", false
}

// Account implements web.Accounts.
func (i identity) Account(subject, mail string) (chat.Person, string, bool) {
	person, role, ok := i.cfg.Account(subject, mail)
	return person, string(role), ok
}

// Person implements gateway.Identity.
func (i identity) Person(ref string) (chat.Person, bool) {
	if strings.Contains(ref, ":") {
		return i.cfg.Person(ref), true
	}
	for _, p := range i.cfg.People {
		if p.Name == ref {
			return chat.Person{Name: p.Name, Owner: p.Owner, Bot: p.Role == config.RoleAgent, Language: p.Language}, true
		}
	}
	if ref == i.owner().Name {
		return i.owner(), true
	}
	return chat.Person{}, false
}
