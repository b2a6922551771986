package slack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// event is what an envelope means. At most one of challenge and message is set;
// with none, ignored says why nobody will hear of it.
type event struct {
	challenge string
	message   *incoming
	ignored   string
}

// incoming is a message that a person wrote.
type incoming struct {
	home    string // the workspace that the app is installed in
	team    string // the author's workspace
	user    string
	channel string
	private bool // a direct message to the bot
	ts      string
	root    string // ts of the thread's first message; empty outside of threads
	parent  string // who wrote that; empty if not told
	text    string // as Slack sent it
	self    string // the app's user; empty if not told
	mention bool   // Slack says that it mentions the app
	files   []fileInfo
}

// thread is the conversation it belongs to (CONTRACT §8).
func (m *incoming) thread() chat.Thread {
	if m.private {
		return chat.Thread{Connector: chat.Slack, Key: m.user}
	}
	return chat.Thread{Connector: chat.Slack, Key: m.channel + ":" + cmp.Or(m.root, m.ts)}
}

// eventID is the same for a message and the mention in it, and for redeliveries.
func (m *incoming) eventID() string {
	return strings.Join([]string{chat.Slack, m.home, m.channel, m.ts}, ":")
}

// written is when Slack took the message, by its clock.
func (m *incoming) written() time.Time {
	seconds, _, _ := strings.Cut(m.ts, ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil { // decode has seen to it
		return time.Time{}
	}
	return time.Unix(n, 0)
}

var errNoEnvelope = errors.New("not an event: no type")

// decode reads one envelope. It is pure and takes any bytes; an error means that
// they are no envelope, which sending them again would not change.
func decode(raw []byte) (event, error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return event{}, fmt.Errorf("not an event: %w", err)
	}
	switch e.Type {
	case "":
		return event{}, errNoEnvelope
	case "url_verification":
		return event{challenge: e.Challenge}, nil
	case "event_callback":
		message, ignored, err := e.read()
		return event{message: message, ignored: ignored}, err
	default: // app_rate_limited and what Slack adds in future
		return event{ignored: "an envelope of type " + e.Type}, nil
	}
}

func (e *envelope) read() (*incoming, string, error) {
	var k kind
	if err := json.Unmarshal(e.Event, &k); err != nil {
		return nil, "", fmt.Errorf("not an event: %w", err)
	}
	if k.Type != "message" && k.Type != "app_mention" {
		return nil, "an event of type " + k.Type, nil
	}
	switch k.SubType {
	case "", "file_share", "thread_broadcast":
	default:
		return nil, "a message of subtype " + k.SubType, nil
	}
	var in inner
	if err := json.Unmarshal(e.Event, &in); err != nil {
		return nil, "", fmt.Errorf("not a message: %w", err)
	}
	if reason := in.never(); reason != "" {
		return nil, reason, nil
	}
	m := &incoming{
		home: e.TeamID, user: in.User, channel: in.Channel, private: in.private(),
		ts: in.TS, root: in.ThreadTS, parent: in.ParentUser, text: in.Text,
		mention: k.Type == "app_mention", files: in.Files,
	}
	if len(e.Authorizations) > 0 {
		a := e.Authorizations[0]
		m.home = cmp.Or(a.TeamID, m.home)
		if a.IsBot {
			m.self = a.UserID
		}
	}
	if m.home == "" {
		return nil, "no workspace", nil
	}
	m.team = m.home
	// In shared channels any of the three may name the other workspace.
	for _, team := range []string{in.Team, in.SourceTeam, in.UserTeam} {
		if team != "" && team != m.home {
			m.team = team
		}
	}
	if m.root == m.ts {
		m.root = ""
	}
	return m, "", nil
}

// never says why a message can never be a person's word to us; "" if it can.
func (in *inner) never() string {
	switch {
	case in.Hidden:
		return "hidden"
	case in.Edited != nil: // an edit that adds a mention comes as app_mention without subtype
		return "edited"
	case in.BotID != "" || in.BotProfile != nil || in.AppID != "":
		return "written by an app"
	case in.User == "" || in.User == "USLACKBOT":
		return "no person"
	case !isID(in.User) || !isID(in.Channel) || !isTS(in.TS) || (in.ThreadTS != "" && !isTS(in.ThreadTS)):
		return "no usable user, channel or ts"
	case in.Text == "" && len(in.Files) == 0:
		return "no text and no file"
	default:
		return ""
	}
}

// private tells a direct message from channels, private channels and group messages.
func (in *inner) private() bool {
	switch in.ChannelType {
	case "im", "app_home":
		return true
	case "":
		return isDM(in.Channel)
	default:
		return false
	}
}

func isDM(channel string) bool { return strings.HasPrefix(channel, "D") }

// isID tells whether s has the form of Slack's ids: T01, U01, C01.
func isID(s string) bool {
	return s != "" && s[0] >= 'A' && s[0] <= 'Z' &&
		strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// isTS tells whether s has the form of a message's ts. It stays a string: as a number
// it would lose digits.
func isTS(s string) bool {
	seconds, rest, found := strings.Cut(s, ".")
	return found && isDigits(seconds) && isDigits(rest)
}

func isDigits(s string) bool { return s != "" && len(s) < 20 && strings.Trim(s, "0123456789") == "" }
