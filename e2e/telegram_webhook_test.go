package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/countersignhq/countersign/connectors/telegram/telegramtest"
	"github.com/countersignhq/countersign/e2e/harness"
)

const secret = "e2e_webhook-secret"

var (
	adaThere      = telegramtest.Person{ID: ada, FirstName: "Ada"}
	bobThere      = telegramtest.Person{ID: bob, FirstName: "Bob"}
	strangerThere = telegramtest.Person{ID: stranger, FirstName: "Mallory"}
)

func private(p telegramtest.Person) telegramtest.Chat { return telegramtest.Private(p) }

func group(id int64) telegramtest.Chat { return telegramtest.Chat{ID: id, Type: "supergroup"} }

// telegram is a Telegram server of our own and the settings of a worker that registers its
// webhook there.
type telegram struct {
	*telegramtest.Server
	port int
}

func newTelegram(t *testing.T) *telegram {
	t.Helper()
	s := &telegram{Server: telegramtest.New(), port: harness.Port(t)}
	t.Cleanup(s.Close)
	return s
}

func (s *telegram) settings(more map[string]string) map[string]string {
	settings := map[string]string{
		"LARACLAW_TELEGRAM_TOKEN": s.Token, "COUNTERSIGN_TELEGRAM_MODE": "webhook", "COUNTERSIGN_TELEGRAM_API_URL": s.URL(),
		"COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET": secret, "COUNTERSIGN_PUBLIC_URL": harness.URL(s.port),
	}
	maps.Copy(settings, more)
	return settings
}

// world starts a World that has this Telegram.
func (s *telegram) world(t *testing.T, setup harness.Setup) *harness.World {
	t.Helper()
	setup.Port, setup.Env = s.port, s.settings(setup.Env)
	w := harness.New(t, setup)
	s.registered(t)
	return w
}

// registered waits until the worker has set its webhook.
func (s *telegram) registered(t *testing.T) {
	t.Helper()
	_, err := s.AwaitCalls(bounded(t), "setWebhook", 1)
	require.NoError(t, err)
}

// await waits for a message of the bot, new or edited, that begins with text.
func (s *telegram) await(t *testing.T, chat int64, text string) telegramtest.Message {
	t.Helper()
	m, err := s.Await(bounded(t), chat, func(m telegramtest.Message) bool { return strings.HasPrefix(m.Text, text) })
	require.NoError(t, err)
	return m
}

// taken waits until every update was answered with 200.
func (s *telegram) taken(t *testing.T) {
	t.Helper()
	require.NoError(t, s.AwaitTaken(bounded(t)))
}

// prompts counts the questions sent to a chat, by their text, edited or not.
func (s *telegram) prompts(chat int64, text string) (n int) {
	for _, m := range s.Sent(chat) {
		if strings.HasPrefix(m.Text, text) {
			n++
		}
	}
	return n
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// hook posts an update to a webhook as anybody could.
func hook(t *testing.T, w *harness.World, secret string, update map[string]any) (status int, took time.Duration) {
	t.Helper()
	body, err := json.Marshal(update)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL()+"/telegram/webhook", bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	if secret != "" {
		request.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	began := time.Now()
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, time.Since(began)
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	s := newTelegram(t)
	w := s.world(t, harness.Setup{})

	t.Run("the secret", func(t *testing.T) {
		t.Parallel()
		update := map[string]any{"update_id": 1, "message": s.Compose(private(adaThere), adaThere,
			"/file_manager write disk=local path=secret.txt content=x")}
		for _, wrong := range []string{"", "wrong", secret + "x", secret[:4]} {
			status, _ := hook(t, w, wrong, update)
			require.Equal(t, http.StatusUnauthorized, status, "secret %q", wrong)
		}
		calls := s.Calls("setWebhook")
		require.Equal(t, harness.URL(s.port)+"/telegram/webhook", calls[0].Params["url"])
		require.Equal(t, secret, calls[0].Params["secret_token"])
		status, _ := hook(t, w, secret, update)
		require.Equal(t, http.StatusOK, status)
		s.await(t, ada, "✅ Done: file_manager write")
		require.True(t, w.Exists("secret.txt"))
	})

	t.Run("a redelivered update has one effect", func(t *testing.T) {
		t.Parallel()
		const chat = -201
		again := func(update map[string]any) {
			for range 3 {
				status, _ := hook(t, w, secret, update)
				require.Equal(t, http.StatusOK, status)
			}
		}
		again(map[string]any{"update_id": 900001, "message": s.Compose(group(chat), adaThere,
			"/file_manager append disk=local path=log.txt content=line")})
		s.await(t, chat, "✅ Done: file_manager append")
		w.Write(t, "again.csv", "x")
		again(map[string]any{"update_id": 900002, "message": s.Compose(group(chat), adaThere, "/file_manager delete disk=local path=again.csv")})
		prompt := s.await(t, chat, "⚠️ Delete the file at again.csv")
		again(map[string]any{"update_id": 900003, "message": s.Compose(group(chat), bobThere, "yes")})
		s.await(t, chat, "✅ Done: file_manager delete")
		require.Contains(t, s.await(t, chat, prompt.Text).Text, "Approved by bob")
		// The button comes too late, again and again, and changes nothing.
		again(map[string]any{"update_id": 900004, "callback_query": map[string]any{
			"id": "q", "from": adaThere, "data": prompt.Buttons[1].Data,
			"message": map[string]any{"message_id": prompt.ID, "chat": group(chat), "date": 1},
		}})
		// A last message goes through after all of them: what they did is done.
		again(map[string]any{"update_id": 900005, "message": s.Compose(group(chat), adaThere, "/file_manager exists disk=local path=again.csv")})
		s.await(t, chat, "✅ Done: file_manager exists")
		require.Equal(t, "line", w.Read(t, "log.txt"))
		require.Len(t, s.Sent(chat), 4, "one reply, one prompt, and a reply for each of the two other commands: %v", s.Sent(chat))
		require.Contains(t, s.await(t, chat, prompt.Text).Text, "Approved by bob")
	})

	t.Run("files in and out", func(t *testing.T) {
		t.Parallel()
		const chat = bob
		content := bytes.Repeat([]byte("month,total\nJanuary,42\n"), 5000)
		s.Say(private(bobThere), bobThere, "",
			telegramtest.With("document", map[string]any{"file_id": s.Upload("report.csv", content), "file_name": "../re\u202eport.csv"}),
			telegramtest.With("caption", "/file_manager save_attachment source=report.csv disk=local path=saved/report.csv"))
		s.await(t, chat, "✅ Done: file_manager save_attachment")
		require.Equal(t, string(content), w.Read(t, "saved/report.csv"))
		inbound, err := filepath.Glob(w.File("inbound/*/report.csv"))
		require.NoError(t, err)
		require.Len(t, inbound, 1, "the attachment is kept")

		s.Say(private(bobThere), bobThere, "/file_manager attach_to_reply disk=local path=saved/report.csv")
		sent, err := s.Await(bounded(t), chat, func(m telegramtest.Message) bool { return m.Method == "sendDocument" })
		require.NoError(t, err)
		require.Equal(t, "report.csv", sent.File)
		require.Equal(t, content, sent.Content)
		harness.Eventually(t, "what was sent is deleted", func() bool {
			left, err := os.ReadDir(w.File("outbound"))
			return err == nil && len(left) == 0
		})
	})

	t.Run("a stranger in a private chat is dropped", func(t *testing.T) {
		t.Parallel()
		s.Say(private(strangerThere), strangerThere, "/file_manager write disk=local path=mallory.txt content=x")
		s.taken(t)
		_, err := w.Client.DescribeWorkflow(t.Context(), "conversation/telegram/4711", "")
		require.ErrorAs(t, err, new(*serviceerror.NotFound))
		// In a group anybody may write.
		const chat = -202
		s.Say(group(chat), strangerThere, "/file_manager write disk=local path=group.txt content=x")
		s.await(t, chat, "✅ Done: file_manager write")
		require.True(t, w.Exists("group.txt"))
		require.False(t, w.Exists("mallory.txt"))
		require.Empty(t, s.Sent(stranger))
	})
}

// Telegram is asked to send it again while Temporal is away, and then it has one effect.
func TestWebhookWithoutTemporal(t *testing.T) {
	t.Parallel()
	s := newTelegram(t)
	w := s.world(t, harness.Setup{Temporal: harness.NewTemporal(t)})
	s.Say(private(adaThere), adaThere, "/file_manager append disk=local path=log.txt content=one,")
	s.await(t, ada, "✅ Done: file_manager append")

	w.Temporal.Kill(t)
	update := map[string]any{"update_id": 800001, "message": s.Compose(group(-301), adaThere, "/file_manager append disk=local path=log.txt content=two,")}
	status, took := hook(t, w, secret, update)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Less(t, took, 5*time.Second)
	require.Equal(t, http.StatusServiceUnavailable, w.API.Status("/readyz"))
	require.Equal(t, http.StatusOK, w.API.Status("/healthz"))
	s.Say(group(-302), adaThere, "/file_manager append disk=local path=log2.txt content=three")

	w.Temporal.Restart(t)
	s.taken(t) // Telegram's own redelivery
	s.await(t, -302, "✅ Done: file_manager append")
	for range 2 {
		status, _ = hook(t, w, secret, update)
		require.Equal(t, http.StatusOK, status)
	}
	s.await(t, -301, "✅ Done: file_manager append")
	s.Say(group(-301), adaThere, "/file_manager exists disk=local path=log.txt")
	s.await(t, -301, "✅ Done: file_manager exists")
	require.Equal(t, "one,two,", w.Read(t, "log.txt"))
	require.Equal(t, "three", w.Read(t, "log2.txt"))
	require.True(t, w.Engine().Running(), "neither role ends because Temporal is gone")
	w.Ready(t)
}
