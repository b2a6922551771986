package doctor

import (
	"context"
	"net/http"
	"strings"

	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/connectors/slack"
)

// maxMembers bounds how many people are looked up: Slack allows some 100 look-ups a minute.
const maxMembers = 50

// SlackApp is what is asked; *slack.Connector is one.
type SlackApp interface {
	Check(ctx context.Context) (slack.Account, error)
	Member(ctx context.Context, user string) (member slack.Member, known bool, err error)
	Knock(ctx context.Context, base string, signed bool) (status int, echoed bool, err error)
}

// Slack is the app there.
type Slack struct {
	Config *config.Config
	// App is nil where it could not be made; then Err says why.
	App SlackApp
	Err error
	// Gateway is where the gateway answers from here; empty where that is not known.
	Gateway string
}

// Check notes whether the app may do what it has to, and whether events reach us.
func (s Slack) Check(ctx context.Context, n *Notes) {
	if !n.usable("slack", "LARACLAW_SLACK_BOT_TOKEN", s.Config.Slack.Enabled, s.Config.Slack.BotToken != "", s.Err) {
		return
	}
	socket := s.Config.Slack.Mode == config.ModeSocket
	account, err := s.App.Check(ctx)
	if account.UserID == "" {
		s.token(err, n)
		return
	}
	n.OK("token", "%s in %s", account.User, account.Team)
	s.scopes(account, n)
	switch {
	case socket && err == nil:
		n.OK("socket", "opens")
	case socket && passing(err):
		n.Fail("socket", s.unreached(err), "%s", words(err))
	case socket:
		n.Fail("socket", "on the app's page: Socket Mode on, and Basic Information, App-Level Tokens, one with connections:write to LARACLAW_SLACK_APP_TOKEN",
			"%s", words(err))
	default:
		s.events(ctx, n)
	}
	if bot := s.Config.Slack.BotUserID; bot != "" && bot != account.UserID {
		n.Fail("bot_user_id", "leave LARACLAW_SLACK_BOT_USER_ID out: Slack tells it", "%s is configured, the token's is %s", bot, account.UserID)
	}
	s.people(ctx, account, n)
}

func (s Slack) token(err error, n *Notes) {
	switch {
	case err == nil:
		n.Fail("token", "check slack.api_url", "what answers there is no Slack: it names no user")
	case passing(err):
		n.Fail("token", s.unreached(err), "%s", words(err))
	default:
		n.Fail("token", "copy the Bot User OAuth Token (xoxb-…) from the app's page, OAuth & Permissions, to LARACLAW_SLACK_BOT_TOKEN; "+
			"where it was revoked, install the app again", "%s", words(err))
	}
}

func (s Slack) unreached(err error) string {
	if mend, ok := busy(err); ok {
		return mend
	}
	return "check the way to " + place(s.Config.Slack.APIURL) + " (slack.api_url, firewall, proxy) and try again"
}

func (s Slack) scopes(account slack.Account, n *Notes) {
	switch {
	case account.Untold:
		n.Off("scopes", "Slack does not list them")
	case len(account.Missing) > 0:
		n.Fail("scopes", "add them on the app's page, OAuth & Permissions, and install the app again (docs/connectors/slack-manifest.yaml has all)",
			"missing: %s", list(account.Missing))
	default:
		n.OK("scopes", "none is missing")
	}
}

// events calls our own events address as Slack does when it checks one. Where the app's
// page sends events Slack does not tell.
func (s Slack) events(ctx context.Context, n *Notes) {
	base := orDefault(s.Config.PublicURL, s.Gateway)
	if base == "" {
		n.Off("events", "not tried: it is not known where the gateway is")
		return
	}
	signed, echoed, err := s.App.Knock(ctx, base, true)
	if err != nil && base != s.Gateway && s.Gateway != "" {
		base = s.Gateway
		signed, echoed, err = s.App.Knock(ctx, base, true)
	}
	if err != nil {
		n.Off("events", "not tried: no gateway answers at %s", base)
		return
	}
	at := base + slack.EventsPath
	unsigned, _, err := s.App.Knock(ctx, base, false)
	switch {
	case err != nil:
		n.Warn("events", "try again", "%s: %s", at, words(err))
	case unsigned == http.StatusForbidden && signed == http.StatusOK && echoed:
		n.OK("events", "%s takes what is signed with our secret, and nothing else", at)
	case unsigned == http.StatusForbidden && signed == http.StatusForbidden:
		n.Fail("events", "start the gateway again: it was started with another slack.signing_secret than this one, or one of the two clocks is wrong",
			"%s refuses what is signed with our secret", at)
	case unsigned == http.StatusOK:
		n.Fail("events", "let public_url lead to the gateway itself: it takes nothing that is not signed", "%s takes what is not signed", at)
	case signed == http.StatusNotFound || signed == http.StatusMethodNotAllowed:
		n.Fail("events", "start the gateway again with this configuration, and let the proxy pass /slack/ on", "%s answers %d: nothing for Slack there", at, signed)
	default:
		n.Fail("events", "look into the log of the gateway, or of the proxy before it", "%s answers %d to what is signed and %d to what is not", at, signed, unsigned)
	}
	if s.Config.PublicURL == "" {
		n.Warn("public_url", "set it to the https address that stands on the app's page, or set slack.mode to socket",
			"is not set: whether Slack reaches the gateway cannot be told")
	}
}

func (s Slack) people(ctx context.Context, account slack.Account, n *Notes) {
	known, asked := 0, 0
	for _, person := range s.Config.People {
		for _, id := range person.Slack {
			team, user, _ := strings.Cut(id, "/")
			if team != account.TeamID {
				n.Warn(person.Name, "write "+account.TeamID+"/… with the person's member id in that workspace", "%s is of another workspace than the app (%s)", id, account.TeamID)
				continue
			}
			known++
			if account.ReadsUsers && asked < maxMembers {
				asked++
				s.member(ctx, n, person.Name, user)
			}
		}
	}
	switch {
	case known == 0:
		n.Warn("people", "write team/user under people (docs/connectors/slack.md says how to find yours)", "nobody has an id in this workspace: direct messages are dropped")
	case account.ReadsUsers:
		n.OK("people", "%d with an id, %d looked up", known, asked)
	default:
		n.OK("people", "%d with an id; whether Slack knows them is not told without the scope users:read", known)
	}
}

func (s Slack) member(ctx context.Context, n *Notes, name, user string) {
	member, known, err := s.App.Member(ctx, user)
	switch {
	case err != nil:
		n.Warn(name, s.unreached(err), "%s could not be looked up: %s", user, words(err))
	case !known:
		n.Fail(name, "copy the member id from the person's profile in Slack (⋮, Copy member ID)", "Slack knows no %s", user)
	case member.Bot:
		n.Fail(name, "name a person: an app never decides", "%s (%s) is an app", user, member.Name)
	case member.Gone:
		n.Warn(name, "take the id out", "%s (%s) was deactivated", user, member.Name)
	}
}

var _ SlackApp = (*slack.Connector)(nil)
