package doctor_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/doctor"
)

func TestConfigurationNamesEveryProblem(t *testing.T) {
	t.Parallel()
	cfg, err := loadFile("colour: red\nunsupported: perhaps\npeople:\n  - {name: ada, telegram: [1]}\n  - {name: Ada, telegram: [1]}\n" +
		"slack: {bot_token: xoxb-hidden-0123456789, mode: push}\n")
	require.Error(t, err)
	found := examine(t, doctor.Configuration{Config: cfg, Err: err, File: "countersign.yaml"}.Check)
	found.has(t, doctor.Fail, "colour", "is not known")
	found.has(t, doctor.Fail, "unsupported (COUNTERSIGN_UNSUPPORTED)", `"perhaps" is not known`)
	found.has(t, doctor.Fail, "people[1].name (COUNTERSIGN_PEOPLE)", "is also at people[0].name")
	found.has(t, doctor.Fail, "people[1] (COUNTERSIGN_PEOPLE)", `"telegram:1" is also at people[0]`)
	found.has(t, doctor.Fail, "slack.mode (COUNTERSIGN_SLACK_MODE)", "write one of events, socket")
	for _, f := range found {
		require.Equal(t, doctor.Fail, f.Status, "nothing is fine")
		require.NotContains(t, f.Detail+f.Mend, "hidden")
	}

	other := examine(t, doctor.Configuration{Err: errors.New("no such disk")}.Check)
	require.Equal(t, []string{"fail key"}, other.short())
}

func TestConfigurationThatCanBeUsed(t *testing.T) {
	t.Parallel()
	check := doctor.Configuration{Config: load(t, ""), Environ: []string{"PATH=x", "LARACLAW_TELEGRAM_TOKE=1:hidden-0123456789", "COUNTERSIGN_ODD=1"}}
	found := examine(t, check.Check)
	require.Equal(t, []string{"ok file", "warn COUNTERSIGN_ODD", "warn LARACLAW_TELEGRAM_TOKE"}, found.short())
	found.has(t, doctor.Warn, "LARACLAW_TELEGRAM_TOKE", "did you mean LARACLAW_TELEGRAM_TOKEN?")

	check = doctor.Configuration{
		Config: load(t, ""), File: "other.yaml",
		Tools: func() error { return errors.New("policy.x.y: there is no such operation") },
	}
	check.Config.Warnings = []string{"COUNTERSIGN_ODD is not known", "something else"}
	check.Environ = []string{"COUNTERSIGN_ODD=1"}
	found = examine(t, check.Check)
	require.Equal(t, []string{"ok file", "warn COUNTERSIGN_ODD", "warn warning", "fail policy"}, found.short(), "told once")
	found.has(t, doctor.Fail, "policy", "starter tools list")

	off := examine(t, doctor.Unusable("redis").Check)
	require.Equal(t, []string{"off redis"}, off.short())
}

func TestPeople(t *testing.T) {
	t.Parallel()
	const hash = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	const telegram = "telegram: {token: '1:a', mode: polling}\n"
	for name, test := range map[string]struct {
		file string
		want []string
		mend string
	}{
		"nobody":     {"", []string{"warn people"}, "under people"},
		"an owner":   {telegram + "people: [{name: ada, owner: true}, {name: bob, telegram: [7]}]", []string{"ok owner", "ok ids"}, ""},
		"no owner":   {telegram + "people: [{name: bob, telegram: [7]}]", []string{"warn owner", "ok ids"}, "owner: true"},
		"elsewhere":  {telegram + "people: [{name: ada, owner: true}, {name: bob, slack: [T01/U01]}]", []string{"ok owner", "warn bob", "ok ids"}, "an id of theirs on telegram, or a token"},
		"nowhere":    {"people: [{name: ada, owner: true}, {name: bob, email: [b@example.test]}]", []string{"ok owner", "warn bob", "ok ids"}, "a connector that you switch on"},
		"a token":    {"people: [{name: ada, owner: true}, {name: bob, tokens: ['" + hash + "']}]", []string{"ok owner", "ok ids"}, ""},
		"an agent":   {"people: [{name: ada, owner: true}, {name: robot, role: agent, tokens: ['" + hash + "']}]", []string{"ok owner", "ok ids"}, ""},
		"signs in":   {"public_url: https://x.example.test\noidc: {issuer: 'https://id.example.test', client_id: a, client_secret: b}\npeople: [{name: ada, owner: true}, {name: bob, oidc: [s1]}]", []string{"ok owner", "ok ids"}, ""},
		"idle agent": {"people: [{name: ada, owner: true}, {name: robot, role: agent}]", []string{"ok owner", "warn robot", "ok ids"}, "tokens create"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := examine(t, doctor.People{Config: load(t, test.file)}.Check)
			require.Equal(t, test.want, found.short())
			mends := ""
			for _, f := range found {
				mends += f.Mend
			}
			require.Contains(t, mends, test.mend)
		})
	}
}
