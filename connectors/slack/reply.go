package slack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// Reply sends the text, then each file, into the thread the message came from. The parts
// are "text" (or "text-1", "text-2" where it is too long for one message) and
// "file:{name}"; a part that progress knows is not sent again. A file that Slack refuses
// for good is named to the person in its place.
func (c *Connector) Reply(ctx context.Context, reply chat.Reply, progress chat.Progress) error {
	at, err := c.replyPlace(ctx, reply)
	if err != nil {
		return err
	}
	send := func(part string, do func() error) error {
		if progress.Done(part) {
			return nil
		}
		if err := do(); err != nil {
			return err
		}
		progress.Mark(part)
		return nil
	}
	parts := characters.Split(reply.Text, maxText)
	for i, text := range parts {
		part := "text"
		if len(parts) > 1 {
			part = "text-" + strconv.Itoa(i+1)
		}
		if err := send(part, func() error { return c.say(ctx, at, text) }); err != nil {
			return err
		}
	}
	names := map[string]int{}
	for _, file := range reply.Files {
		part := "file:" + file.Name
		if names[file.Name]++; names[file.Name] > 1 {
			part += "#" + strconv.Itoa(names[file.Name])
		}
		if err := send(part, func() error { return c.sendFile(ctx, at, file, reply.Language) }); err != nil {
			return err
		}
	}
	return nil
}

// replyPlace is the thread; for direct messages the message that is answered names the
// channel and, if it was written in a thread there, the thread.
func (c *Connector) replyPlace(ctx context.Context, reply chat.Reply) (place, error) {
	channel, _, root, err := parseRef("chat.postMessage", reply.To)
	if err == nil && isDM(channel) && reply.Thread.Connector == chat.Slack && isID(reply.Thread.Key) {
		return place{channel: channel, root: root, user: reply.Thread.Key}, nil
	}
	return c.address(ctx, "chat.postMessage", reply.Thread)
}

// say sends a text that is shown as it is.
func (c *Connector) say(ctx context.Context, at place, text string) error {
	_, err := c.send(ctx, at, slackgo.MsgOptionText(text, true), slackgo.MsgOptionDisableMarkdown())
	return err
}

func (c *Connector) sendFile(ctx context.Context, at place, file chat.File, language string) error {
	say := func(line chat.Line) error { return c.say(ctx, at, words.Say(language, line)) }
	switch {
	case file.Path == "":
		return say(chat.Text(chat.LineFileProblem, "name", file.Name, "problem", file.Problem))
	case file.Size == 0:
		return say(chat.Text(chat.LineFileEmpty, "name", file.Name, "platform", "Slack"))
	}
	content, err := c.files.Open(ctx, file.Path)
	if err != nil {
		return &chat.Error{
			Op: "slack file upload", Temporary: !errors.Is(err, fs.ErrNotExist),
			Err: fmt.Errorf("opening %s: %w", file.Path, err),
		}
	}
	defer content.Close()
	err = c.upload(ctx, at, file.Name, file.Size, content)
	if !refused(err) {
		return err
	}
	c.log.Warn("slack refused a file", "file", file.Path, "size", file.Size, "error", err)
	return say(chat.Text(chat.LineFileRefused, "name", file.Name, "problem", "Slack refuses it ("+asFailure(err).Error()+")"))
}

// unfit are Slack's words for a file, or files as such, that it does not take, as
// opposed to this channel or this app.
var unfit = map[string]bool{
	"file_uploads_disabled": true, "file_uploads_except_images_disabled": true, "file_type_not_allowed": true,
	"file_too_large": true, "invalid_file_type": true, "malware_detected": true, "storage_limit_reached": true,
	"file_upload_size_restricted": true, "slack_connect_file_upload_sharing_blocked": true,
	"slack_connect_blocked_file_type": true, "missing_scope": true,
}

func refused(err error) bool {
	f := asFailure(err)
	return f != nil && (unfit[f.code] || f.status == http.StatusRequestEntityTooLarge)
}
