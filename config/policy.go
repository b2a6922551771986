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
	// AskAlso are names from the people list, or connector:thread_key: the question is put there too.
	AskAlso []string `koanf:"ask_also"`
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

// Scope says where and for whom a tool, or one operation of it, may be used. What it leaves
// unset is not limited.
type Scope struct {
	// Connectors are the ones of CONTRACT §8.
	Connectors []string `koanf:"connectors"`
	// Threads are connector:thread_key.
	Threads []string `koanf:"threads"`
	// People are names from the people list, or platform ids ("telegram:1001").
	People []string `koanf:"people"`
}

// Allows tells whether a person in a conversation is within the scope.
func (s Scope) Allows(thread chat.Thread, who chat.Person) bool {
	within := func(list []string, values ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(values, func(v string) bool { return v != "" && slices.Contains(list, v) })
	}
	return within(s.Connectors, thread.Connector) && within(s.Threads, thread.String()) && within(s.People, who.Name, who.ID)
}

// connectors are those of CONTRACT §8; asking are the ones where a person can be asked.
func connectors() []string {
	return append(asking(), chat.API, chat.Terminal)
}

func asking() []string {
	return []string{chat.Telegram, chat.Slack, chat.Email, chat.Web}
}

// Route returns the conversation that approval_route names; ok is false where it is unset.
func (c *Config) Route() (route chat.Thread, ok bool) { return thread(c.ApprovalRoute) }

// thread reads connector:thread_key.
func thread(name string) (chat.Thread, bool) {
	connector, key, found := strings.Cut(name, ":")
	if !found || key == "" || !slices.Contains(connectors(), connector) {
		return chat.Thread{}, false
	}
	return chat.Thread{Connector: connector, Key: key}, true
}
