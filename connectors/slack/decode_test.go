package slack

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
)

func TestTyped(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"plain":                                    "plain",
		"a &amp; b &lt;c&gt; &amp;lt;":             "a & b <c> &lt;",
		"<http://notes.md|notes.md>":               "notes.md",
		"<https://example.com/a?b=1&amp;c>":        "https://example.com/a?b=1&c",
		"<https://example.com/|example.com>":       "example.com",
		"<mailto:ada@x.test|ada@x.test>":           "ada@x.test",
		"<tel:+4930123|+4930123>":                  "+4930123 (tel:+4930123)",
		"<https://attacker.test|docs.x.test>":      "docs.x.test (https://attacker.test)",
		"<https://attacker.test|yes>":              "yes (https://attacker.test)",
		"<http://yes|yes>":                         "yes (http://yes)",
		"<@U02> and <#C01|general> <#C02>":         "<@U02> and #general <#C02>",
		"<!here> <!channel> <!everyone>":           "@here @channel @everyone",
		"<!subteam^S01|@admins> <!subteam^S02>":    "@admins <!subteam^S02>",
		"<!date^1^{date}|yes> <!subteam^S01|yes>":  "<!date^1^{date}|yes> <!subteam^S01|yes>",
		"<>  <|yes> a<b":                           "<>  <|yes> a<b",
		"<Yes>":                                    "<Yes>",
		"<yes|yes>":                                "<yes|yes>",
		"&lt;http://notes.md|notes.md&gt; is text": "<http://notes.md|notes.md> is text",
	} {
		require.Equal(t, want, typed(raw), raw)
	}
}

func FuzzTyped(f *testing.F) {
	for _, seed := range []string{"<http://a.b|a.b> &amp; <@U1>", "<<<>>>||", "<!date^1|x>", "yes", "<http://yes|yes>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := typed(text)
		if strings.EqualFold(strings.TrimSpace(got), "yes") {
			require.NotContains(t, text, "<", "only what was typed can be a yes")
		}
		if !strings.ContainsAny(text, "<>&") {
			require.Equal(t, text, got)
		}
		_ = unmention(text, []string{"U1"})
	})
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"type":"event_callback","team_id":"T1","event":{"type":"message","user":"U1","channel":"D1","ts":"1.1","text":"yes"}}`,
		`{"type":"event_callback","team_id":"T1","authorizations":[{"team_id":"T1","user_id":"U2","is_bot":true}],"event":{"type":"app_mention","user":"U1","channel":"C1","ts":"1.1","thread_ts":"1.0","text":"<@U2> yes","files":[{"id":"F1","size":3}]}}`,
		`{"type":"event_callback","team_id":"T1","event":{"type":"message","subtype":"message_changed","message":{"text":"yes"}}}`,
		`{"type":"url_verification","challenge":"x"}`, `{"event":null}`, `[]`, `{"type":"event_callback","event":{"type":"message","user":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := decode(raw)
		if err != nil || e.message == nil {
			return
		}
		m := e.message
		require.Empty(t, e.challenge)
		require.True(t, isID(m.user) && isID(m.channel) && isTS(m.ts), "usable ids only: %+v", m)
		require.NotEmpty(t, m.home)
		require.NotEmpty(t, m.team)
		require.NotEqual(t, m.ts, m.root)
		key := m.thread().Key
		require.True(t, key == m.user || strings.HasPrefix(key, m.channel+":"), key)
		require.False(t, m.written().IsZero())
	})
}

func FuzzDecodePress(f *testing.F) {
	for _, seed := range []string{
		`{"type":"block_actions","user":{"id":"U1","team_id":"T1"},"team":{"id":"T1"},"container":{"channel_id":"C1","message_ts":"1.1","thread_ts":"1.0"},"actions":[{"action_id":"countersign:yes","block_id":"countersign:C1:1.0","value":"i","action_ts":"2.2"}]}`,
		`{"type":"block_actions","user":{"id":"U1"},"actions":[{}]}`, `{"type":"view_submission"}`, `null`, `{"type":"block_actions","actions":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, _, err := decodePress(raw)
		if err != nil || p == nil || p.refused != "" {
			return
		}
		require.NotEmpty(t, p.invocation)
		require.Contains(t, offered, p.action)
		require.True(t, isID(p.user) && isID(p.channel))
		key := p.thread.Key
		require.True(t, key == p.user || key == p.channel || strings.HasPrefix(key, p.channel+":"), "another chat: %s", key)
		require.Equal(t, chat.Slack, p.thread.Connector)
	})
}

func FuzzShorten(f *testing.F) {
	f.Add("aaaa\nbbbbbbbb cc😀😀😀&&&&<<<>>>>", 1)
	f.Add("\n\xff&", 700)
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.Repeat(text, min(max(times, 1), 1000))
		short, cut := shorten("", text, 600)
		require.LessOrEqual(t, characters.Length(short), 600)
		require.True(t, utf8.ValidString(short))
		require.Equal(t, cut, characters.Length(strings.ToValidUTF8(text, "\uFFFD")) > 600)
	})
}
