package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// maxDownload is what Telegram hands out to bots (Bot API, getFile), in bytes.
const maxDownload = 20 << 20

const tooLarge = "larger than 20 MB, Telegram does not hand it out"

// fetch stores files under inbound/{uuid}/. What can never be had becomes a file with a
// Problem; what may be had later is an error, so that Telegram sends the update
// again; with giveUp that is a Problem too.
func (c *Connector) fetch(ctx context.Context, uuid string, files []remote, giveUp bool) ([]chat.File, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.download)
	defer cancel()
	var out []chat.File
	for _, f := range files {
		stored, err := c.fetchOne(ctx, uuid, f)
		switch {
		case err == nil:
		case !giveUp:
			return nil, &fetchError{err}
		default:
			c.log.Warn("telegram file given up", "error", err)
			stored = chat.File{Name: f.name, Size: f.size, Problem: "it could not be taken from Telegram; send it again"}
		}
		out = append(out, stored)
	}
	return out, nil
}

func (c *Connector) fetchOne(ctx context.Context, uuid string, f remote) (chat.File, error) {
	problem := func(text string) (chat.File, error) {
		return chat.File{Name: f.name, Size: f.size, Problem: text}, nil
	}
	if f.size > maxDownload {
		return problem(tooLarge)
	}
	var at struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"`
	}
	if err := c.api.call(ctx, "getFile", params{"file_id": f.id}, &at); err != nil {
		if said := asFailure(err); said != nil && said.code == http.StatusBadRequest {
			if strings.Contains(strings.ToLower(said.description), "too big") {
				return problem(tooLarge)
			}
			return problem("Telegram does not hand it out (" + said.description + ")")
		}
		return chat.File{}, err
	}
	if at.Size > maxDownload {
		return problem(tooLarge)
	}
	response, err := c.api.file(ctx, at.Path)
	if err != nil {
		if said := asFailure(err); said != nil {
			return problem("Telegram does not hand it out (" + said.description + ")")
		}
		return chat.File{}, err
	}
	defer response.Body.Close()
	if isPage(response, f.name) {
		return chat.File{}, &chat.Error{Op: "telegram file download", Temporary: true, Err: errPage}
	}
	body := &download{r: response.Body, want: unframed(response, at.Size)}
	stored, err := c.files.Save(ctx, uuid, f.name, body)
	switch {
	case errors.Is(body.err, errTooLarge):
		return problem(tooLarge)
	case body.err != nil: // the library of the disk may have hidden it, or words it with the URL
		return chat.File{}, c.api.fail("file download", &exchange{}, nil, body.err)
	case err != nil:
		return chat.File{}, fmt.Errorf("storing %.100q: %w", f.name, err)
	}
	return stored, nil
}

// fetchError is a file that could not be had now.
type fetchError struct{ err error }

func (e *fetchError) Error() string { return "taking a file from telegram: " + e.err.Error() }
func (e *fetchError) Unwrap() error { return e.err }

var (
	errPage     = errors.New("an HTML page in place of the file")
	errTooLarge = errors.New("file is " + tooLarge)
)

// isPage tells that a proxy's page came, with status 200, in place of the file.
func isPage(response *http.Response, name string) bool {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	ext := strings.ToLower(path.Ext(name))
	return err == nil && kind == "text/html" && ext != ".html" && ext != ".htm"
}

// unframed returns the size to check the body against where HTTP itself does not
// show its end (no length, not chunked, HTTP/1), else -1.
func unframed(response *http.Response, told int64) int64 {
	if response.ContentLength >= 0 || len(response.TransferEncoding) > 0 || response.ProtoMajor > 1 || told <= 0 {
		return -1
	}
	return told
}

// download reads a body, sees that it is whole and not too large, and remembers how it failed.
type download struct {
	r    io.Reader
	want int64
	n    int64
	err  error
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.n += int64(n)
	switch {
	case d.n > maxDownload:
		d.err = errTooLarge
	case err == io.EOF && d.want >= 0 && d.n < d.want:
		d.err = io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		d.err = err
	}
	if d.err != nil {
		return n, d.err
	}
	return n, err
}
