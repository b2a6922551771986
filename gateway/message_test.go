package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.turn = contract.TurnResult{Text: "done", Files: []chat.File{{Name: "a b.csv", Size: 3, Path: "outbound/x/a b.csv"}}}
	answer := b.do(RoleAgent, http.MethodPost, "/api/message", `{"text":"hello"}`)
	require.Equal(t, 200, answer.status)
	message := b.engine.delivered[0]
	require.Equal(t, "hello", message.Text)
	require.Equal(t, chat.API, message.Thread.Connector)
	require.NoError(t, uuid.Validate(message.Thread.Key))
	require.Equal(t, message.UUID, message.EventID)
	require.Equal(t, "robot", message.From.Name)
	require.True(t, message.From.Bot)
	require.Equal(t, b.now, message.ReceivedAt)
	require.Equal(t, map[string]any{
		"success": true, "text": "done", "key": message.Thread.Key,
		"attachments": []any{map[string]any{
			"name": "a b.csv", "size": 3.0, "url": b.server.URL + "/api/attachments/" + message.UUID + "/a%20b.csv",
		}},
	}, answer.body)

	again := b.do(RoleOwner, http.MethodPost, "/api/message", `{"text":"more","key":"`+message.Thread.Key+`"}`)
	require.Equal(t, message.Thread.Key, again.body["key"])
	require.Equal(t, message.Thread.Key, b.engine.delivered[1].Thread.Key)
	require.True(t, b.engine.delivered[1].From.Owner)
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	send := func(role, key string) {
		require.Equal(t, 200, b.do(role, http.MethodPost, "/api/message", `{"text":"hello"}`, "Idempotency-Key", key).status)
	}
	send(RoleOwner, "1")
	send(RoleOwner, "1")
	send(RoleOwner, "2")
	send(RoleAgent, "1")
	got := b.engine.delivered
	require.Equal(t, got[0].EventID, got[1].EventID)
	require.Equal(t, got[0].UUID, got[1].UUID)
	require.Equal(t, got[0].Thread, got[1].Thread)
	require.NotEqual(t, got[0].UUID, got[0].Thread.Key)
	require.NotEqual(t, got[0].EventID, got[2].EventID)
	require.NotEqual(t, got[0].EventID, got[3].EventID, "keys of two senders never meet")
}

func TestMultipartMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, name := range []string{"photo.jpg", "../../etc/passwd"} {
		part, err := form.CreateFormFile("attachments", name)
		require.NoError(t, err)
		_, err = part.Write([]byte(strings.Repeat("x", 100_000)))
		require.NoError(t, err)
	}
	require.NoError(t, form.WriteField("text", "two files"))
	require.NoError(t, form.WriteField("key", "thread-1"))
	require.NoError(t, form.Close())
	answer := b.do(RoleOwner, http.MethodPost, "/api/message", body.String(), "Content-Type", form.FormDataContentType())
	require.Equal(t, 200, answer.status)
	message := b.engine.delivered[0]
	require.Equal(t, "two files", message.Text)
	require.Equal(t, "thread-1", message.Thread.Key)
	require.Len(t, message.Files, 2)
	require.EqualValues(t, 100_000, message.Files[0].Size)
	require.Contains(t, b.disk.files, "inbound/"+message.UUID+"/photo.jpg")
	require.NotContains(t, message.Files[1].Path, "..")
}

func TestMultipartTooLargeOrCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *Params) { p.MaxUpload = 10_000 })
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("attachments", "big.bin")
	require.NoError(t, err)
	_, err = part.Write(make([]byte, 20_000))
	require.NoError(t, err)
	require.NoError(t, form.Close())
	kind := form.FormDataContentType()
	require.Equal(t, 413, b.do(RoleOwner, http.MethodPost, "/api/message", body.String(), "Content-Type", kind).status)
	require.Equal(t, 400, b.do(RoleOwner, http.MethodPost, "/api/message", body.String()[:5000], "Content-Type", kind).status)
	require.Empty(t, b.engine.delivered)
}

func TestBadMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, status := range map[string]int{
		``:                                 422,
		`{"text":" "}`:                     422,
		`{"text":"a","file":"b"}`:          422,
		`{"text":"a","attachments":["b"]}`: 422,
		`{"text":"a","text":"b"}`:          422,
		`{"Text":"a"}`:                     422,
		`{"text":1}`:                       422,
		`["text"]`:                         422,
		`{"text":"a"`:                      400,
		`text`:                             400,
		"{\"text\":\"\xff\"}":              400,
		`{"text":"a","key":"a\u0000b"}`:    422,
		`{"text":"a","key":" k"}`:          422,
		`{"text":"` + strings.Repeat("a", 70_000) + `"}`:     413,
		`{"text":"` + strings.Repeat("a", maxJSON+10) + `"}`: 413,
	} {
		answer := b.do(RoleOwner, http.MethodPost, "/api/message", body)
		require.Equal(t, status, answer.status, "%.60s: %s", body, answer.raw)
	}
	require.Equal(t, 400, b.do(RoleOwner, http.MethodPost, "/api/message", "text=a", "Content-Type", "text/plain").status)
	require.Empty(t, b.engine.delivered)
}

func TestMessageWhileTemporalIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.err = fmt.Errorf("signal: %w", chat.ErrUnreachable)
	answer := b.do(RoleOwner, http.MethodPost, "/api/message", `{"text":"a"}`)
	require.Equal(t, 503, answer.status)
	require.NotEmpty(t, answer.header.Get("Retry-After"))
	b.engine.err = errors.New("dial tcp 10.0.0.7: token cs_secret refused")
	answer = b.do(RoleOwner, http.MethodPost, "/api/message", `{"text":"a"}`)
	require.Equal(t, 500, answer.status)
	require.NotContains(t, answer.raw, "cs_secret")
}

func TestSlowTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *Params) { p.TurnTimeout = 10 * time.Millisecond })
	b.engine.blocks = true
	require.Equal(t, 504, b.do(RoleOwner, http.MethodPost, "/api/message", `{"text":"a"}`).status)
	require.Len(t, b.engine.delivered, 1)
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *Params) { p.RateLimit = 2 })
	for range 2 {
		require.Equal(t, 200, b.do(RoleOwner, http.MethodPost, "/api/message", `{"text":"a"}`).status)
	}
	answer := b.do(RoleOwner, http.MethodPost, "/api/message", `{"text":"a"}`)
	require.Equal(t, 429, answer.status)
	require.Equal(t, "31", answer.header.Get("Retry-After"))
	require.Equal(t, 200, b.do(RoleAgent, http.MethodPost, "/api/message", `{"text":"a"}`).status, "each token has its own")
	require.Equal(t, 202, b.do(RoleOwner, http.MethodPost, "/api/invocations", `{"tool":"a","operation":"b"}`).status, "messages only")
	b.now = b.now.Add(30 * time.Second)
	require.Equal(t, 200, b.do(RoleOwner, http.MethodPost, "/api/message", `{"text":"a"}`).status)
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.turn = contract.TurnResult{Text: "here", Files: []chat.File{{Name: "a.csv", Size: 3}}}
	for _, role := range []string{RoleAgent, RoleApprover} {
		require.Equal(t, 403, b.do(role, http.MethodPost, "/api/terminal/messages", `{"user":"ada","text":"hi"}`).status)
	}
	require.Equal(t, 422, b.do(RoleOwner, http.MethodPost, "/api/terminal/messages", `{"text":"hi"}`).status)
	require.Equal(t, 422, b.do(RoleOwner, http.MethodPost, "/api/terminal/messages", `{"user":"ada","text":"\n"}`).status)
	answer := b.do(RoleOwner, http.MethodPost, "/api/terminal/messages", `{"user":"ada","text":"hi"}`)
	require.Equal(t, 200, answer.status)
	message := b.engine.delivered[0]
	require.Equal(t, chat.Thread{Connector: chat.Terminal, Key: "terminal:ada"}, message.Thread)
	path := "/api/terminal/files/" + message.UUID
	require.Contains(t, answer.raw, path+"/a.csv")

	b.disk.files["terminal/"+message.UUID+"/a.csv"] = "1;2"
	require.Equal(t, 403, b.do(RoleAgent, http.MethodGet, path+"/a.csv", "").status)
	require.Equal(t, "1;2", b.do(RoleOwner, http.MethodGet, path+"/a.csv", "").raw)
	require.Equal(t, 204, b.do(RoleOwner, http.MethodDelete, path, "").status)
	require.Equal(t, 404, b.do(RoleOwner, http.MethodGet, path+"/a.csv", "").status)
}

func TestAttachment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.disk.files["outbound/u1/Bericht für ✓.html"] = "<script>alert(1)</script>"
	b.disk.files["inbound/u1/secret.txt"] = "secret"
	answer := b.do(RoleAgent, http.MethodGet, "/api/attachments/u1/Bericht%20f%C3%BCr%20%E2%9C%93.html", "")
	require.Equal(t, 200, answer.status)
	require.Equal(t, "<script>alert(1)</script>", answer.raw)
	require.Equal(t, "application/octet-stream", answer.header.Get("Content-Type"))
	require.Equal(t, "nosniff", answer.header.Get("X-Content-Type-Options"))
	require.Equal(t, "attachment; filename*=utf-8''Bericht%20f%C3%BCr%20%E2%9C%93.html", answer.header.Get("Content-Disposition"))
	for _, path := range []string{"u1/secret.txt", "..%2Finbound%2Fu1/secret.txt", "u1/..%2F..%2Finbound%2Fu1%2Fsecret.txt", "u1/none"} {
		require.Equal(t, 404, b.do(RoleOwner, http.MethodGet, "/api/attachments/"+path, "").status, path)
	}
}

// A body that comes slowly does not move the time of arrival, and the wait for an answer
// is not cut by the deadline for the body.
func TestReceivedWhenTheHeadersArrived(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.engine.verdict = chat.Verdict{Standing: chat.StandingKept}
	arrived := make(chan struct{})
	first := b.now
	b.server.Config.Handler = notify(b.server.Config.Handler, arrived)
	connection, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(t, err)
	defer connection.Close()
	body := `{"decision":"allow"}`
	_, err = fmt.Fprintf(connection, "POST /api/approvals/1/decision HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer owner-token\r\nContent-Length: %d\r\n\r\n", len(body))
	require.NoError(t, err)
	<-arrived
	b.now = first.Add(time.Hour)
	arrived <- struct{}{}
	_, err = connection.Write([]byte(body))
	require.NoError(t, err)
	answer := make([]byte, 12)
	_, err = connection.Read(answer)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 202", string(answer))
	require.Equal(t, first, b.engine.answers[0].ReceivedAt)
}

// notify tells that a handler reads its body, and holds the read until it is told to go on.
func notify(next http.Handler, arrived chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := r.Body
		r.Body = &gate{readCloser: body, arrived: arrived}
		next.ServeHTTP(w, r)
	})
}

type gate struct {
	readCloser
	arrived chan struct{}
	open    bool
}

func (g *gate) Read(p []byte) (int, error) {
	if !g.open {
		g.open = true
		g.arrived <- struct{}{}
		<-g.arrived
	}
	return g.readCloser.Read(p)
}

type readCloser interface {
	Read([]byte) (int, error)
	Close() error
}
