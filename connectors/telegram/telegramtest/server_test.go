package telegramtest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
)

var ada = telegramtest.Person{ID: 1001, FirstName: "Ada"}

// call posts a form to a method and returns the status and the description.
func call(t *testing.T, s *telegramtest.Server, method string, form url.Values) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/bot"+s.Token+"/"+method, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var body struct{ Description string }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&body))
	return response.StatusCode, body.Description
}

func server(t *testing.T) *telegramtest.Server {
	t.Helper()
	s := telegramtest.New()
	t.Cleanup(s.Close)
	s.Resend = time.Millisecond
	return s
}

// It refuses what Telegram refuses: a connector that passes here must keep these rules.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := server(t)
	s.Block(13)
	for name, c := range map[string]struct {
		method string
		form   url.Values
		status int
		says   string
	}{
		"empty":         {"sendMessage", url.Values{"chat_id": {"1"}, "text": {" "}}, 400, "message text is empty"},
		"too long":      {"sendMessage", url.Values{"chat_id": {"1"}, "text": {strings.Repeat("😀", 2049)}}, 400, "message is too long"},
		"no chat":       {"sendMessage", url.Values{"text": {"x"}}, 400, "chat not found"},
		"General by id": {"sendMessage", url.Values{"chat_id": {"1"}, "text": {"x"}, "message_thread_id": {"1"}}, 400, "message thread not found"},
		"button data":   {"sendMessage", url.Values{"chat_id": {"1"}, "text": {"x"}, "reply_markup": {`{"inline_keyboard":[[{"text":"a","callback_data":"` + strings.Repeat("é", 33) + `"}]]}`}}, 400, "BUTTON_DATA_INVALID"},
		"blocked":       {"sendMessage", url.Values{"chat_id": {"13"}, "text": {"x"}}, 403, "blocked"},
		"edit nothing":  {"editMessageText", url.Values{"chat_id": {"1"}, "message_id": {"9"}, "text": {"x"}}, 400, "message to edit not found"},
		"no method":     {"sendTelepathy", nil, 404, "Not Found"},
	} {
		status, says := call(t, s, c.method, c.form)
		require.Equal(t, c.status, status, name)
		require.Contains(t, says, c.says, name)
	}
}

func TestWebhookIsRepeatedAndInOrder(t *testing.T) {
	t.Parallel()
	s := server(t)
	var busy, calls atomic.Int32
	texts := make(chan string, 10)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy.Add(1) > 1 {
			t.Error("two updates of one chat at once")
		}
		defer busy.Add(-1)
		if r.Header.Get("X-Telegram-Bot-Api-Secret-Token") != "s3cret" {
			t.Error("no secret")
		}
		if calls.Add(1) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var update struct{ Message struct{ Text string } }
		if err := json.NewDecoder(r.Body).Decode(&update); err != nil {
			t.Error(err)
		}
		texts <- update.Message.Text
	}))
	t.Cleanup(gateway.Close)
	s.Webhook(gateway.URL, "s3cret")
	s.Say(telegramtest.Private(ada), ada, "one")
	s.Say(telegramtest.Private(ada), ada, "two")
	require.Equal(t, "one", <-texts)
	require.Equal(t, "two", <-texts)
	require.NoError(t, s.AwaitTaken(t.Context()))

	status, says := call(t, s, "getUpdates", nil)
	require.Equal(t, 409, status)
	require.Contains(t, says, "webhook is active")
}

func TestOffsetAcknowledges(t *testing.T) {
	t.Parallel()
	s := server(t)
	first := s.Say(telegramtest.Private(ada), ada, "one")
	s.Say(telegramtest.Private(ada), ada, "two")
	for range 2 {
		status, _ := call(t, s, "getUpdates", nil)
		require.Equal(t, 200, status)
		require.Equal(t, 2, s.Waiting(), "fetching alone acknowledges nothing")
	}
	_, _ = call(t, s, "getUpdates", url.Values{"offset": {strconv.FormatInt(first+1, 10)}})
	require.Equal(t, 1, s.Waiting())
}
