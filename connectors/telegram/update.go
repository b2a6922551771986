package telegram

// Updates as the Bot API documents them, as far as this connector reads them.
// The library's types predate forum topics and forward_origin.

// allowedUpdates are the kinds that are asked for; edits and reactions never
// decide anything (CONTRACT §3) and are not even fetched.
const allowedUpdates = `["message","callback_query"]`

type update struct {
	ID       *int64    `json:"update_id"`
	Message  *message  `json:"message"`
	Callback *callback `json:"callback_query"`
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
}

type chatInfo struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`
}

type message struct {
	ID       int64     `json:"message_id"`
	ThreadID int64     `json:"message_thread_id"`
	IsTopic  bool      `json:"is_topic_message"`
	From     *user     `json:"from"`
	Chat     *chatInfo `json:"chat"`
	// Text or Caption; both belong to the person who wrote the message.
	Text    string `json:"text"`
	Caption string `json:"caption"`

	SenderChat    *chatInfo `json:"sender_chat"`
	ViaBot        *user     `json:"via_bot"`
	ForwardOrigin *struct{} `json:"forward_origin"`
	ForwardDate   int64     `json:"forward_date"` // before Bot API 7.0
	ReplyTo       *message  `json:"reply_to_message"`
	TopicCreated  *struct{} `json:"forum_topic_created"`
	MigrateTo     int64     `json:"migrate_to_chat_id"`
	Album         string    `json:"media_group_id"`
	Photo         []media   `json:"photo"`
	Voice         *media    `json:"voice"`
	Audio         *media    `json:"audio"`
	Video         *media    `json:"video"`
	VideoNote     *media    `json:"video_note"`
	Animation     *media    `json:"animation"`
	Document      *media    `json:"document"`
}

type media struct {
	FileID   string `json:"file_id"`
	Width    int64  `json:"width"`
	Height   int64  `json:"height"`
	FileSize int64  `json:"file_size"`
	FileName string `json:"file_name"`
	MIMEType string `json:"mime_type"`
}

type callback struct {
	ID      string   `json:"id"`
	From    *user    `json:"from"`
	Message *message `json:"message"` // may be inaccessible: then only chat and id
	Data    string   `json:"data"`
}
