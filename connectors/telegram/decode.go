package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// event is what an update means. At most one of message and press is set;
// with none, ignored says why nobody will hear of it.
type event struct {
	update  int64
	message *incoming
	press   *press
	ignored string
	// group has become supergroup, if that is not 0.
	group, supergroup int64
}

// place is where something was written or pressed.
type place struct {
	chat    int64
	topic   int64 // 0 outside of forum topics and in the General topic
	private bool
	channel bool
}

func (p place) thread() chat.Thread {
	key := strconv.FormatInt(p.chat, 10)
	if p.topic != 0 {
		key += ":" + strconv.FormatInt(p.topic, 10)
	}
	return chat.Thread{Connector: chat.Telegram, Key: key}
}

// incoming is a message that a person wrote.
type incoming struct {
	place
	id        int64
	from      user
	text      string
	forwarded bool
	album     string
	files     []remote
	// replyTo is the message that this one replies to, and who wrote that.
	replyTo *reference
}

type reference struct {
	id   int64
	from user
}

// remote is a file that lies on Telegram's server.
type remote struct {
	id   string
	name string
	size int64 // bytes; 0 if not told
}

// press of a button.
type press struct {
	place
	callback   string
	from       user
	action     chat.Action
	invocation string
	// refused says why the press cannot count.
	refused string
}

var errNoUpdate = errors.New("not an update: no update_id")

// decode reads one update. It is pure and takes any bytes; an error means that
// they are no update, which sending them again would not change.
func decode(raw []byte) (event, error) {
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		return event{}, fmt.Errorf("not an update: %w", err)
	}
	if u.ID == nil {
		return event{}, errNoUpdate
	}
	e := event{update: *u.ID}
	switch {
	case u.Message != nil && u.Message.MigrateTo != 0 && u.Message.Chat != nil:
		e.group, e.supergroup = u.Message.Chat.ID, u.Message.MigrateTo
		e.ignored = "the group has become a supergroup"
	case u.Message != nil:
		e.message, e.ignored = u.Message.read()
	case u.Callback != nil:
		e.press, e.ignored = u.Callback.read()
	default:
		// Edits, reactions, channel posts and what Telegram adds in future.
		e.ignored = "not a message or button press"
	}
	return e, nil
}

func (m *message) read() (*incoming, string) {
	switch {
	case m.Chat == nil || m.From == nil:
		return nil, "no chat or no sender"
	case m.SenderChat != nil:
		return nil, "written as a channel or an anonymous administrator: nobody"
	case m.From.IsBot:
		return nil, "written by a bot"
	case m.Chat.Type == "channel":
		return nil, "channel post"
	}
	in := &incoming{
		place: m.place(), id: m.ID, from: *m.From, text: m.Text, album: m.Album, files: m.remotes(),
		// What an inline bot composed is not the person's own word either.
		forwarded: m.ForwardOrigin != nil || m.ForwardDate != 0 || m.ViaBot != nil,
	}
	if in.text == "" {
		in.text = m.Caption
	}
	if in.text == "" && len(in.files) == 0 {
		return nil, "no text and no file (sticker, service message)"
	}
	// In a topic every message "replies" to the topic's first, a service message.
	if r := m.ReplyTo; r != nil && r.From != nil && r.TopicCreated == nil {
		in.replyTo = &reference{id: r.ID, from: *r.From}
	}
	return in, ""
}

func (c *callback) read() (*press, string) {
	if c.From == nil || c.ID == "" {
		return nil, "a press without a person"
	}
	if c.From.IsBot {
		return nil, "pressed by a bot"
	}
	p := &press{callback: c.ID, from: *c.From}
	if c.Message == nil || c.Message.Chat == nil {
		p.refused = "the chat of the button is not known"
		return p, ""
	}
	p.place = c.Message.place()
	var known bool
	if p.action, p.invocation, known = readData(c.Data); !known {
		p.refused = "not a button of ours"
	}
	return p, ""
}

func (m *message) place() place {
	p := place{chat: m.Chat.ID}
	switch m.Chat.Type {
	case "group", "supergroup":
	case "channel":
		p.channel = true
	default:
		p.private = true
	}
	// message_thread_id is also set for plain replies; the General topic is number 1,
	// which cannot be sent to.
	if m.IsTopic && m.ThreadID != 1 {
		p.topic = m.ThreadID
	}
	return p
}

// remotes names the files of a message (CONTRACT §6).
func (m *message) remotes() []remote {
	var files []remote
	add := func(f *media, name string) {
		if f == nil || f.FileID == "" {
			return
		}
		if f.FileName != "" {
			name = f.FileName
		}
		files = append(files, remote{id: f.FileID, name: name, size: f.FileSize})
	}
	add(largest(m.Photo), "photo.jpg")
	add(m.Voice, "voice.ogg")
	add(m.Audio, "audio"+extension(m.Audio, ".mp3"))
	add(m.Video, "video"+extension(m.Video, ".mp4"))
	add(m.VideoNote, "video_note.mp4")
	add(m.Animation, "animation"+extension(m.Animation, ".mp4"))
	if m.Animation == nil { // an animation comes a second time as a document
		add(m.Document, "attachment"+extension(m.Document, ""))
	}
	return files
}

func largest(sizes []media) *media {
	var best *media
	for i := range sizes {
		if s := &sizes[i]; best == nil || s.Width*s.Height > best.Width*best.Height {
			best = s
		}
	}
	return best
}

// extension for a nameless file. A fixed list: the mime package's depends on the machine.
func extension(f *media, other string) string {
	if f == nil {
		return other
	}
	kind, _, err := mime.ParseMediaType(f.MIMEType)
	if err != nil {
		return other
	}
	switch kind {
	case "audio/mpeg":
		return ".mp3"
	case "audio/mp4", "audio/x-m4a":
		return ".m4a"
	case "audio/ogg", "application/ogg":
		return ".ogg"
	case "video/mp4":
		return ".mp4"
	case "image/gif":
		return ".gif"
	case "image/jpeg":
		return ".jpg"
	case "image/png":
		return ".png"
	case "application/pdf":
		return ".pdf"
	case "text/plain":
		return ".txt"
	default:
		return other
	}
}

// display is how the sender calls themselves; never an identity.
func (u user) display() string {
	name := strings.TrimSpace(u.FirstName + " " + u.LastName)
	if name == "" && u.Username != "" {
		name = "@" + u.Username
	}
	return name
}
