package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/config"
)

const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func TestProblemsNameTheKeyAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, want string }{
		{"unknown key", "confrim_timeout: 5s", "confrim_timeout: is not known; did you mean confirm_timeout?"},
		{"unknown key below", "telegram: {tokn: x}", "telegram.tokn: is not known; did you mean token?"},
		{"unknown key, nothing near", "redis: {qqqq: 1}", "redis.qqqq: is not known; known here are [port prefix url]"},
		{"unknown key of a person", "people: [{name: a, telegrm: [1]}]", "people[0].telegrm (COUNTERSIGN_PEOPLE): is not known; did you mean telegram?"},
		{"unknown key of a policy", "policy: {a.b: {aprovers: {}}}", "policy[a.b].aprovers (COUNTERSIGN_POLICY): is not known; did you mean approvers?"},
		{"unknown key of approvers", "policy: {a.b: {approvers: {quorm: 2}}}", "policy[a.b].approvers.quorm (COUNTERSIGN_POLICY): is not known; did you mean quorum?"},
		{"section of the wrong kind", "telegram: abc", "telegram: is of the wrong kind; write names with their values below it"},
		{"duplicate key", "stacking: queue\nstacking: queue", "countersign.yaml: yaml: unmarshal errors:   line 2: mapping key \"stacking\" already defined at line 1; mend the YAML there"},
		{"not a mapping", "- a", "countersign.yaml: yaml"},
		{"no duration", "confirm_timeout: soon", `confirm_timeout (COUNTERSIGN_CONFIRM_TIMEOUT): "soon" cannot be used; write a time such as 120s or 5m, or a number of seconds`},
		{"no time to wait", "confirm_timeout: -5", "-5s is no time to wait"},
		{"no number", "webhook_rate_limit: many", `webhook_rate_limit (LARACLAW_WEBHOOK_RATE_LIMIT): "many" cannot be used; write a whole number`},
		{"negative rate", "webhook_rate_limit: -1", "webhook_rate_limit (LARACLAW_WEBHOOK_RATE_LIMIT): -1 is below zero"},
		{"no switch", "telegram: {enabled: perhaps}", `telegram.enabled (LARACLAW_TELEGRAM_ENABLED): "perhaps" cannot be used; write true or false`},
		{"address", "http: {addr: 8080}", `http.addr (COUNTERSIGN_HTTP_ADDR): "8080" is not host:port`},
		{"port", "redis: {port: 70000}", "redis.port (COUNTERSIGN_REDIS_PORT): 70000 is not a port"},
		{"same ports", "temporal: {ui_port: 7233}", "temporal.ui_port (COUNTERSIGN_TEMPORAL_UI_PORT): is the same as temporal.port"},
		{"choice", "unsupported: allow", `unsupported (COUNTERSIGN_UNSUPPORTED): "allow" is not known; write one of run, deny, route`},
		{"route missing", "unsupported: route", "approval_route (COUNTERSIGN_APPROVAL_ROUTE): is needed by unsupported: route"},
		{"route malformed", "approval_route: telegram", `approval_route (COUNTERSIGN_APPROVAL_ROUTE): "telegram" is not connector:thread_key`},
		{"route to where nobody can be asked", "approval_route: api:k", "nobody can be asked on api; choose one of telegram, slack, email, web"},
		{"public url", "public_url: example.test", "public_url (COUNTERSIGN_PUBLIC_URL): is not a web address"},
		{"redis url", "redis: {url: 'localhost:6379'}", "redis.url (REDIS_URL): is not a Redis address"},
		{"allowed disk", "allowed_disks: [local, atlantis]", `allowed_disks (LARACLAW_ALLOWED_DISKS): there is no disk "atlantis"`},
		{"attachments disk", "attachments: {disk: atlantis}", `attachments.disk (LARACLAW_ATTACHMENTS_DISK): there is no disk "atlantis"`},
		{"attachments path up", "attachments: {incoming_path: ../x}", `attachments.incoming_path (LARACLAW_INCOMING_ATTACHMENTS_PATH): "../x" is not a folder`},
		{"attachments paths nested", "attachments: {outgoing_path: inbound/out}", "lies in the same folder as attachments.incoming_path"},
		{"disk without scheme", "disks: {local: /srv/files}", "disks[local] (COUNTERSIGN_DISKS): is not an URL"},
		{"webhook without secret", "telegram: {token: t, mode: webhook}", "telegram.webhook_secret (COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET): is needed by telegram.mode: webhook"},
		{"enabled without token", "telegram: {enabled: true}", "telegram.token (LARACLAW_TELEGRAM_TOKEN): is needed by telegram.enabled: true"},
		{"webhook secret", "telegram: {webhook_secret: 'a b'}", "may hold 1 to 256 of A-Z a-z 0-9 _ and -"},
		{"slack without secret", "slack: {bot_token: t}", "slack.signing_secret (LARACLAW_SLACK_SIGNING_SECRET): is needed by slack.mode: events"},
		{"slack socket", "slack: {bot_token: t, mode: socket}", "slack.app_token (LARACLAW_SLACK_APP_TOKEN): is needed by slack.mode: socket"},
		{"mail without sender", "email: {imap: {host: h}}", "email.smtp.from_address (LARACLAW_SMTP_FROM_ADDRESS): is needed by email.enabled: true"},
		{"person without name", "people: [{owner: true}]", "people[0].name (COUNTERSIGN_PEOPLE): is missing"},
		{"name with colon", "people: [{name: 'telegram:1'}]", "holds a colon"},
		{"name with a line break", `people: [{name: "a\nb"}]`, "holds characters that cannot be seen"},
		{"same name", "people: [{name: ada}, {name: Ada}]", `people[1].name (COUNTERSIGN_PEOPLE): "Ada" is also at people[0].name`},
		{"same id", "people: [{name: a, telegram: [1]}, {name: b, telegram: [1]}]", `people[1] (COUNTERSIGN_PEOPLE): "telegram:1" is also at people[0]`},
		{"same mail, other case", "people: [{name: a, email: [a@x.test]}, {name: b, email: [A@X.test]}]", `"email:a@x.test" is also at people[0]`},
		{"same token", "people: [{name: a, tokens: ['" + digest + "']}, {name: b, tokens: ['" + digest + "']}]", "people[1].tokens[0] (COUNTERSIGN_PEOPLE): this token is also at people[0].tokens[0]"},
		{"group id", "people: [{name: a, telegram: [-100]}]", "people[0].telegram[0] (COUNTERSIGN_PEOPLE): -100 is not a user's id"},
		{"id that is no number", "people: [{name: a, telegram: [ada]}]", `people[0].telegram[0] (COUNTERSIGN_PEOPLE): "ada" cannot be used; write a whole number`},
		{"slack id", "people: [{name: a, slack: [U01]}]", `people[0].slack[0] (COUNTERSIGN_PEOPLE): "U01" is not team/user`},
		{"mail address", "people: [{name: a, email: ['Ada <a@x.test>']}]", "is not an address"},
		{"role", "people: [{name: a, role: owner}]", `people[0].role (COUNTERSIGN_PEOPLE): "owner" is not known; write approver or agent (an owner is owner: true)`},
		{"owner and agent", "people: [{name: a, owner: true, role: agent}]", "an owner cannot be an agent"},
		{"people is no list", "people: {name: a}", "people (COUNTERSIGN_PEOPLE): "},
		{"language", "language: klingon", `language (COUNTERSIGN_LANGUAGE): "klingon" is not spoken here; write one of en, de, es, zh-CN`},
		{"a person's language", "people: [{name: a, language: fr}]", `people[0].language (COUNTERSIGN_PEOPLE): "fr" is not spoken here`},
		{"a conversation's language", "conversations: {'telegram:-1': {language: fr}}", `conversations[telegram:-1].language (COUNTERSIGN_CONVERSATIONS): "fr" is not spoken here`},
		{"a conversation nowhere", "conversations: {'-1': {language: de}}", "conversations[-1] (COUNTERSIGN_CONVERSATIONS): is not connector:thread_key"},
		{"issuer", "oidc: {issuer: login.example.test}", "oidc.issuer (COUNTERSIGN_OIDC_ISSUER): is not a web address"},
		{"issuer without TLS", "oidc: {issuer: 'http://login.example.test'}", "oidc.issuer (COUNTERSIGN_OIDC_ISSUER): is not https"},
		{"issuer alone", "oidc: {issuer: 'https://login.example.test'}", "oidc.client_secret (COUNTERSIGN_OIDC_CLIENT_SECRET): is needed by oidc.issuer"},
		{"issuer without page", "oidc: {issuer: 'http://127.0.0.1:9', client_id: a, client_secret: b}", "public_url (COUNTERSIGN_PUBLIC_URL): is needed by oidc.issuer"},
		{"same subject", "people: [{name: a, oidc: ['1']}, {name: b, oidc: ['1']}]", `people[1].oidc[0] (COUNTERSIGN_PEOPLE): "1" is also at people[0].oidc[0]`},
		{"subject with a blank", "people: [{name: a, oidc: [' 1']}]", "people[0].oidc[0] (COUNTERSIGN_PEOPLE): is empty or has blanks around it"},
		{"mail's DNS", "email: {dns: ns.example.test}", `email.dns (COUNTERSIGN_EMAIL_DNS): "ns.example.test" is no address`},
		{"mail's token", "email: {enabled: true, oauth: {token_url: 'https://x.test'}}", "email.oauth.client_id (COUNTERSIGN_EMAIL_OAUTH_CLIENT_ID): is needed by email.oauth.token_url"},
		{"policy name", "policy: {delete: {}}", "policy[delete] (COUNTERSIGN_POLICY): is not tool.operation"},
		{"policy confirm", "policy: {a.b: {confirm: never}}", `policy[a.b].confirm (COUNTERSIGN_POLICY): "never" is not known; write one of true, always, false`},
		{"policy timeout", "policy: {a.b: {timeout: later}}", `policy[a.b].timeout (COUNTERSIGN_POLICY): "later" cannot be used`},
		{"policy who", "policy: {a.b: {approvers: {who: all}}}", `policy[a.b].approvers.who (COUNTERSIGN_POLICY): "all" is not known`},
		{"policy stranger", "policy: {a.b: {approvers: {who: list, people: [eve]}}}", `policy[a.b].approvers.people[0] (COUNTERSIGN_POLICY): "eve" is nobody in people`},
		{"policy agent", "people: [{name: bot, role: agent}]\npolicy: {a.b: {approvers: {who: list, people: [bot]}}}", `"bot" is an agent, which never decides`},
		{"policy quorum", "people: [{name: a}]\npolicy: {a.b: {approvers: {who: list, people: [a, a], quorum: 2}}}", "names 1 who may answer where 2 must agree"},
		{"policy people without list", "people: [{name: a}]\npolicy: {a.b: {approvers: {people: [a]}}}", "counts only with who: list"},
		{"ask also a stranger", "policy: {a.b: {ask_also: [eve]}}", `policy[a.b].ask_also[0] (COUNTERSIGN_POLICY): "eve" is nobody in people`},
		{"ask also somebody away", "people: [{name: a, telegram: [1]}]\npolicy: {a.b: {ask_also: [a]}}", `"a" cannot be reached`},
		{"ask also nowhere", "policy: {a.b: {ask_also: ['irc:x']}}", `"irc:x" is not connector:thread_key`},
		{"ask also on the page", "policy: {a.b: {ask_also: ['web:1']}}", `"web:1" is no place to ask in`},
		{"ask also where nothing is on", "policy: {a.b: {ask_also: ['telegram:1']}}", `"telegram:1" needs telegram, which is not switched on`},
		{"policy alone twice", "policy: {a.b: {approvers: {who: requester, quorum: 2}}}", "the requester is one person"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(tt.file, nil)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load("confirm_timeout: soon\nstaking: queue\nunsupported: allow\npeople: [{name: 'a:b', telegram: [x, y]}]",
		map[string]string{"COUNTERSIGN_REDIS_PORT": "tcp://10.0.0.1:6379", "COUNTERSIGN_POLICY": "{"})
	require.Error(t, err)
	// The people that cannot be read have no name that could be judged.
	for _, key := range []string{"confirm_timeout", "staking", "unsupported", "people[0].telegram[0]", "people[0].telegram[1]", "redis.port", "policy"} {
		require.Contains(t, err.Error(), "\n"+key, "in\n%v", err)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), 8, "one line for each, in\n%v", err)
	var problem *config.KeyError
	require.ErrorAs(t, err, &problem)
}

func TestTwoVariablesForOneKey(t *testing.T) {
	t.Parallel()
	_, err := load("", map[string]string{"LARACLAW_TELEGRAM_TOKEN": "1:a", "COUNTERSIGN_TELEGRAM_TOKEN": "1:b"})
	require.ErrorContains(t, err, "LARACLAW_TELEGRAM_TOKEN and COUNTERSIGN_TELEGRAM_TOKEN are both set and differ")
	_, err = load("", map[string]string{"LARACLAW_TELEGRAM_TOKEN": "1:a", "COUNTERSIGN_TELEGRAM_TOKEN": "1:a"})
	require.NoError(t, err)
}

// No way of writing a secret wrongly may put it into the error.
func TestProblemsHoldNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	for _, file := range []string{
		"telegram: {token: [" + secret + "]}",
		"telegram: {token: {" + secret + ": 1}}\nstacking: x",
		"telegram: {token: 'x/" + secret + "', enabled: true}",
		"telegram: {token: *" + secret + "}",
		"telegram: {token: t, webhook_secret: '" + secret + "?', mode: webhook}",
		"redis: {url: 'http://:" + secret + "@host'}",
		"redis: {url: 'redis://:" + secret + "%zz@host'}",
		"telegram: {api_url: 'ftp://u:" + secret + "@host'}",
		"disks: {local: '//u:" + secret + "@host'}",
		"disks: {local: 's3://u:" + secret + "%zz@host'}",
		"people: [{name: a, tokens: ['" + secret + "']}]",
		secret,
		"slack:\n  bot_token: " + secret + "\n signing_secret: x",
		"telegram: " + secret,
		"oidc: {client_secret: [" + secret + "]}",
		"email: {oauth: {refresh_token: [" + secret + "], client_secret: {a: " + secret + "}}}",
		"oidc: {issuer: 'https://u:" + secret + "%zz@host'}",
	} {
		_, err := load(file, nil)
		require.Error(t, err, file)
		if strings.Contains(file, "{"+secret) {
			continue // there it was written as a key's name
		}
		require.NotContains(t, err.Error(), secret)
	}
}
