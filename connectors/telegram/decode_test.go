package telegram

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

// in wraps a message's fields into an update of ada's private chat.
func in(fields string) string {
	return `{"update_id":7,"message":{"message_id":5,"from":{"id":1001,"first_name":"Ada"},"chat":{"id":1001,"type":"private"},` + fields + `}}`
}

func inGroup(fields string) string {
	return `{"update_id":7,"message":{"message_id":5,"from":{"id":1001,"first_name":"Ada"},"chat":{"id":-100,"type":"supergroup"},` + fields + `}}`
}

func TestDecodeIgnores(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"D08 H12 edited message":    `{"update_id":7,"edited_message":{"message_id":5,"from":{"id":1001},"chat":{"id":1001},"text":"yes"}}`,
		"H13 reaction":              `{"update_id":7,"message_reaction":{"chat":{"id":1001},"user":{"id":1001},"new_reaction":[{"type":"emoji","emoji":"👍"}]}}`,
		"channel post":              `{"update_id":7,"channel_post":{"message_id":5,"chat":{"id":-100,"type":"channel"},"text":"yes"}}`,
		"edited channel post":       `{"update_id":7,"edited_channel_post":{"message_id":5,"chat":{"id":-100,"type":"channel"},"text":"yes"}}`,
		"anonymous administrator":   inGroup(`"sender_chat":{"id":-100,"type":"supergroup"},"text":"yes"`),
		"H02 bot":                   strings.Replace(in(`"text":"yes"`), `"id":1001,`, `"id":1001,"is_bot":true,`, 1),
		"H13 sticker":               in(`"sticker":{"file_id":"s","emoji":"👍"}`),
		"service message":           inGroup(`"new_chat_members":[{"id":3}]`),
		"no sender":                 `{"update_id":7,"message":{"message_id":5,"chat":{"id":1001},"text":"yes"}}`,
		"no chat":                   `{"update_id":7,"message":{"message_id":5,"from":{"id":1001},"text":"yes"}}`,
		"null message":              `{"update_id":7,"message":null}`,
		"kind of the future":        `{"update_id":7,"telepathy":{"text":"yes"}}`,
		"press without a person":    `{"update_id":7,"callback_query":{"id":"q","data":"y:1"}}`,
		"press by a bot":            `{"update_id":7,"callback_query":{"id":"q","from":{"id":1,"is_bot":true},"data":"y:1"}}`,
		"zero update id is also id": `{"update_id":0}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := decode([]byte(raw))
			require.NoError(t, err)
			require.Nil(t, e.message)
			require.Nil(t, e.press)
			require.NotEmpty(t, e.ignored)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{``, `null`, `[]`, `"x"`, `{`, `{"message":{"text":"yes"}}`, `{"update_id":"7"}`, `{"update_id":7,"message":{"text":5}}`, `<html>`} {
		_, err := decode([]byte(raw))
		require.Error(t, err, raw)
	}
}

func TestDecodeText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw       string
		text      string
		forwarded bool
		files     []remote
	}{
		"text":             {raw: in(`"text":"yes"`), text: "yes"},
		"caption":          {raw: in(`"caption":"yes","photo":[{"file_id":"p"}]`), text: "yes", files: []remote{{id: "p", name: "photo.jpg"}}},
		"forward":          {raw: in(`"forward_origin":{"type":"hidden_user"},"text":"yes"`), text: "yes", forwarded: true},
		"older forward":    {raw: in(`"forward_date":1,"text":"yes"`), text: "yes", forwarded: true},
		"via inline bot":   {raw: in(`"via_bot":{"id":9,"is_bot":true},"text":"yes"`), text: "yes", forwarded: true},
		"D15 largest size": {raw: in(`"photo":[{"file_id":"a","width":90,"height":60},{"file_id":"c","width":1280,"height":853,"file_size":99},{"file_id":"b","width":320,"height":213}]`), files: []remote{{id: "c", name: "photo.jpg", size: 99}}},
		"H13 voice":        {raw: in(`"voice":{"file_id":"v","mime_type":"audio/ogg"}`), files: []remote{{id: "v", name: "voice.ogg"}}},
		"audio":            {raw: in(`"audio":{"file_id":"a","mime_type":"audio/mp4"}`), files: []remote{{id: "a", name: "audio.m4a"}}},
		"video":            {raw: in(`"video":{"file_id":"v","file_name":"clip.mov"}`), files: []remote{{id: "v", name: "clip.mov"}}},
		"video note":       {raw: in(`"video_note":{"file_id":"v"}`), files: []remote{{id: "v", name: "video_note.mp4"}}},
		"document":         {raw: in(`"document":{"file_id":"d","file_name":"../../x.pdf","file_size":12}`), files: []remote{{id: "d", name: "../../x.pdf", size: 12}}},
		"nameless":         {raw: in(`"document":{"file_id":"d","mime_type":"application/pdf"}`), files: []remote{{id: "d", name: "attachment.pdf"}}},
		"animation once":   {raw: in(`"animation":{"file_id":"g","file_name":"cat.mp4"},"document":{"file_id":"g","file_name":"cat.mp4"}`), files: []remote{{id: "g", name: "cat.mp4"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := decode([]byte(c.raw))
			require.NoError(t, err)
			require.NotNil(t, e.message, e.ignored)
			require.Equal(t, c.text, e.message.text)
			require.Equal(t, c.forwarded, e.message.forwarded)
			require.Equal(t, c.files, e.message.files)
		})
	}
}

func TestD07Threads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, key string }{
		"private":                            {in(`"text":"x"`), "1001"},
		"group":                              {inGroup(`"text":"x"`), "-100"},
		"topic":                              {inGroup(`"text":"x","is_topic_message":true,"message_thread_id":42`), "-100:42"},
		"reply with a thread id, no forum":   {inGroup(`"text":"x","message_thread_id":42`), "-100"},
		"General has no id":                  {inGroup(`"text":"x","is_topic_message":false`), "-100"},
		"General with the id nobody can use": {inGroup(`"text":"x","is_topic_message":true,"message_thread_id":1`), "-100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := decode([]byte(c.raw))
			require.NoError(t, err)
			require.Equal(t, chat.Thread{Connector: "telegram", Key: c.key}, e.message.thread())
		})
	}
}

func TestDecodeReply(t *testing.T) {
	t.Parallel()
	e, err := decode([]byte(inGroup(`"text":"yes","reply_to_message":{"message_id":3,"from":{"id":7,"is_bot":true}}`)))
	require.NoError(t, err)
	require.Equal(t, &reference{id: 3, from: user{ID: 7, IsBot: true}}, e.message.replyTo)

	e, err = decode([]byte(inGroup(`"text":"yes","is_topic_message":true,"message_thread_id":3,"reply_to_message":{"message_id":3,"from":{"id":7,"is_bot":true},"forum_topic_created":{"name":"x"}}`)))
	require.NoError(t, err)
	require.Nil(t, e.message.replyTo, "the topic's first message is no question")
}

func TestDecodePress(t *testing.T) {
	t.Parallel()
	press := func(data, message string) string {
		body, _ := json.Marshal(data)
		return `{"update_id":7,"callback_query":{"id":"q","from":{"id":1001},"data":` + string(body) + message + `}}`
	}
	here := `,"message":{"message_id":3,"chat":{"id":-100,"type":"supergroup"},"is_topic_message":true,"message_thread_id":42}`

	e, err := decode([]byte(press("y:01J9", here)))
	require.NoError(t, err)
	require.Equal(t, "01J9", e.press.invocation)
	require.Equal(t, chat.ActionYes, e.press.action)
	require.Equal(t, "-100:42", e.press.thread().Key)
	require.Empty(t, e.press.refused)

	e, err = decode([]byte(press("n:01J9", `,"message":{"message_id":3,"chat":{"id":1001,"type":"private"},"date":0}`)))
	require.NoError(t, err, "a message too old to be shown still names its chat")
	require.Equal(t, "1001", e.press.thread().Key)
	require.Empty(t, e.press.refused)

	for name, raw := range map[string]string{
		"no message":        press("y:01J9", `,"inline_message_id":"i"`),
		"foreign data":      press("vote:1", here),
		"no data":           press("", here),
		"empty invocation":  press("y:", here),
		"unknown action":    press("z:01J9", here),
		"digest cut":        press("y#abc", here),
		"digest by name":    press("y:sha256:0123456789abcdef0123456789abcdef", here),
		"D10 data of signs": press("y:"+strings.Repeat("é", 31), here),
	} {
		e, err := decode([]byte(raw))
		require.NoError(t, err, name)
		require.NotEmpty(t, e.press.refused, name)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{in(`"text":"yes"`), inGroup(`"photo":[{}],"media_group_id":"1"`), `{"update_id":1,"callback_query":{"id":"q","from":{"id":1},"message":{"chat":null},"data":"y:1"}}`, `{"update_id":1,"message":{"from":{},"chat":{},"reply_to_message":{"from":null}}}`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := decode(raw)
		if err != nil {
			return
		}
		set := 0
		for _, is := range []bool{e.message != nil, e.press != nil, e.ignored != ""} {
			if is {
				set++
			}
		}
		require.Equal(t, 1, set, "exactly one of message, press, ignored")
		if m := e.message; m != nil {
			require.False(t, m.from.IsBot)
			require.False(t, m.channel)
			require.True(t, m.text != "" || len(m.files) > 0)
		}
		if p := e.press; p != nil && p.refused == "" {
			require.NotEmpty(t, p.action)
			require.NotEmpty(t, p.invocation)
		}
	})
}

func FuzzButtonData(f *testing.F) {
	f.Add("01J9ZQ6V5R8K3M2N4P7S9T0W1X")
	f.Add(strings.Repeat("é", 31))
	f.Add("sha256:0123456789abcdef0123456789abcdef")
	f.Add("")
	f.Fuzz(func(t *testing.T, id string) {
		data := buttonData(chat.ActionNo, id)
		require.LessOrEqual(t, len(data), maxCallbackData)
		require.True(t, utf8.ValidString(data))
		action, back, known := readData(data)
		require.True(t, known)
		require.Equal(t, chat.ActionNo, action)
		require.Contains(t, []string{id, Digest(id)}, back)
	})
}
