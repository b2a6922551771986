package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// maxDownload is what Telegram hands out to bots (Bot API, getFile), in bytes.
const maxDownload = 20 << 20

const tooLarge = "larger than 20 MB, Telegram does not hand it out"

// attach stores the files of a message under inbound/{uuid}/ and returns them; for a
// message that comes again, those that it has there already. After it has failed for a
// while it succeeds without them: an update must not come again for ever.
func (c *Connector) attach(ctx context.Context, e event) ([]chat.File, error) {
	past, _ := c.past.find(e.update)
	if past.fetched {
		return past.files, nil
	}
	giveUp := !past.failing.IsZero() && c.now().Sub(past.failing) >= c.timing.patience
	files, err := c.fetch(ctx, e, giveUp)
	if err == nil {
		past.files, past.fetched = files, true
	} else if past.failing.IsZero() {
		past.failing = c.now()
	}
	c.past.set(e.update, past)
	return files, err
}

// fetch is attach without memory. What can never be had becomes a file with a Problem;
// what may be had later is an error, so that Telegram sends the update again; with
// giveUp that is a Problem too.
func (c *Connector) fetch(ctx context.Context, e event, giveUp bool) ([]chat.File, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.download)
	defer cancel()
	uuid := c.names.uuid(e)
	names := map[string]bool{}
	var out []chat.File
	for _, f := range e.message.files {
		// An earlier delivery may have got as far as storing it. An album's folder has
		// files of the same name of other parts; there only memory tells them apart.
		again := e.message.album == "" && !names[f.name]
		names[f.name] = true
		stored, err := c.fetchOne(ctx, uuid, f, again)
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

// fetchOne downloads a file and stores it; with again, only if it is not stored yet.
func (c *Connector) fetchOne(ctx context.Context, uuid string, f remote, again bool) (chat.File, error) {
	problem := func(text string) (chat.File, error) {
		return chat.File{Name: f.name, Size: f.size, Problem: text}, nil
	}
	if f.size > maxDownload {
		return problem(tooLarge)
	}
	if again {
		stored, err := c.files.Saved(ctx, uuid, f.name)
		if err == nil {
			return stored, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return chat.File{}, fmt.Errorf("looking for %.100q: %w", f.name, err)
		}
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
