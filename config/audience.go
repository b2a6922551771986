package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// AlsoAsked returns for each tool.operation where else its questions are put, each place once.
func (c *Config) AlsoAsked() map[string][]chat.Audience {
	all := map[string][]chat.Audience{}
	for name, policy := range c.Policy {
		for _, entry := range policy.AskAlso {
			to, problem := c.audience(entry)
			if problem == "" && !slices.ContainsFunc(all[name], func(a chat.Audience) bool { return a.Thread == to.Thread }) {
				all[name] = append(all[name], to)
			}
		}
	}
	return all
}

func (c *Config) validateAskAlso(found *problems, key string, entries []string) {
	for i, entry := range entries {
		if _, problem := c.audience(entry); problem != "" {
			found.add(fmt.Sprintf("%s[%d]", key, i), "%q %s", entry, problem)
		}
	}
}

// audience reads a name of the people list or a connector:thread_key; problem says what is wrong
// with it and what to do.
func (c *Config) audience(entry string) (to chat.Audience, problem string) {
	on := map[string]bool{chat.Slack: c.Slack.Enabled, chat.Telegram: c.Telegram.Enabled, chat.Email: c.Email.Enabled}
	if !strings.Contains(entry, ":") {
		at := slices.IndexFunc(c.People, func(p Person) bool { return p.Name == entry })
		if at < 0 {
			return chat.Audience{}, "is nobody in people; write a name from there, or connector:thread_key"
		}
		person := c.People[at]
		for _, own := range person.conversations() {
			if on[own.Connector] {
				return chat.Audience{Thread: own, Person: person.as(own.String())}, ""
			}
		}
		return chat.Audience{}, "cannot be reached: give this person an id on Slack, Telegram or e-mail, and switch that on"
	}
	to.Thread, _ = thread(entry)
	switch to.Thread.Connector {
	case chat.Slack, chat.Telegram, chat.Email:
	case "":
		return chat.Audience{}, "is not connector:thread_key; write e.g. telegram:-1001234, or a name from people"
	default:
		return chat.Audience{}, "is no place to ask in; write a Slack, Telegram or e-mail conversation (the web page shows every question by itself)"
	}
	if !on[to.Thread.Connector] {
		return chat.Audience{}, fmt.Sprintf("needs %s, which is not switched on; set it up or take this out", to.Thread.Connector)
	}
	for _, person := range c.People {
		if slices.Contains(person.conversations(), to.Thread) {
			to.Person = person.as(to.Thread.String())
		}
	}
	return to, ""
}

// conversations are the ones that a person has with the bot alone, the quickest first.
func (p Person) conversations() []chat.Thread {
	var own []chat.Thread
	for _, id := range p.Slack {
		_, user, _ := strings.Cut(id, "/")
		own = append(own, chat.Thread{Connector: chat.Slack, Key: user})
	}
	for _, id := range p.Telegram {
		own = append(own, chat.Thread{Connector: chat.Telegram, Key: strconv.FormatInt(id, 10)})
	}
	for _, address := range p.Email {
		own = append(own, chat.Thread{Connector: chat.Email, Key: asciiLower(address)})
	}
	return own
}
