package telegram

import (
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // for image.DecodeConfig
	_ "image/png"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// Limits of sendPhoto (Bot API).
const (
	maxPhotoBytes = 10 << 20
	maxPhotoSides = 10000 // width and height together
	maxPhotoRatio = 20
)

// Reply sends the text, then each file. The parts are "text" (or "text-1", "text-2"
// where it is too long for one message) and "file:{name}"; a part that progress
// knows is not sent again. A file that Telegram refuses for good is named to the
// person in its place. A group that has become a supergroup since is followed there.
func (c *Connector) Reply(ctx context.Context, reply chat.Reply, progress chat.Progress) error {
	to, err := address("sendMessage", reply.Thread)
	if err != nil {
		return err
	}
	send := func(part string, do func(params) error) error {
		if progress.Done(part) {
			return nil
		}
		p := maps.Clone(to)
		// Only the first part points at the message it answers.
		if _, messageID, err := parseRef("sendMessage", reply.To); reply.To != "" && err == nil {
			p["reply_parameters"] = fmt.Sprintf(`{"message_id":%s,"allow_sending_without_reply":true}`, messageID)
			reply.To = ""
		}
		if err := do(p); err != nil {
			return err
		}
		progress.Mark(part)
		return nil
	}
	for i, text := range units.Split(reply.Text, maxText) {
		part := "text"
		if units.Length(reply.Text) > maxText {
			part = "text-" + strconv.Itoa(i+1)
		}
		if err := send(part, func(p params) error { return c.sendText(ctx, p, text) }); err != nil {
			return err
		}
		reply.To = ""
	}
	names := map[string]int{}
	for _, file := range reply.Files {
		part := "file:" + file.Name
		if names[file.Name]++; names[file.Name] > 1 {
			part += "#" + strconv.Itoa(names[file.Name])
		}
		if err := send(part, func(p params) error { return c.sendFile(ctx, p, file, reply.Language) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *Connector) sendText(ctx context.Context, p params, text string) error {
	p["text"] = text
	p["link_preview_options"] = noPreview
	return c.following(p, func(p params) error {
		_, err := c.sendMessage(ctx, p)
		return err
	})
}

// sendFile sends a file as what it is, as a document where Telegram does not take it as that.
func (c *Connector) sendFile(ctx context.Context, p params, file chat.File, language string) error {
	if file.Path == "" {
		return c.sendText(ctx, p, words.Say(language, chat.Text(chat.LineFileProblem, "name", file.Name, "problem", file.Problem)))
	}
	method, field := c.method(ctx, file)
	err := c.uploadFile(ctx, p, method, field, file)
	if refused(err) && field != "document" {
		err = c.uploadFile(ctx, p, "sendDocument", "document", file)
	}
	if !refused(err) {
		return err
	}
	c.log.Warn("telegram refused a file", "file", file.Path, "size", file.Size, "error", err)
	return c.sendText(ctx, p, words.Say(language, chat.Text(chat.LineFileRefused, "name", file.Name, "problem", why(err))))
}

// refused tells that Telegram does not take this file, as opposed to this chat.
func refused(err error) bool {
	f := asFailure(err)
	return f != nil && (f.code == http.StatusBadRequest || f.code == http.StatusRequestEntityTooLarge) &&
		!strings.Contains(strings.ToLower(f.description), "chat not found")
}

func why(err error) string {
	f := asFailure(err)
	if f.code == http.StatusRequestEntityTooLarge {
		return "it is larger than Telegram takes (50 MB)"
	}
	return "Telegram refuses it (" + f.description + ")"
}

func (c *Connector) uploadFile(ctx context.Context, p params, method, field string, file chat.File) error {
	return c.following(p, func(p params) error {
		content, err := c.files.Open(ctx, file.Path)
		if err != nil {
			return &chat.Error{
				Op: "telegram " + method, Temporary: !errors.Is(err, fs.ErrNotExist),
				Err: fmt.Errorf("opening %s: %w", file.Path, err),
			}
		}
		defer content.Close()
		return c.api.upload(ctx, method, p, field, file.Name, content, nil)
	})
}

// method chooses how a file is shown.
func (c *Connector) method(ctx context.Context, file chat.File) (method, field string) {
	switch strings.ToLower(path.Ext(file.Name)) {
	case ".jpg", ".jpeg", ".png":
		if file.Size <= maxPhotoBytes && c.isPhoto(ctx, file) {
			return "sendPhoto", "photo"
		}
	case ".ogg", ".oga", ".opus":
		return "sendVoice", "voice"
	case ".mp3", ".m4a":
		return "sendAudio", "audio"
	}
	return "sendDocument", "document"
}

// isPhoto reads the head of the file only.
func (c *Connector) isPhoto(ctx context.Context, file chat.File) bool {
	content, err := c.files.Open(ctx, file.Path)
	if err != nil {
		return false
	}
	defer content.Close()
	size, _, err := image.DecodeConfig(io.LimitReader(content, maxPhotoBytes))
	if err != nil {
		return false
	}
	long, short := max(size.Width, size.Height), min(size.Width, size.Height)
	return short > 0 && long+short <= maxPhotoSides && long <= maxPhotoRatio*short
}
