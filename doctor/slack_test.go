package doctor_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/doctor"
)

// app answers what it is told to.
type app struct {
	account slack.Account
	err     error
	members map[string]slack.Member
	lookup  error
	// knocks are the statuses by address, not signed and signed; nobody answers elsewhere.
	knocks map[string][2]int
	mute   bool // the challenge does not come back
}

func (a app) Check(context.Context) (slack.Account, error) { return a.account, a.err }

func (a app) Member(_ context.Context, user string) (slack.Member, bool, error) {
	member, known := a.members[user]
	return member, known, a.lookup
}

func (a app) Knock(_ context.Context, base string, signed bool) (int, bool, error) {
	statuses, ok := a.knocks[base]
	switch {
	case !ok:
		return 0, false, temporary("connection refused")
	case signed:
		return statuses[1], statuses[1] == 200 && !a.mute, nil
	default:
		return statuses[0], false, nil
	}
}

const (
	eventsFile = "public_url: " + public + "\nslack: {bot_token: xoxb-hidden-0123456789, signing_secret: hidden0123456789}\n" +
		"people: [{name: ada, owner: true, slack: [T01/U01]}, {name: bob, telegram: [7]}]\n"
	socketFile = "slack: {bot_token: xoxb-hidden-0123456789, app_token: xapp-hidden-0123456789, mode: socket}\n" +
		"people: [{name: ada, slack: [T01/U01]}]\n"
)

func TestSlack(t *testing.T) {
	t.Parallel()
	ready := slack.Account{Team: "Team", TeamID: "T01", User: "countersign", UserID: "U0BOT"}
	reads := ready
	reads.ReadsUsers = true
	lacks := ready
	lacks.Missing = []string{"im:write", "files:read"}
	untold := ready
	untold.Untold = true
	fine := map[string][2]int{public: {403, 200}}
	well := []string{"ok token", "ok scopes", "ok events", "ok people"}
	for name, test := range map[string]struct {
		file string
		app  app
		want []string
		says string
	}{
		"off":             {"", app{}, []string{"off slack"}, "LARACLAW_SLACK_BOT_TOKEN"},
		"switched off":    {"slack: {bot_token: x, signing_secret: y, enabled: false}", app{}, []string{"off slack"}, "slack.enabled"},
		"well":            {eventsFile, app{account: ready, knocks: fine}, well, "without the scope users:read"},
		"a wrong token":   {eventsFile, app{err: final("invalid_auth")}, []string{"fail token"}, "OAuth & Permissions"},
		"not reached":     {eventsFile, app{err: temporary("502 Bad Gateway")}, []string{"fail token"}, "https://slack.com/…"},
		"no Slack":        {eventsFile, app{}, []string{"fail token"}, "slack.api_url"},
		"scopes missing":  {eventsFile, app{account: lacks, knocks: fine}, []string{"ok token", "fail scopes", "ok events", "ok people"}, "im:write, files:read"},
		"scopes not told": {eventsFile, app{account: untold, knocks: fine}, []string{"ok token", "off scopes", "ok events", "ok people"}, ""},
		"another secret":  {eventsFile, app{account: ready, knocks: map[string][2]int{public: {403, 403}}}, []string{"ok token", "ok scopes", "fail events", "ok people"}, "slack.signing_secret"},
		"open to all":     {eventsFile, app{account: ready, knocks: map[string][2]int{public: {200, 200}}}, []string{"ok token", "ok scopes", "fail events", "ok people"}, "takes what is not signed"},
		"nothing there":   {eventsFile, app{account: ready, knocks: map[string][2]int{public: {404, 404}}}, []string{"ok token", "ok scopes", "fail events", "ok people"}, "answers 404"},
		"a page":          {eventsFile, app{account: ready, mute: true, knocks: fine}, []string{"ok token", "ok scopes", "fail events", "ok people"}, "the proxy before it"},
		"only inside":     {eventsFile, app{account: ready, knocks: map[string][2]int{own: {403, 200}}}, well, own + "/slack/webhook"},
		"not started":     {eventsFile, app{account: ready}, []string{"ok token", "ok scopes", "off events", "ok people"}, ""},
		"no public url": {"slack: {bot_token: x, signing_secret: y}\npeople: [{name: ada, slack: [T01/U01]}]", app{account: ready, knocks: map[string][2]int{own: {403, 200}}},
			[]string{"ok token", "ok scopes", "ok events", "warn public_url", "ok people"}, "slack.mode to socket"},
		"socket":        {socketFile, app{account: ready}, []string{"ok token", "ok scopes", "ok socket", "ok people"}, ""},
		"no socket":     {socketFile, app{account: ready, err: final("not_allowed_token_type")}, []string{"ok token", "ok scopes", "fail socket", "ok people"}, "connections:write"},
		"socket away":   {socketFile, app{account: ready, err: temporary("status 200: invalid character '<'")}, []string{"ok token", "ok scopes", "fail socket", "ok people"}, "try again"},
		"another bot":   {"slack: {bot_token: x, app_token: y, mode: socket, bot_user_id: U9}\npeople: [{name: ada, slack: [T01/U01]}]", app{account: ready}, []string{"ok token", "ok scopes", "ok socket", "fail bot_user_id", "ok people"}, "U0BOT"},
		"other team":    {"slack: {bot_token: x, app_token: y, mode: socket}\npeople: [{name: ada, slack: [T02/U01]}]", app{account: ready}, []string{"ok token", "ok scopes", "ok socket", "warn ada", "warn people"}, "write T01/…"},
		"looked up":     {socketFile, app{account: reads, members: map[string]slack.Member{"U01": {Name: "ada"}}}, []string{"ok token", "ok scopes", "ok socket", "ok people"}, "1 looked up"},
		"no such user":  {socketFile, app{account: reads}, []string{"ok token", "ok scopes", "ok socket", "fail ada", "ok people"}, "Copy member ID"},
		"an app":        {socketFile, app{account: reads, members: map[string]slack.Member{"U01": {Name: "x", Bot: true}}}, []string{"ok token", "ok scopes", "ok socket", "fail ada", "ok people"}, "never decides"},
		"has left":      {socketFile, app{account: reads, members: map[string]slack.Member{"U01": {Gone: true}}}, []string{"ok token", "ok scopes", "ok socket", "warn ada", "ok people"}, "deactivated"},
		"lookup failed": {socketFile, app{account: reads, lookup: temporary("429")}, []string{"ok token", "ok scopes", "ok socket", "warn ada", "ok people"}, "could not be looked up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := examine(t, doctor.Slack{Config: load(t, test.file), App: test.app, Gateway: own}.Check)
			require.Equal(t, test.want, found.short(), found)
			found.says(t, test.says)
		})
	}
	settings := examine(t, doctor.Slack{Config: load(t, socketFile), Err: errorOf("slack.bot_token holds white space")}.Check)
	require.Equal(t, []string{"fail settings"}, settings.short())
	nowhere := examine(t, doctor.Slack{Config: load(t, "slack: {bot_token: x, signing_secret: y}"), App: app{account: ready}}.Check)
	nowhere.has(t, doctor.Off, "events", "not known")
}
