package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"
)

// arrivalTime bounds the wait for a file at its end.
const arrivalTime = 12 * time.Minute

// way is one that a file goes.
type way struct {
	name string
	size int64
	take func(ctx context.Context) error
}

// ways are those of a file of that size, in an order in which each finds what it needs.
func (r *rig) ways(size int64) []way {
	key := "bench-" + rand.Text()
	name := "large-" + rand.Text() + ".bin"
	path := "bench/" + name
	mailed := min(size, mailLimit)
	return []way{
		{"API message → attachments disk", size, func(ctx context.Context) error { return r.upload(ctx, key, name, size) }},
		{"save_attachment: → disk local", size, func(ctx context.Context) error {
			_, err := r.gateway.message(ctx, key, "/file_manager save_attachment source="+name+" disk=local path="+path)
			return errors.Join(err, r.lies(path, size))
		}},
		{"attach_to_reply: → Slack", size, func(ctx context.Context) error { return r.toSlack(ctx, path, size) }},
		{"attach_to_reply: → e-mail", size, func(ctx context.Context) error { return r.toMail(ctx, path, size) }},
		{"e-mail with a file → save_attachment", mailed, func(ctx context.Context) error { return r.fromMail(ctx, "mailed-"+name, mailed) }},
	}
}

// message sends one to the API and wants it done.
func (g *gateway) message(ctx context.Context, key, text string) (string, error) {
	var answer struct {
		Text string `json:"text"`
	}
	err := g.do(ctx, http.MethodPost, "/api/message", map[string]any{"text": text, "key": key}, http.StatusOK, &answer)
	if err == nil && !strings.Contains(answer.Text, "Done") {
		err = fmt.Errorf("%s: %s", text, answer.Text)
	}
	return answer.Text, err
}

// upload streams a file to the API, as a message without text.
func (r *rig) upload(ctx context.Context, key, name string, size int64) error {
	body, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	go func() {
		err := form.WriteField("key", key)
		if err == nil {
			var part io.Writer
			if part, err = form.CreateFormFile("attachments", name); err == nil {
				_, err = io.Copy(part, content(size))
			}
		}
		writer.CloseWithError(errors.Join(err, form.Close()))
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.gateway.base+"/api/message", body) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := r.gateway.http.Do(request) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	var answer struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(said, &answer) // else it is a problem, and shown as it is
	if err == nil && (response.StatusCode != http.StatusOK || !strings.Contains(answer.Text, fmt.Sprintf("(%d bytes)", size))) {
		err = fmt.Errorf("status %d: %s", response.StatusCode, said)
	}
	return err
}

func (r *rig) lies(path string, size int64) error {
	got, err := r.onDisk(path)
	if err != nil {
		return err
	}
	return same(got, size)
}

// toSlack asks in ada's direct messages for the file.
func (r *rig) toSlack(ctx context.Context, path string, size int64) error {
	event := r.slack.Compose(slackDM, slackAda, "/file_manager attach_to_reply disk=local path="+path)
	if status, err := r.gateway.hand(ctx, r.slack, event, 0); err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("the event was answered %d", status))
	}
	got, err := await(ctx, r.slack.taken)
	if err != nil {
		return fmt.Errorf("wait for the upload: %w", errors.Join(err, r.saidOnSlack()))
	}
	return same(got, size)
}

// saidOnSlack tells what the bot has said there, for an error.
func (r *rig) saidOnSlack() error {
	sent := r.slack.Sent(slackDM)
	if len(sent) == 0 {
		return errors.New("the bot has said nothing")
	}
	return errors.New("the bot's last word: " + sent[len(sent)-1].Shown())
}

// toMail asks by mail for the file.
func (r *rig) toMail(ctx context.Context, path string, size int64) error {
	if err := r.mail.arrive("/file_manager attach_to_reply disk=local path="+path, "", nil); err != nil {
		return err
	}
	got, err := await(ctx, r.mail.taken)
	if err != nil {
		return fmt.Errorf("wait for the mail: %w", err)
	}
	return same(got.file, size)
}

// fromMail sends a file by mail, and has it saved.
func (r *rig) fromMail(ctx context.Context, name string, size int64) error {
	path := "bench/" + name
	if err := r.mail.arrive("/file_manager save_attachment source="+name+" disk=local path="+path, name, content(size)); err != nil {
		return err
	}
	if _, err := await(ctx, r.mail.taken); err != nil {
		return fmt.Errorf("wait for the reply by mail: %w", err)
	}
	return r.lies(path, size)
}

func await[T any](ctx context.Context, from <-chan T) (got T, err error) {
	ctx, cancel := context.WithTimeout(ctx, arrivalTime)
	defer cancel()
	select {
	case got = <-from:
		return got, nil
	case <-ctx.Done():
		return got, ctx.Err()
	}
}
