package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// apiAnswer is what POST /api/message returns.
type apiAnswer struct {
	Success     bool   `json:"success"`
	Text        string `json:"text"`
	Key         string `json:"key"`
	Attachments []struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
		URL  string `json:"url"`
	} `json:"attachments"`
}

// apiFile is one part of an upload, with the name as it stands in the header.
type apiFile struct{ name, content string }

// post sends a message with files, as multipart.
func post(t *testing.T, w *harness.World, text, key string, files ...apiFile) harness.Answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, field := range [][2]string{{"text", text}, {"key", key}} {
		if field[1] != "" {
			require.NoError(t, form.WriteField(field[0], field[1]))
		}
	}
	for _, file := range files {
		part, err := form.CreateFormFile("attachments", file.name)
		require.NoError(t, err)
		_, err = io.WriteString(part, file.content)
		require.NoError(t, err)
	}
	require.NoError(t, form.Close())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL()+"/api/message", &body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Authorization", "Bearer "+harness.Token(harness.Ada))
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return harness.Answer{Status: response.StatusCode, Header: response.Header, Body: content}
}

func said(t *testing.T, answer harness.Answer) (read apiAnswer) {
	t.Helper()
	require.Equal(t, http.StatusOK, answer.Status, string(answer.Body))
	answer.Decode(t, &read)
	require.True(t, read.Success)
	return read
}

// say sends a text as JSON.
func say(t *testing.T, w *harness.World, text, key string) apiAnswer {
	t.Helper()
	return said(t, w.As(harness.Ada).Do(t, http.MethodPost, "/api/message", map[string]string{"text": text, "key": key}))
}

func TestAPIMessages(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{})

	t.Run("files in and out", func(t *testing.T) {
		t.Parallel()
		first := said(t, post(t, w, "/file_manager save_attachment source=report.csv disk=local path=saved/api.csv", "",
			apiFile{"../../report.csv", "1;2"}, apiFile{"photo.jpg", "one"}, apiFile{"photo.jpg", "two"}, apiFile{"evil\u202egpj.exe", "x"}))
		require.Contains(t, first.Text, "✅ Done: file_manager save_attachment")
		require.Equal(t, "1;2", w.Read(t, "saved/api.csv"))
		folders, err := filepath.Glob(w.File("inbound/*/photo-1.jpg"))
		require.NoError(t, err)
		require.Len(t, folders, 1)
		entries, err := os.ReadDir(filepath.Dir(folders[0]))
		require.NoError(t, err)
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		require.Equal(t, []string{"evilgpj.exe", "photo-1.jpg", "photo.jpg", "report.csv"}, names)

		// The conversation goes on: the file of the first message can still be saved.
		later := say(t, w, "/file_manager save_attachment source=photo.jpg disk=local path=saved/photo.jpg", first.Key)
		require.Equal(t, first.Key, later.Key)
		require.Contains(t, later.Text, "✅ Done")
		stranger := say(t, w, "/file_manager save_attachment source=photo.jpg disk=local path=saved/other.jpg", "")
		require.NotEqual(t, first.Key, stranger.Key)
		require.Contains(t, stranger.Text, "Not done", "another conversation's file (G17)")
		require.False(t, w.Exists("saved/other.jpg"))

		out := say(t, w, "/file_manager attach_to_reply disk=local path=saved/api.csv", first.Key)
		require.Len(t, out.Attachments, 1)
		require.Equal(t, "api.csv", out.Attachments[0].Name)
		require.EqualValues(t, 3, out.Attachments[0].Size)
		path, found := strings.CutPrefix(out.Attachments[0].URL, w.URL())
		require.True(t, found, out.Attachments[0].URL)
		for range 2 { // it is not deleted
			got := w.As(harness.Robot).Do(t, http.MethodGet, path, nil)
			require.Equal(t, http.StatusOK, got.Status)
			require.Equal(t, "1;2", string(got.Body))
			require.Equal(t, "attachment; filename=api.csv", got.Header.Get("Content-Disposition"))
		}
		staged, err := filepath.Glob(w.File("outbound/*/api.csv"))
		require.NoError(t, err)
		require.Len(t, staged, 1)
		require.Equal(t, http.StatusUnauthorized, w.As("nobody").Do(t, http.MethodGet, path, nil).Status)
		inbound := "/api/attachments/" + filepath.Base(filepath.Dir(folders[0])) + "/photo.jpg"
		require.Equal(t, http.StatusNotFound, w.As(harness.Ada).Do(t, http.MethodGet, inbound, nil).Status, "only what goes out")
	})

	t.Run("twice under one key of the caller's", func(t *testing.T) {
		t.Parallel()
		body := `{"text":"/file_manager append disk=local path=once.txt content=line;"}`
		var keys []string
		for range 2 {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL()+"/api/message", strings.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Authorization", "Bearer "+harness.Token(harness.Ada))
			request.Header.Set("Idempotency-Key", "order-17")
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			var answer apiAnswer
			require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
			require.NoError(t, response.Body.Close())
			require.Contains(t, answer.Text, "✅ Done: file_manager append")
			keys = append(keys, answer.Key)
		}
		require.Equal(t, keys[0], keys[1])
		require.Equal(t, "line;", w.Read(t, "once.txt"))
	})

	t.Run("problems say what to do", func(t *testing.T) {
		t.Parallel()
		for body, want := range map[string]string{
			`{"text":""}`:                      "neither text nor files",
			`{"text":"a","key":"a\nb"}`:        "key holds characters that cannot be seen",
			`{"text":"a","attachments":["x"]}`: "multipart/form-data",
			`{"txt":"a"}`:                      "known are text, key, attachments",
		} {
			var raw json.RawMessage = []byte(body)
			answer := w.As(harness.Ada).Do(t, http.MethodPost, "/api/message", raw)
			require.Equal(t, http.StatusUnprocessableEntity, answer.Status, body)
			require.Contains(t, answer.Problem(t).Detail, want)
		}
		before, err := filepath.Glob(w.File("inbound/*/kept.csv"))
		require.NoError(t, err)
		require.Empty(t, before)
		refused := post(t, w, "a", " blank first", apiFile{"kept.csv", "1;2"})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		after, err := filepath.Glob(w.File("inbound/*/kept.csv"))
		require.NoError(t, err)
		require.Empty(t, after, "a message that is not taken leaves nothing")
	})
}

// Where nobody can be asked (CONTRACT §2): on the API and, with the same rules, in the terminal.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	speak := map[string]func(t *testing.T, w *harness.World, text string) string{
		"api": func(t *testing.T, w *harness.World, text string) string { return say(t, w, text, "").Text },
		"terminal": func(t *testing.T, w *harness.World, text string) string {
			t.Helper()
			chat := chatting(t, w, text+"\n", "chat", "--stdin")
			require.Equal(t, 0, chat.Code, chat.Stderr)
			return chat.Stdout
		},
	}
	// entry is the audit log's about the one call that was made on a connector.
	entries := func(t *testing.T, w *harness.World, connector string) []harness.Entry {
		t.Helper()
		var found []harness.Entry
		harness.Eventually(t, "the call is listed", func() bool {
			answer := w.API.Do(t, http.MethodGet, "/api/invocations", nil)
			var list struct {
				Invocations []contract.State `json:"invocations"`
			}
			answer.Decode(t, &list)
			for _, state := range list.Invocations {
				if state.Thread.Connector == connector {
					found = w.Audit(t, state.ID)
					return true
				}
			}
			return false
		})
		return found
	}

	t.Run("run", func(t *testing.T) {
		t.Parallel()
		w := harness.New(t, harness.Setup{})
		for connector, speak := range speak {
			w.Write(t, connector+".csv", "x")
			require.Contains(t, speak(t, w, "/file_manager delete disk=local path="+connector+".csv"), "✅ Done: file_manager delete")
			require.False(t, w.Exists(connector+".csv"))
			found := entries(t, w, connector)
			require.Len(t, found, 1)
			require.Equal(t, "unsupported_connector", found[0].Kind)
		}
	})

	t.Run("deny", func(t *testing.T) {
		t.Parallel()
		w := harness.New(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_UNSUPPORTED": "deny"}})
		for connector, speak := range speak {
			w.Write(t, connector+".csv", "x")
			require.Contains(t, speak(t, w, "/file_manager delete disk=local path="+connector+".csv"),
				"Not run: file_manager delete – there is nobody here who could be asked.")
			require.True(t, w.Exists(connector+".csv"))
			state := w.API.Result(t, w.API.Invoke(t, harness.File("delete", connector+".csv").In(connector, "x")))
			require.Equal(t, [3]string{"denied", "PERMISSION_DENIED", "no_approver"}, [3]string{state.Status, state.Code, state.Reason})
		}
	})

	t.Run("route", func(t *testing.T) {
		t.Parallel()
		telegram := newTelegram(t)
		const chat = -501
		w := telegram.world(t, harness.Setup{Env: map[string]string{
			"COUNTERSIGN_UNSUPPORTED": "route", "COUNTERSIGN_APPROVAL_ROUTE": fmt.Sprintf("telegram:%d", chat),
		}})
		for connector, speak := range speak {
			for _, word := range []string{"yes", "not this one"} {
				name := connector + " " + word + ".csv"
				w.Write(t, name, "x")
				answers := make(chan string, 1)
				go func() { answers <- speak(t, w, fmt.Sprintf("/file_manager delete disk=local path=%q", name)) }()
				prompt := telegram.await(t, chat, "⚠️ Delete the file at "+name)
				require.Len(t, prompt.Buttons, 2, "a grant would be for another conversation")
				require.Empty(t, answers, "the caller waits")
				telegram.Say(group(chat), bobThere, word)
				answer := <-answers
				if word == "yes" {
					require.Contains(t, answer, "✅ Done: file_manager delete")
					require.Contains(t, telegram.await(t, chat, prompt.Text+"\n\n✅ Approved by bob").Text, "bob")
				} else {
					require.Contains(t, answer, "Not run: file_manager delete – denied by bob.")
				}
				require.Equal(t, word != "yes", w.Exists(name))
			}
		}
		require.Equal(t, 4, telegram.prompts(chat, "⚠️ Delete the file at "), "each was asked once, and nowhere else")
	})

	t.Run("route to the page", func(t *testing.T) {
		t.Parallel()
		w := harness.New(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_UNSUPPORTED": "route", "COUNTERSIGN_APPROVAL_ROUTE": "web:approvals"}})
		w.Write(t, "page.csv", "x")
		answers := make(chan string, 1)
		go func() { answers <- say(t, w, "/file_manager delete disk=local path=page.csv", "").Text }()
		question := harness.Until(t, "the question is on the page", func() (contract.Approval, bool) {
			pending := append(w.API.Pending(t), contract.Approval{})
			return pending[0], pending[0].ExpiresAt != nil
		})
		require.Equal(t, [2]string{"web", "approvals"}, [2]string{question.Connector, question.ThreadKey})
		require.Equal(t, http.StatusOK, w.As(harness.Bob).Decide(t, question.ID, harness.Say{Decision: "allow"}).Status)
		require.Contains(t, <-answers, "✅ Done: file_manager delete")
		require.False(t, w.Exists("page.csv"))
	})

	for route, detail := range map[string]string{
		"":               "is needed by unsupported: route",
		"telegram":       "is not connector:thread_key",
		"api:1":          "nobody can be asked on api",
		"terminal:x":     "nobody can be asked on terminal",
		"carrier_pigeon": "is not connector:thread_key",
	} {
		t.Run("a route that is none: "+route, func(t *testing.T) {
			t.Parallel()
			env := harness.DevSettings(t)
			env["COUNTERSIGN_UNSUPPORTED"], env["COUNTERSIGN_APPROVAL_ROUTE"] = "route", route
			worker := harness.Dev(t, env)
			require.NotZero(t, worker.Wait(t, time.Minute))
			require.Contains(t, worker.Log(), detail)
			require.Contains(t, worker.Log(), "approval_route")
		})
	}
}
