package config

import (
	"slices"
	"strings"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// Policy is what the operator wants of one tool.operation, over its
// declaration (CONTRACT §8). What it leaves unset stays as declared.
type Policy struct {
	// Confirm is "true", "always", "false" or, unset, empty.
	Confirm string `koanf:"confirm"`
	// Timeout of the question; 0 is unset.
	Timeout time.Duration `koanf:"timeout"`
	// Approvers is nil where it is unset.
	Approvers *Approvers `koanf:"approvers"`
	// Loosen allows the policy to be looser than the declaration.
	Loosen bool `koanf:"loosen"`
}

// Approvers says who may answer, and how many of them must agree (CONTRACT §3).
type Approvers struct {
	// Who is thread, requester, other or list; empty is unset.
	Who string `koanf:"who"`
	// People are names from the people list, for who: list.
	People []string `koanf:"people"`
	// Quorum of different people; 0 is unset.
	Quorum int `koanf:"quorum"`
}

// connectors are those of CONTRACT §8; asking are the ones where a person can be asked.
func connectors() []string {
	return append(asking(), chat.API, chat.Terminal)
}

func asking() []string {
	return []string{chat.Telegram, chat.Slack, chat.Email, chat.Web}
}

// Route returns the conversation that approval_route names; ok is false where it is unset.
func (c *Config) Route() (thread chat.Thread, ok bool) {
	connector, key, found := strings.Cut(c.ApprovalRoute, ":")
	if !found || key == "" || !slices.Contains(connectors(), connector) {
		return chat.Thread{}, false
	}
	return chat.Thread{Connector: connector, Key: key}, true
}
