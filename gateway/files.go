package gateway

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"strconv"
)

// showAttachment serves a file that lies in outbound/{uuid}/, and nothing else.
func (g *gateway) showAttachment(w http.ResponseWriter, r *http.Request) {
	uuid, name := pathValue(r, "uuid"), pathValue(r, "name")
	content, size, err := g.Attachments.Open(r.Context(), uuid, name)
	g.sendFile(w, r, name, content, size, err)
}

func noSuchFile(w http.ResponseWriter) {
	fail(w, http.StatusNotFound, "there is no such file; only outgoing files are served, until they are cleared")
}

func (g *gateway) sendFile(w http.ResponseWriter, r *http.Request, name string, content io.ReadCloser, size int64, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		noSuchFile(w)
		return
	}
	if err != nil {
		g.failed(w, r, err)
		return
	}
	if err := SendFile(w, name, content, size); err != nil {
		g.Logger.WarnContext(r.Context(), "an outgoing file was not sent whole", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler) // cut the connection: the client must not take half a file for all of it
	}
}

// SendFile sends a file to be saved, never to be shown: its content is nobody's we trust.
// It closes content.
func SendFile(w http.ResponseWriter, name string, content io.ReadCloser, size int64) error {
	defer content.Close()
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	header.Set("Content-Length", strconv.FormatInt(size, 10))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("Cache-Control", "private, no-store")
	if _, err := io.Copy(w, content); err != nil {
		return fmt.Errorf("send a file: %w", err)
	}
	return nil
}
