package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// form writes a multipart body: a name with a dot is a file in the field attachments, others
// are fields.
func form(t *testing.T, parts ...[2]string) (body, kind string) {
	t.Helper()
	var written bytes.Buffer
	writer := multipart.NewWriter(&written)
	for _, p := range parts {
		create := writer.CreateFormField
		if strings.Contains(p[0], ".") {
			create = func(name string) (io.Writer, error) { return writer.CreateFormFile("attachments", name) }
		}
		part, err := create(p[0])
		require.NoError(t, err)
		_, err = io.WriteString(part, p[1])
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	return written.String(), writer.FormDataContentType()
}

// A message that is not taken leaves no file, whichever part was wrong.
func TestRefusedUploadsLeaveNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *Params) { p.MaxUpload = 100_000 })
	file := [2]string{"a.csv", "1;2"}
	for name, c := range map[string]struct {
		parts  [][2]string
		cut    int
		status int
		detail string
	}{
		"an unknown field after a file": {[][2]string{file, {"file", "x"}}, 0, 422, "known are text, key, attachments"},
		"a key that is none":            {[][2]string{file, {"key", "a\x00b"}}, 0, 422, "key holds characters that cannot be seen"},
		"a key that is too long":        {[][2]string{file, {"key", strings.Repeat("k", maxID+1)}}, 0, 413, "longer"},
		"two texts":                     {[][2]string{file, {"text", "yes"}, {"text", "no"}}, 0, 422, `the field "text" is there twice`},
		"a text that is none":           {[][2]string{file, {"text", "\xff"}}, 0, 422, "not UTF-8"},
		"a text that is too long":       {[][2]string{file, {"text", strings.Repeat("a", maxText+1)}}, 0, 413, "send it as a file"},
		"a second file that is cut":     {[][2]string{file, {"b.csv", strings.Repeat("x", 50_000)}}, 20_000, 400, "ended before its end"},
		"a second file too large":       {[][2]string{file, {"b.csv", strings.Repeat("x", 200_000)}}, 0, 413, "larger than 100000 bytes"},
	} {
		body, kind := form(t, c.parts...)
		if c.cut > 0 {
			body = body[:c.cut]
		}
		answer := b.do(RoleOwner, http.MethodPost, "/api/message", body, "Content-Type", kind)
		require.Equal(t, c.status, answer.status, "%s: %s", name, answer.raw)
		require.Contains(t, answer.body["detail"], c.detail, name)
		require.Empty(t, b.disk.files, name)
	}
	require.Empty(t, b.engine.delivered)
}

// A client that goes away in the middle of its second file leaves neither.
func TestClientGoneMidUpload(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body, kind := form(t, [2]string{"a.csv", "1;2"}, [2]string{"b.csv", strings.Repeat("x", 50_000)})
	connection, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(t, err)
	_, err = fmt.Fprintf(connection, "POST /api/message HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer owner-token\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		kind, len(body), body[:30_000])
	require.NoError(t, err)
	require.Eventually(t, func() bool { return b.stored() == 1 }, 10*time.Second, time.Millisecond, "the first file is there")
	require.NoError(t, connection.Close())
	require.Eventually(t, func() bool { return b.stored() == 0 }, 10*time.Second, time.Millisecond, "and gone with the client")
	require.Empty(t, b.engine.delivered)
}

// A client that is refused, and never sends the rest of its body, holds its connection for a moment only.
func TestRefusedClientStalls(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body, kind := form(t, [2]string{"nonsense", "x"}, [2]string{"b.csv", strings.Repeat("x", 50_000)})
	connection, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(t, err)
	defer connection.Close()
	require.NoError(t, connection.SetDeadline(time.Now().Add(6*drainTime)))
	_, err = fmt.Fprintf(connection, "POST /api/message HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer owner-token\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		kind, len(body), body[:10_000])
	require.NoError(t, err)
	require.Equal(t, 422, statusOf(t, connection), "answered without the rest of the body")

	stranger, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(t, err)
	defer stranger.Close()
	require.NoError(t, stranger.SetDeadline(time.Now().Add(6*drainTime)))
	_, err = fmt.Fprint(stranger, "POST /api/invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
	require.NoError(t, err)
	require.Equal(t, 401, statusOf(t, stranger))
}

func statusOf(t *testing.T, connection net.Conn) int {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func (b *bench) stored() int {
	b.disk.mu.Lock()
	defer b.disk.mu.Unlock()
	return len(b.disk.files)
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for kind, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "application/problem+json": 200,
		"application/x-www-form-urlencoded": 200, // curl -d
		"multipart/mixed; boundary=x":       415, "application/xml": 415, "image/png": 415, "nonsense;": 415,
		"multipart/form-data": 400, // no boundary
	} {
		answer := b.do(RoleOwner, http.MethodPost, "/api/message", `{"text":"a"}`, "Content-Type", kind)
		require.Equal(t, status, answer.status, "%s: %s", kind, answer.raw)
	}
	answer := b.do(RoleOwner, http.MethodPost, "/api/message", `text=hello`, "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, 400, answer.status)
	require.Contains(t, answer.body["detail"], `send an object such as {"text":"…"}, or multipart/form-data`)
}

// Outgoing files are for tokens only, and come as what is to be saved.
func TestAttachmentHeaders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.disk.files["outbound/u1/a\"b\r\nX-Evil: 1.html"] = "x"
	path := "/api/attachments/u1/a%22b%0D%0AX-Evil:%201.html"
	require.Equal(t, 401, b.do("", http.MethodGet, path, "").status)
	require.Equal(t, 401, b.do("stranger", http.MethodGet, path, "").status)
	for _, role := range []string{RoleOwner, RoleApprover, RoleAgent} {
		answer := b.do(role, http.MethodGet, path, "")
		require.Equal(t, 200, answer.status)
		require.Equal(t, "attachment; filename*=utf-8''a%22b%0D%0AX-Evil%3A%201.html", answer.header.Get("Content-Disposition"))
		require.Empty(t, answer.header.Get("X-Evil"))
		require.Equal(t, "1", answer.header.Get("Content-Length"))
		require.Equal(t, "nosniff", answer.header.Get("X-Content-Type-Options"))
		require.Equal(t, "sandbox; default-src 'none'", answer.header.Get("Content-Security-Policy"))
		require.Equal(t, "private, no-store", answer.header.Get("Cache-Control"))
	}
}

// A file whose reading fails in the middle is cut off, so that nobody takes half of it for all.
func TestAttachmentCut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.disk.files["outbound/u1/a.bin"] = "half"
	b.disk.size = 8
	connection, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(t, err)
	defer connection.Close()
	_, err = fmt.Fprint(connection, "GET /api/attachments/u1/a.bin HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer owner-token\r\n\r\n")
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
