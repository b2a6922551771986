package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
)

const people = `
people:
  - name: ada
    owner: true
    telegram: [1001, "1002"]
    slack: T01/U01
    email: [Ada@Example.Test]
    oidc: ["Sub-1"]
    tokens: [sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08]
  - name: bob
    telegram: [2002]
    tokens: [SHA256:60303AE22B998861BCE3B28F33EEC1BE758A213C86C93C076DBE9F558C11C752]
  - name: bot
    role: agent
    tokens: [sha256:fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13]
`

func TestPersonByPlatformID(t *testing.T) {
	t.Parallel()
	c, err := load(people, nil)
	require.NoError(t, err)
	for id, want := range map[string]chat.Person{
		"telegram:1001":          {ID: "telegram:1001", Name: "ada", Owner: true},
		"telegram:1002":          {ID: "telegram:1002", Name: "ada", Owner: true},
		"slack:T01/U01":          {ID: "slack:T01/U01", Name: "ada", Owner: true},
		"email:ADA@example.test": {ID: "email:ada@example.test", Name: "ada", Owner: true},
		"telegram:2002":          {ID: "telegram:2002", Name: "bob"},
		"slack:T02/U01":          {ID: "slack:T02/U01"}, // the same user id in another team
		"telegram:":              {ID: "telegram:"},
		"":                       {},
		"ada":                    {ID: "ada"}, // a display name is no identity
		"email:2002":             {ID: "email:2002"},
	} {
		require.Equal(t, want, c.Person(id), id)
		require.Equal(t, want.Name != "", c.Known(id), id)
	}
	owner, ok := c.FirstOwner()
	require.True(t, ok)
	require.Equal(t, "ada", owner.Name)
}

func TestToken(t *testing.T) {
	t.Parallel()
	c, err := load(people, nil)
	require.NoError(t, err)
	for digest, want := range map[string]struct {
		person chat.Person
		role   config.Role
	}{
		"9F86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08": {chat.Person{ID: "api:ada", Name: "ada", Owner: true}, config.RoleOwner},
		"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752": {chat.Person{ID: "api:bob", Name: "bob"}, config.RoleApprover},
		"fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13": {chat.Person{ID: "api:bot", Name: "bot", Bot: true}, config.RoleAgent},
	} {
		person, role, ok := c.Token(digest)
		require.True(t, ok)
		require.Equal(t, want.person, person)
		require.Equal(t, want.role, role)
	}
	for _, digest := range []string{"", "9f86", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"} {
		_, role, ok := c.Token(digest)
		require.False(t, ok)
		require.Empty(t, role)
	}
}

func TestAccount(t *testing.T) {
	t.Parallel()
	c, err := load(people+"  - name: kim\n    role: agent\n    email: [kim@example.test]\n", nil)
	require.NoError(t, err)
	for account, want := range map[[2]string]string{
		{"Sub-1", ""}: "ada owner", {"Sub-1", "kim@example.test"}: "ada owner", // the subject comes first
		{"9", "ADA@example.test"}: "ada owner", {"9", "kim@example.test"}: "kim agent",
		{"9", "\u212Aim@example.test"}: " ", // a Kelvin sign is no K
		{"sub-1", ""}:                  " ", {"", ""}: " ", {"9", "eve@example.test"}: " ", {"ada", "ada"}: " ",
	} {
		person, role, ok := c.Account(account[0], account[1])
		require.Equal(t, want, person.Name+" "+string(role), account)
		require.Equal(t, want != " ", ok, account)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	c, err := load(`
language: es
people:
  - {name: ada, telegram: [1001], language: de-AT, tokens: ["sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]}
  - {name: bob, telegram: [2002]}
conversations:
  telegram:-100123: {language: zh-cn}
  slack:C01: {}
`, nil)
	require.NoError(t, err)
	group, other := chat.Thread{Connector: "telegram", Key: "-100123:7"}, chat.Thread{Connector: "telegram", Key: "-1"}
	ada, bob := c.Person("telegram:1001"), c.Person("telegram:2002")
	byToken, _, _ := c.Token("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	require.Equal(t, "de-AT", byToken.Language)
	require.Equal(t, "de", c.Choice().Of(ada, group, ""))
	require.Equal(t, "zh-CN", c.Choice().Of(bob, group, ""))
	require.Equal(t, "es", c.Choice().Of(bob, other, ""))
	require.Equal(t, "es", c.Choice().Of(bob, chat.Thread{Connector: "slack", Key: "C01"}, ""), "nothing is said there")
	require.Equal(t, "en", config.Default().Choice().Of(chat.Person{}, group, ""))
}

func TestRoute(t *testing.T) {
	t.Parallel()
	c, err := load("approval_route: slack:C01:1700000000.000100", nil)
	require.NoError(t, err)
	thread, ok := c.Route()
	require.True(t, ok)
	require.Equal(t, chat.Thread{Connector: chat.Slack, Key: "C01:1700000000.000100"}, thread)
	_, ok = config.Default().Route()
	require.False(t, ok)
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for diskURL, want := range map[string]string{
		"file:///srv/files":               "/srv/files",
		"file:///srv/a%20b?metadata=skip": "/srv/a b",
		"file://./.countersign/files":     ".countersign/files",
		"file://localhost/srv":            "/srv",
		"file://host/files":               "",
		"s3://bucket":                     "",
		"mem://":                          "",
		config.Default().Disks["local"]:   ".countersign/files",
	} {
		folder, ok := config.Folder(diskURL)
		require.Equal(t, want, folder, diskURL)
		require.Equal(t, want != "", ok, diskURL)
	}
}

func TestAlsoAsked(t *testing.T) {
	t.Parallel()
	const people = `
people:
  - {name: ada, slack: [T01/U01], telegram: [1001], language: de}
  - {name: bob, telegram: [1002], email: [Bob@Example.test]}
  - {name: carol, email: [carol@example.test]}
policy:
  a.b: {ask_also: [ada, bob, carol, "telegram:-100:7", "slack:U01", "email:bob@example.test"]}
`
	c, err := load(people+`
telegram: {token: "1:x", mode: polling}
email: {imap: {host: h, username: u, password: p}, smtp: {host: h, from_address: us@example.test}}
`, nil)
	require.ErrorContains(t, err, `policy[a.b].ask_also[4] (COUNTERSIGN_POLICY): "slack:U01" needs slack`)
	require.Nil(t, c)
	c, err = load(people+`
slack: {bot_token: x, signing_secret: y}
telegram: {token: "1:x", mode: polling}
email: {imap: {host: h, username: u, password: p}, smtp: {host: h, from_address: us@example.test}}
`, nil)
	require.NoError(t, err)
	got := map[string]string{}
	require.Len(t, c.AlsoAsked()["a.b"], 5, "ada and her conversation are one place")
	for _, to := range c.AlsoAsked()["a.b"] {
		got[to.Thread.String()] = to.Person.Name + " " + to.Person.Language
	}
	require.Equal(t, map[string]string{
		"slack:U01": "ada de", "telegram:1002": "bob ", "email:carol@example.test": "carol ",
		"telegram:-100:7": " ", "email:bob@example.test": "bob ",
	}, got)
}
