package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"sync"

	slackgo "github.com/slack-go/slack"
)

// upload streams a file of that size, in bytes, and shows it in a place: Slack's
// external upload flow (files.getUploadURLExternal). The three steps are one part of a
// reply; a file that was uploaded but not shown is seen by nobody, and Slack drops it.
func (c *Connector) upload(ctx context.Context, at place, name string, size int64, content io.Reader) error {
	if known := c.dms.channel(at.user); known != "" {
		at.channel = known
	}
	var to *slackgo.GetUploadURLExternalResponse
	const first = "files.getUploadURLExternal"
	err := c.api.call(ctx, first, func(ctx context.Context, client *slackgo.Client) (err error) {
		to, err = client.GetUploadURLExternalContext(ctx, slackgo.GetUploadURLExternalParameters{FileName: name, FileSize: int(size)})
		if err == nil && (to.UploadURL == "" || to.FileID == "") {
			err = errors.New("the answer names no upload address")
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := c.api.push(ctx, to.UploadURL, name, size, content); err != nil {
		return err
	}
	return c.api.call(ctx, "files.completeUploadExternal", func(ctx context.Context, client *slackgo.Client) error {
		_, err := client.CompleteUploadExternalContext(ctx, slackgo.CompleteUploadExternalParameters{
			Files:   []slackgo.FileSummary{{ID: to.FileID, Title: name}},
			Channel: at.channel, ThreadTimestamp: at.root,
		})
		return err
	})
}

// push posts the bytes to an upload address. The address is a key of its own: the token
// stays here. The library's way sends it along, and does not tell the length.
func (a *api) push(ctx context.Context, address, name string, size int64, content io.Reader) error {
	const op = "file upload"
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	var frame bytes.Buffer
	form := multipart.NewWriter(&frame)
	if _, err := form.CreateFormFile("file", name); err != nil {
		return a.fail(op, &exchange{}, err)
	}
	start := frame.Len()
	if err := form.Close(); err != nil {
		return a.fail(op, &exchange{}, err)
	}
	whole := frame.Bytes()
	source := &exact{r: content, left: size}
	defer source.shut()
	body := io.MultiReader(bytes.NewReader(whole[:start]), source, bytes.NewReader(whole[start:]))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err != nil {
		return a.fail(op, &exchange{}, errors.New("the upload address is no address"))
	}
	request.ContentLength = size + int64(len(whole))
	request.Header.Set("Content-Type", form.FormDataContentType())
	seen := &exchange{client: a.http}
	response, err := seen.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return a.fail(op, seen, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return a.fail(op, seen, errors.New("not taken"))
	}
	// Slack answers "OK - 1234"; a page means that something else answered.
	answer, err := io.ReadAll(response.Body)
	if err == nil && isPage(response.Header.Get("Content-Type")) {
		err = errors.New("a page of HTML in place of an answer")
	}
	if err != nil {
		return a.fail(op, &exchange{}, fmt.Errorf("%d bytes of answer: %w", len(answer), err))
	}
	return nil
}

// exact reads as many bytes as were announced; a file that has changed since is an
// error. It can be shut: net/http may read on for a moment after a call has ended, while
// the caller closes the file.
type exact struct {
	mu     sync.Mutex
	r      io.Reader
	left   int64
	closed bool
}

var errOtherSize = errors.New("the file has not the size it was said to have")

func (e *exact) Read(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return 0, io.ErrClosedPipe
	case e.left == 0:
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	if e.left -= int64(n); err == io.EOF && e.left > 0 {
		err = errOtherSize
	}
	return n, err
}

// shut returns when nobody reads any more.
func (e *exact) shut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}
