package telegram

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/countersignhq/countersign/chat"
)

// identity makes the names of messages. Both come from what Telegram says alone, so
// that the same message has the same ones whenever, and at whichever gateway, it
// comes again.
type identity struct {
	bot string // the bot's id, "" if the token does not tell it
	// space is the bot's own part of all UUIDs. It comes from the token: who knows
	// chats and message numbers cannot guess them.
	space uuid.UUID
}

func identityOf(token string) identity {
	return identity{bot: tokenID(token), space: uuid.NewSHA1(uuid.Nil, []byte("telegram "+token))}
}

// uuid of a message; all parts of an album have one. It says where files lie, so it
// is made of the message's number in its chat, which is never given twice: the
// numbers of updates begin anew at random after a quiet week (Bot API, Update).
func (i identity) uuid(e event) string {
	m := e.message
	key := "message " + ref(m.chat, m.id)
	switch {
	case m.album != "":
		key = "album " + strconv.FormatInt(m.chat, 10) + "/" + m.album
	case m.id == 0:
		key = "update " + strconv.FormatInt(e.update, 10)
	}
	return uuid.NewSHA1(i.space, []byte(key)).String()
}

// event names an update. Update ids are counted per bot, so the bot's id is part
// of it: taken from the token, which does not change over restarts.
func (i identity) event(update int64) string {
	id := strconv.FormatInt(update, 10)
	if i.bot != "" {
		id = i.bot + ":" + id
	}
	return chat.Telegram + ":update:" + id
}

// tokenID is the bot's id as the token tells it, "" if it does not.
func tokenID(token string) string {
	id, _, found := strings.Cut(token, ":")
	if _, err := strconv.ParseInt(id, 10, 64); !found || err != nil {
		return ""
	}
	return id
}
