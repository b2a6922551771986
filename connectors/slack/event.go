package slack

import "encoding/json"

// Events and presses as Slack documents them, as far as this connector reads them.
// The library's types give an edit the look of a message (its ev.Message holds both).

// envelope of the Events API.
type envelope struct {
	Type      string `json:"type"`
	Challenge string `json:"challenge"`
	TeamID    string `json:"team_id"`
	// Authorizations are installations of this app that can see the event. Only the
	// first is listed.
	Authorizations []authorization `json:"authorizations"`
	Event          json.RawMessage `json:"event"`
}

type authorization struct {
	TeamID string `json:"team_id"`
	UserID string `json:"user_id"`
	IsBot  bool   `json:"is_bot"`
}

// kind of an event. It is read first: what else an event holds depends on it, and with
// the subtype of an edit the other fields look like a message.
type kind struct {
	Type    string `json:"type"`
	SubType string `json:"subtype"`
}

// inner is a message or app_mention event.
type inner struct {
	Hidden      bool   `json:"hidden"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"`
	User        string `json:"user"`
	Text        string `json:"text"`
	TS          string `json:"ts"`
	ThreadTS    string `json:"thread_ts"`
	// ParentUser wrote the first message of the thread.
	ParentUser string `json:"parent_user_id"`
	BotID      string `json:"bot_id"`
	AppID      string `json:"app_id"`
	// BotProfile and Edited are objects; that they are there is enough.
	BotProfile *struct{} `json:"bot_profile"`
	Edited     *struct{} `json:"edited"`
	// The author's workspace; the first two come in channels shared between workspaces.
	UserTeam   string     `json:"user_team"`
	SourceTeam string     `json:"source_team"`
	Team       string     `json:"team"`
	Files      []fileInfo `json:"files"`
}

type fileInfo struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Title      string `json:"title"`
	MIMEType   string `json:"mimetype"`
	FileType   string `json:"filetype"`
	Mode       string `json:"mode"`
	IsExternal bool   `json:"is_external"`
	Access     string `json:"file_access"`
	Size       int64  `json:"size"`
	Private    string `json:"url_private"`
	Download   string `json:"url_private_download"`
}

// interaction is a press of a button (block_actions).
type interaction struct {
	Type string `json:"type"`
	User *struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Username string `json:"username"`
		TeamID   string `json:"team_id"`
	} `json:"user"`
	// Team is the workspace that the app is installed in, also if somebody of another one presses.
	Team *struct {
		ID string `json:"id"`
	} `json:"team"`
	Channel *struct {
		ID string `json:"id"`
	} `json:"channel"`
	Container struct {
		ChannelID string `json:"channel_id"`
		MessageTS string `json:"message_ts"`
		ThreadTS  string `json:"thread_ts"`
	} `json:"container"`
	Message *struct {
		TS       string `json:"ts"`
		ThreadTS string `json:"thread_ts"`
	} `json:"message"`
	TriggerID string `json:"trigger_id"`
	Actions   []struct {
		ActionID string `json:"action_id"`
		BlockID  string `json:"block_id"`
		ActionTS string `json:"action_ts"`
		Type     string `json:"type"`
		Value    string `json:"value"`
	} `json:"actions"`
}
