package slack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// press of a button.
type press struct {
	home, team string
	user       string
	display    string
	channel    string
	message    string // ts of the message that the button is under
	root       string // ts of the thread that this message is in; empty for none
	thread     chat.Thread
	action     chat.Action
	invocation string
	id         string // the event's
	// refused says why the press cannot count.
	refused string
}

var errNoPress = errors.New("not an interaction: no type")

// decodePress reads one interaction payload. It is pure and takes any bytes; nil
// without an error is an interaction that is none of ours, for the reason given.
func decodePress(raw []byte) (*press, string, error) {
	var in interaction
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, "", fmt.Errorf("not an interaction: %w", err)
	}
	switch {
	case in.Type == "":
		return nil, "", errNoPress
	case in.Type != "block_actions" || len(in.Actions) == 0:
		return nil, "an interaction of type " + in.Type, nil
	case in.User == nil || !isID(in.User.ID):
		return nil, "a press without a person", nil
	}
	a := in.Actions[0]
	p := &press{
		user: in.User.ID, display: cmp.Or(in.User.Name, in.User.Username), channel: in.Container.ChannelID,
		message: in.Container.MessageTS, root: in.Container.ThreadTS, invocation: a.Value,
	}
	if in.Channel != nil {
		p.channel = cmp.Or(p.channel, in.Channel.ID)
	}
	if in.Message != nil {
		p.message, p.root = cmp.Or(p.message, in.Message.TS), cmp.Or(p.root, in.Message.ThreadTS)
	}
	if in.Team != nil {
		p.home = in.Team.ID
	}
	p.team = cmp.Or(in.User.TeamID, p.home)
	p.home = cmp.Or(p.home, p.team)
	if p.root == p.message { // others have replied to the question
		p.root = ""
	}
	p.action = actionOf(a.ActionID)
	switch {
	case !isID(p.channel) || p.home == "":
		p.refused = "the place of the button is not known"
	case p.action == "" || p.invocation == "":
		p.refused = "not a button of ours"
	default:
		p.thread = p.place(a.BlockID)
	}
	p.id = strings.Join([]string{
		chat.Slack, "press", p.home, p.channel, p.message, p.team, p.user, a.ActionID, cmp.Or(a.ActionTS, in.TriggerID),
	}, ":")
	return p, "", nil
}

// place is the conversation that the button was pressed in. The block names the one
// the question was put to; it counts only if it lies in the channel of the press.
func (p *press) place(block string) chat.Thread {
	key := p.channel
	switch {
	case isDM(p.channel):
		key = p.user
	case p.root != "":
		key += ":" + p.root
	}
	if named, ours := strings.CutPrefix(block, blockPrefix); ours && !isDM(p.channel) {
		channel, ts, _ := strings.Cut(named, ":")
		if channel == p.channel && (p.root == "" || p.root == ts) {
			key = named
		}
	}
	return chat.Thread{Connector: chat.Slack, Key: key}
}
