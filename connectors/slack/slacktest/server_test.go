package slacktest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/slack/slacktest"
)

func server(t *testing.T) *slacktest.Server {
	t.Helper()
	s := slacktest.New()
	t.Cleanup(s.Close)
	s.Resend = time.Millisecond
	return s
}

// call posts a form to a method and returns the error code.
func call(t *testing.T, s *slacktest.Server, method, token string, form url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/"+method, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var body struct{ Error string }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&body))
	return body.Error
}

// It refuses what Slack refuses: a connector that passes here must keep these rules.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Refuse("C13", "is_archived")
	s.Refuse("U13", "user_disabled")
	section := func(kind, text string) string {
		content, err := json.Marshal([]any{map[string]any{"type": "section", "text": map[string]any{"type": kind, "text": text}}})
		require.NoError(t, err)
		return string(content)
	}
	button := func(value string) string {
		content, err := json.Marshal([]any{map[string]any{"type": "actions", "elements": []any{map[string]any{
			"type": "button", "action_id": "a", "value": value, "text": map[string]any{"type": "plain_text", "text": "Yes"},
		}}}})
		require.NoError(t, err)
		return string(content)
	}
	for name, c := range map[string]struct {
		method string
		form   url.Values
		want   string
	}{
		"fine":                   {"chat.postMessage", url.Values{"channel": {"C01"}, "text": {"x"}}, ""},
		"empty":                  {"chat.postMessage", url.Values{"channel": {"C01"}, "text": {" "}}, "no_text"},
		"too long":               {"chat.postMessage", url.Values{"channel": {"C01"}, "text": {strings.Repeat("é", 4001)}}, "msg_too_long"},
		"no channel":             {"chat.postMessage", url.Values{"text": {"x"}}, "channel_not_found"},
		"archived":               {"chat.postMessage", url.Values{"channel": {"C13"}, "text": {"x"}}, "is_archived"},
		"a user who is gone":     {"conversations.open", url.Values{"users": {"U13"}}, "user_disabled"},
		"section of 3000":        {"chat.postMessage", url.Values{"channel": {"C01"}, "text": {"x"}, "blocks": {section("plain_text", strings.Repeat("x", 3000))}}, ""},
		"section of 3001":        {"chat.postMessage", url.Values{"channel": {"C01"}, "text": {"x"}, "blocks": {section("plain_text", strings.Repeat("x", 3001))}}, "invalid_blocks"},
		"section escaped":        {"chat.postMessage", url.Values{"channel": {"C01"}, "text": {"x"}, "blocks": {section("plain_text", strings.Repeat("&", 601))}}, "invalid_blocks"},
		"data as markup":         {"chat.postMessage", url.Values{"channel": {"C01"}, "text": {"x"}, "blocks": {section("mrkdwn", "x")}}, "invalid_blocks"},
		"value too long":         {"chat.postMessage", url.Values{"channel": {"C01"}, "text": {"x"}, "blocks": {button(strings.Repeat("x", 2001))}}, "invalid_blocks"},
		"edit of nothing":        {"chat.update", url.Values{"channel": {"C01"}, "ts": {"1.1"}, "text": {"x"}}, "message_not_found"},
		"empty upload":           {"files.getUploadURLExternal", url.Values{"filename": {"x"}, "length": {"0"}}, "invalid_arguments"},
		"upload that is not":     {"files.completeUploadExternal", url.Values{"channel_id": {"C01"}, "files": {`[{"id":"F1"}]`}}, "file_not_found"},
		"a socket's other token": {"apps.connections.open", nil, "invalid_auth"},
		"no method":              {"chat.telepathy", nil, "unknown_method"},
	} {
		require.Equal(t, c.want, call(t, s, c.method, s.BotToken, c.form), name)
	}
	require.Equal(t, "invalid_auth", call(t, s, "auth.test", "another", nil))
}

// The library's own client, and its own flow of uploads, work with it.
func TestLibraryWorksWithIt(t *testing.T) {
	t.Parallel()
	s := server(t)
	client := slackgo.New(s.BotToken, slackgo.OptionAPIURL(s.URL()+"/"))
	_, err := client.UploadFileContext(t.Context(), slackgo.UploadFileParameters{
		Reader: strings.NewReader("abc"), FileSize: 3, Filename: "a.txt", Channel: "C01", ThreadTimestamp: "1.1",
	})
	require.NoError(t, err)
	require.Equal(t, "abc", string(s.Sent("C01")[0].Content))

	file := s.Upload("b.txt", "text/plain", []byte("content"))
	var got strings.Builder
	require.NoError(t, client.GetFileContext(t.Context(), file["url_private"].(string), &got))
	require.Equal(t, "content", got.String())
	stranger := slackgo.New("xoxb-another", slackgo.OptionAPIURL(s.URL()+"/"))
	require.ErrorContains(t, stranger.GetFileContext(t.Context(), file["url_private"].(string), io.Discard), "sign-in page")
}

func TestEventsAreSignedAndRepeated(t *testing.T) {
	t.Parallel()
	s := server(t)
	var calls atomic.Int32
	var numbers [4]atomic.Value
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verifier, err := slackgo.NewSecretsVerifier(r.Header, s.SigningSecret)
		if err == nil {
			_, _ = io.Copy(&verifier, r.Body)
			err = verifier.Ensure()
		}
		if err != nil {
			t.Error(err)
		}
		n := calls.Add(1)
		if n <= 4 {
			numbers[n-1].Store(r.Header.Get("X-Slack-Retry-Num"))
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(gateway.Close)
	s.Gateway(gateway.URL)
	s.Say("D01", "U01", "hello")
	require.NoError(t, s.AwaitTaken(t.Context()))
	require.EqualValues(t, 4, calls.Load(), "once, and three times again")
	require.Equal(t, []any{"", "1", "2", "3"}, []any{numbers[0].Load(), numbers[1].Load(), numbers[2].Load(), numbers[3].Load()})

	require.Empty(t, call(t, s, "chat.postMessage", s.BotToken, url.Values{
		"channel": {"C01"}, "text": {"x"},
		"blocks": {`[{"type":"actions","elements":[{"type":"button","action_id":"a","value":"v","text":{"type":"plain_text","text":"Yes"}}]}]`},
	}))
	require.NoError(t, s.Press("U01", s.Sent("C01")[0], "Yes"))
	require.NoError(t, s.AwaitTaken(t.Context()))
	require.EqualValues(t, 5, calls.Load(), "a press is sent once")
	require.Error(t, s.Press("U01", s.Sent("C01")[0], "No"), "there is no such button")
	deliveries := s.Deliveries()
	require.Equal(t, slacktest.Delivery{Kind: slacktest.Interactive, Status: 503}, deliveries[len(deliveries)-1])
}
